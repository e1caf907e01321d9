"""Container images are pulled, one container after the other."""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import (
    GO_DURATION,
    Edge,
    Rule,
    waiting_container,
)
from spanwise_server.domain.spans import Operation

_PULL, _BACKOFF = Operation.IMAGE_PULL, Operation.IMAGE_PULL_BACKOFF
_START = Operation.CONTAINER_START
_BEGINS, _ENDS = Edge.BEGINS, Edge.ENDS
_INFO, _WARNING, _ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR

_MANAGER = "kubernetes v1.30 pkg/kubelet/images/image_manager.go"
_FLYTE = "flyteplugins v1.16 go/tasks/pluginmachinery/flytek8s/pod_helper.go"
_FAILED = r'failed to pull image "[^"]{1,1000}": |' + waiting_container("errimagepull")
"""How the kubelet's event and Flyte's reason begin when a pull failed."""


def _failed(name: str, cause: str, *examples: str) -> Rule:
    """Give the rule of one cause of a pull that failed. The kubelet waits before the next one."""
    return Rule(
        f"kubernetes/image-{name}",
        _BACKOFF,
        _BEGINS,
        _ERROR,
        "pull",
        _FAILED,
        f"{_MANAGER}, which quotes the container runtime; {_FLYTE}",
        examples,
        cause=cause,
    )


IMAGE_RULES = (
    Rule(
        "kubernetes/image-pulling",
        _PULL,
        _BEGINS,
        _INFO,
        'pulling image "',
        r'pulling image "[^"]{1,1000}"$',
        _MANAGER,
        ('Pulling image "cr.example.com/pipelines:v1.4.2"',),
    ),
    Rule(
        "kubernetes/image-pulled",
        _PULL,
        _ENDS,
        _INFO,
        "successfully pulled image",
        r'successfully pulled image "[^"]{1,1000}"'
        rf"(?: in (?P<duration>{GO_DURATION}))?"
        rf"(?: \((?P<with_waiting>{GO_DURATION}) including waiting\))?"
        r"(?:\. image size: (?P<size>[0-9.]{1,30}) ?(?P<unit>[a-z]{1,5}))?",
        f"{_MANAGER}; v1.20 and v1.28 without the later parts",
        (
            (
                'Successfully pulled image "cr.example.com/cuda:v1" in 3m10.5s (3m12s including '
                "waiting). Image size: 9812345678 bytes."
            ),
            'Successfully pulled image "busybox" in 1.052s (1.052s including waiting)',
            'Successfully pulled image "busybox" in 812.1ms',
            'Successfully pulled image "busybox"',
        ),
        then=_START,
    ),
    Rule(
        "kubernetes/image-present",
        _START,
        _BEGINS,
        _INFO,
        "already present on machine",
        r'container image "[^"]{1,1000}" already present on machine',
        _MANAGER,
        (
            'Container image "cr.example.com/pipelines:v1.4.2" already present on machine',
            (
                'Container image "busybox:1.36" already present on machine and can be accessed '
                "by the pod"
            ),
        ),
    ),
    _failed(
        "rate-limited",
        "toomanyrequests|429 too many requests|pull qps exceeded",
        'Failed to pull image "postgres:13": failed to copy: httpReadSeeker: failed open: '
        "unexpected status code: 429 Too Many Requests - Server message: toomanyrequests: You "
        "have reached your pull rate limit.",
        'Failed to pull image "busybox": pull QPS exceeded',
    ),
    _failed(
        "unauthorized",
        r"unauthorized|authentication required|authorization failed|access denied|403 forbidden"
        r"|no basic auth credentials",
        'Failed to pull image "cr.example.com/private:v1": rpc error: code = Unknown desc = '
        "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized",
        'Failed to pull image "private": rpc error: code = Unknown desc = Error response from '
        "daemon: pull access denied for private, repository does not exist or may require login",
    ),
    _failed(
        "not-found",
        "not found|manifest unknown|does not exist",
        'Failed to pull image "cr.example.com/pipelines:v9": rpc error: code = NotFound desc = '
        'failed to resolve reference "cr.example.com/pipelines:v9": not found',
        "[ContainersNotReady|ErrImagePull]: containers with unready status: [primary]|rpc error: "
        "code = Unknown desc = manifest unknown: manifest unknown",
    ),
    _failed(
        "timeout",
        "i/o timeout|deadline exceeded|handshake timeout|timed out|timeout exceeded",
        'Failed to pull image "cr.example.com/pipelines:v1": rpc error: code = Unknown desc = '
        "dial tcp 140.82.121.34:443: i/o timeout",
    ),
    _failed(
        "registry-unreachable",
        "no such host|connection refused|connection reset|registry is unavailable|name resolution"
        "|network is unreachable",
        'Failed to pull image "registry.internal/a:1": rpc error: code = Unknown desc = dial tcp: '
        "lookup registry.internal on 10.0.0.10:53: no such host",
    ),
    _failed(
        "disk-full",
        "no space left on device",
        'Failed to pull image "cr.example.com/cuda:v1": failed to register layer: write '
        "/usr/lib/libcudnn.so: no space left on device",
    ),
    _failed(
        "pull-failed",
        "",
        'Failed to pull image "cr.example.com/pipelines:v1": rpc error: code = Unavailable desc = '
        "error reading from server: EOF",
        "[ContainersNotReady|ErrImagePull]: containers with unready status: [primary]|",
    ),
    Rule(
        "kubernetes/image-pull-error",
        _BACKOFF,
        _BEGINS,
        _ERROR,
        "error: ",
        "error: (?:errimagepull|errimageneverpull|invalidimagename|imageinspecterror"
        "|registryunavailable|signaturevalidationfailed)$",
        "kubernetes v1.30 pkg/kubelet/images/types.go",
        (
            "Error: ErrImagePull",
            "Error: ErrImageNeverPull",
            "Error: InvalidImageName",
            "Error: ImageInspectError",
        ),
    ),
    Rule(
        "kubernetes/image-pull-backoff",
        _BACKOFF,
        _BEGINS,
        _WARNING,
        "pull",
        r'back-off pulling image "|error: imagepullbackoff$|'
        + waiting_container("imagepullbackoff"),
        f"{_MANAGER}; {_FLYTE}",
        (
            'Back-off pulling image "cr.example.com/pipelines:v9"',
            'Back-off pulling image "busybox:v9": ErrImagePull: not found',
            "Error: ImagePullBackOff",
            (
                "[ContainersNotReady|ImagePullBackOff]: containers with unready status: [primary]|"
                'Back-off pulling image "cr.example.com/pipelines:v9"'
            ),
        ),
    ),
    Rule(
        "kubernetes/image-never-pulled",
        _BACKOFF,
        _BEGINS,
        _ERROR,
        "never",
        r'container image "[^"]{1,1000}" is not present with pull policy of never$|'
        + waiting_container("errimageneverpull"),
        _MANAGER,
        ('Container image "local:dev" is not present with pull policy of Never',),
    ),
    Rule(
        "kubernetes/image-name-invalid",
        _BACKOFF,
        _BEGINS,
        _ERROR,
        "image",
        r'failed to apply default image tag "[^"]{0,1000}": couldn\'t parse image '
        r'|failed to inspect image "[^"]{0,1000}": rpc error: |'
        + waiting_container("invalidimagename|imageinspecterror"),
        _MANAGER,
        (
            'Failed to apply default image tag "Example/a": couldn\'t parse image reference',
            'Failed to inspect image "busybox": rpc error: code = Unknown',
        ),
    ),
    Rule(
        "kubernetes/image-refused",
        _BACKOFF,
        _BEGINS,
        _ERROR,
        "image pull failed for ",
        r"image pull failed for \S{1,1000} because the "
        r"(?:registry is unavailable|signature validation failed)",
        _MANAGER,
        ("image pull failed for registry.internal/a:1 because the registry is unavailable",),
    ),
)
