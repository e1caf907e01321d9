"""Containers are created and started, answer to probes, or crash."""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import (
    GO_DURATION,
    Edge,
    Rule,
    waiting_container,
)
from spanwise_server.domain.spans import Operation

_START, _CRASH = Operation.CONTAINER_START, Operation.CRASH_BACKOFF
_BEGINS, _GOES_ON, _ENDS = Edge.BEGINS, Edge.GOES_ON, Edge.ENDS
_INFO, _WARNING, _ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR

_RUNTIME = "kubernetes v1.30 pkg/kubelet/kuberuntime"
_CONTAINER = f"{_RUNTIME}/kuberuntime_container.go"
_MANAGER = f"{_RUNTIME}/kuberuntime_manager.go"
_PROBER = "kubernetes v1.30 pkg/kubelet/prober/prober.go"
_FLYTE = "flyteplugins v1.16 go/tasks/pluginmachinery/flytek8s/pod_helper.go"

CONTAINER_RULES = (
    # The kubelet's state before it has begun any container: volumes, image and creation are still
    # to come, so INITIALIZING is all that it says.
    Rule(
        "flyte/container-creating",
        Operation.INITIALIZING,
        _GOES_ON,
        _INFO,
        "|containercreating]",
        waiting_container("containercreating"),
        _FLYTE,
        ("[ContainersNotReady|ContainerCreating]: containers with unready status: [primary]|",),
    ),
    Rule(
        "flyte/pod-initializing",
        Operation.INITIALIZING,
        _GOES_ON,
        _INFO,
        "|podinitializing]",
        waiting_container("podinitializing"),
        _FLYTE,
        ("[ContainersNotReady|PodInitializing]: containers with unready status: [primary]|",),
    ),
    Rule(
        "kubernetes/container-created",
        _START,
        _BEGINS,
        _INFO,
        "created",
        r"(?:created container:? [a-z0-9-]{1,63}|container created)$",
        f"{_CONTAINER}; later versions turn the words round",
        ("Created container primary", "Created container: primary", "Container created"),
    ),
    Rule(
        "kubernetes/container-started",
        _START,
        _ENDS,
        _INFO,
        "started",
        r"(?:started container:? [a-z0-9-]{1,63}|container started)$",
        f"{_CONTAINER}; later versions turn the words round",
        ("Started container primary", "Container started"),
    ),
    Rule(
        "kubernetes/container-config-error",
        _START,
        _BEGINS,
        _ERROR,
        "|createcontainerconfigerror]",
        waiting_container("createcontainerconfigerror"),
        f"{_CONTAINER}; {_FLYTE}",
        (
            (
                "[ContainersNotReady|CreateContainerConfigError]: containers with unready status: "
                '[primary]|secret "db-password" not found'
            ),
        ),
    ),
    Rule(
        "kubernetes/container-config-missing",
        _START,
        _BEGINS,
        _ERROR,
        "error: ",
        r'error: (?:(?:secret|configmap) "[^"]{1,253}" not found$'
        r"|couldn't find key \S{1,253} in (?:secret|configmap) \S{1,600}$)",
        f"{_CONTAINER}, pkg/kubelet/kubelet_pods.go",
        (
            'Error: secret "db-password" not found',
            "Error: couldn't find key database_url in ConfigMap orders/orders-config",
        ),
    ),
    Rule(
        "kubernetes/container-create-error",
        _START,
        _BEGINS,
        _ERROR,
        "error",
        waiting_container("createcontainererror|runcontainererror|createpodsandboxerror")
        + r"|error: (?:failed to (?:create (?:containerd|shim) task: |create containerd container: "
        r'|start container "|reserve container name "|generate container "[^"]{1,253}" spec: '
        r"|generate (?:container )?spec: |get container spec opts: )"
        r'|container create failed: time="|context deadline exceeded$)',
        f"{_CONTAINER}, which quotes the container runtime; {_FLYTE}",
        (
            (
                "[ContainersNotReady|CreateContainerError]: containers with unready status: "
                '[primary]|failed to reserve container name "primary": name is reserved'
            ),
            (
                "Error: failed to create containerd task: failed to create shim task: OCI runtime "
                "create failed"
            ),
            (
                'Error: failed to start container "primary": Error response from daemon: OCI '
                "runtime create failed"
            ),
            (
                'Error: container create failed: time="2026-01-15T08:31:24Z" level=error msg="runc '
                'create failed: unable to start container process"'
            ),
            "Error: context deadline exceeded",
        ),
    ),
    Rule(
        "kubernetes/sandbox-failed",
        _START,
        _BEGINS,
        _WARNING,
        "sandbox",
        r"failed (?:to )?create pod sandbox: \S|pod sandbox changed, it will be killed and re-",
        _MANAGER,
        (
            (
                "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup "
                'network for sandbox "82c5": plugin type="flannel" failed (add)'
            ),
            "Pod sandbox changed, it will be killed and re-created.",
        ),
    ),
    Rule(
        "kubernetes/network-not-ready",
        _START,
        _BEGINS,
        _WARNING,
        "network is not ready",
        r"network is not ready: (?:container )?runtime network not ready: ",
        "kubernetes v1.30 pkg/kubelet/kubelet.go, pkg/kubelet/errors.go",
        (
            (
                "network is not ready: container runtime network not ready: NetworkReady=false "
                "reason:NetworkPluginNotReady"
            ),
        ),
    ),
    Rule(
        "kubernetes/crash-loop",
        _CRASH,
        _BEGINS,
        _ERROR,
        "back",
        waiting_container("crashloopbackoff")
        + rf"|back-off (?:(?P<duration>{GO_DURATION}) )?restarting failed container"
        r"(?:$| \S{1,253} in pod \S|=\S{1,253} pod=\S)",
        f"{_MANAGER}, pkg/kubelet/container/sync_result.go",
        (
            "Back-off restarting failed container primary in pod af6-n2-0_default(fdbca7e9)",
            "back-off 5m0s restarting failed container=primary pod=af6-n2-0_default(fdbca7e9)",
            "[ContainersNotReady|CrashLoopBackOff]: containers with unready status: [primary]|",
        ),
    ),
    Rule(
        "kubernetes/probe-restart",
        _CRASH,
        _BEGINS,
        _WARNING,
        "probe, will be restarted",
        r"container \S{1,253} failed (?:liveness|startup) probe, will be restarted$",
        _MANAGER,
        ("Container primary failed liveness probe, will be restarted",),
    ),
    Rule(
        "kubernetes/probe-failed",
        _START,
        _GOES_ON,
        _WARNING,
        " probe ",
        r"(?:startup|readiness|liveness) probe "
        r"(?:failed: |errored: |errored and resulted in unknown state: )",
        _PROBER,
        (
            "Startup probe failed: HTTP probe failed with statuscode: 503",
            "Readiness probe errored: rpc error: code = NotFound",
            "Liveness probe failed: dial tcp 10.1.2.3:8080: connect: connection refused",
        ),
    ),
    Rule(
        "kubernetes/out-of-memory",
        _CRASH,
        _BEGINS,
        _ERROR,
        "oom",
        r"\[[^\]\n]{1,253}\] terminated with exit code \([0-9]{1,3}\)\. reason \[oomkilled\]"
        r"|oomkilled$|system oom encountered, victim process: ",
        f"{_FLYTE}; kubernetes v1.30 pkg/kubelet/oom/oom_watcher_linux.go",
        (
            "[primary] terminated with exit code (137). Reason [OOMKilled]. Message: \n.",
            "System OOM encountered, victim process: python, pid: 4711",
        ),
    ),
)
