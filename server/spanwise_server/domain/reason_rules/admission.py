"""Quotas hold the pod back, or the cluster refuses it."""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import GO_DURATION, Edge, Rule
from spanwise_server.domain.spans import Operation

_QUOTA = Operation.QUOTA_WAIT
_BEGINS, _ENDS = Edge.BEGINS, Edge.ENDS
_INFO, _WARNING, _ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR

_KUEUE = "kueue v0.8 pkg/scheduler"
_KUBELET = "kubernetes v1.30 pkg/kubelet/lifecycle/predicate.go"
_FORBIDDEN = r'(?:error creating: )?(?:[\w.-]{1,253} "[^"]{0,253}" is forbidden: )?\[?'
"""What the API server, and a controller that creates pods, put before why a pod is refused. Square
brackets hold several causes."""


def _refused(name: str, phrase: str, pattern: str, source: str, *examples: str) -> Rule:
    """Give the rule of one way in which a cluster refuses a pod."""
    return Rule(
        f"kubernetes/{name}",
        Operation.ADMISSION,
        _BEGINS,
        _ERROR,
        phrase,
        pattern,
        source,
        examples,
    )


_QUOTAS = (
    Rule(
        "kubernetes/quota-exceeded",
        _QUOTA,
        _BEGINS,
        _WARNING,
        "exceeded quota: ",
        rf"{_FORBIDDEN}exceeded quota: [\w.-]{{1,253}}, requested: [\w./-]{{1,253}}=",
        "kubernetes v1.30 apiserver pkg/admission/plugin/resourcequota/controller.go",
        (
            (
                'pods "af6-n2-0" is forbidden: exceeded quota: project-quota, requested: '
                "limits.cpu=7, used: limits.cpu=249, limited: limits.cpu=250"
            ),
        ),
    ),
    Rule(
        "kueue/quota-reserved",
        _QUOTA,
        _ENDS,
        _INFO,
        "quota reserved in clusterqueue ",
        r"quota reserved in clusterqueue \S{1,253}, wait time since queued was "
        rf"(?P<duration>{GO_DURATION})",
        f"{_KUEUE}/scheduler.go",
        ("Quota reserved in ClusterQueue team-a, wait time since queued was 125s",),
    ),
    Rule(
        "kueue/admitted",
        _QUOTA,
        _ENDS,
        _INFO,
        "admitted by clusterqueue ",
        r"admitted by clusterqueue [\w.-]{1,253}(?:$|, wait time since reservation was "
        rf"(?P<duration>{GO_DURATION}))",
        f"{_KUEUE}/scheduler.go, pkg/controller/jobframework/reconciler.go",
        (
            "Admitted by clusterQueue team-a",
            "Admitted by ClusterQueue team-a, wait time since reservation was 3s",
        ),
    ),
    Rule(
        "kueue/no-flavor",
        _QUOTA,
        _BEGINS,
        _WARNING,
        "couldn't assign flavors to pod set ",
        r"couldn't assign flavors to pod set [\w.-]{1,253}: \S",
        f"{_KUEUE}/flavorassigner/flavorassigner.go",
        (
            (
                "couldn't assign flavors to pod set main: insufficient unused quota in cohort for "
                "nvidia.com/gpu in flavor a100, 2 more needed"
            ),
        ),
    ),
    Rule(
        "kueue/no-quota",
        _QUOTA,
        _BEGINS,
        _WARNING,
        "insufficient ",
        r"insufficient (?:unused )?quota (?:in cohort )?for \S{1,253} in flavor \S",
        f"{_KUEUE}/flavorassigner/flavorassigner.go",
        ("insufficient quota for cpu in flavor default in ClusterQueue",),
    ),
    Rule(
        "kueue/queue-not-usable",
        _QUOTA,
        _BEGINS,
        _WARNING,
        "clusterqueue ",
        r"(?:clusterqueue [\w.-]{1,253} (?:is inactive|not found)"
        r"|workload namespace doesn't match clusterqueue selector)$",
        f"{_KUEUE}/scheduler.go",
        (
            "ClusterQueue team-a is inactive",
            "Workload namespace doesn't match ClusterQueue selector",
        ),
    ),
)

_REFUSALS = (
    _refused(
        "webhook-denied",
        'admission webhook "',
        rf'{_FORBIDDEN}admission webhook "[^"]{{1,253}}" denied the request(?:: | without )',
        "kubernetes v1.30 apiserver pkg/admission/plugin/webhook/errors/statuserror.go",
        'admission webhook "validate.kyverno.svc-fail" denied the request: team label is missing',
    ),
    _refused(
        "webhook-failed",
        'failed calling webhook "',
        r"(?:error creating: )?(?:internal error occurred: )?"
        r'failed calling webhook "[^"]{1,253}": ',
        "kubernetes v1.30 apiserver pkg/util/webhook/error.go",
        'Internal error occurred: failed calling webhook "validatepod.volcano.sh": failed to call '
        'webhook: Post "https://volcano-admission-service.volcano-system.svc:443/validate'
        '?timeout=3s": context deadline exceeded',
    ),
    _refused(
        "pod-security",
        'violates podsecurity "',
        rf'{_FORBIDDEN}violates podsecurity "\w',
        "kubernetes v1.30 pod-security-admission admission/admission.go",
        'pods "af6-n2-0" is forbidden: violates PodSecurity "restricted:latest": '
        "allowPrivilegeEscalation != false",
    ),
    _refused(
        "limit-range",
        " per ",
        rf"{_FORBIDDEN}(?:(?:minimum|maximum) [\w./-]{{1,253}} usage"
        r"|[\w./-]{1,253} max limit to request ratio) "
        r"per (?:container|pod) is [0-9][\w.]{0,62}, but ",
        "kubernetes v1.30 plugin/pkg/admission/limitranger/admission.go",
        'pods "af6-n2-0" is forbidden: maximum cpu usage per Container is 4, but limit is 8',
        "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000",
    ),
    _refused(
        "quota-needs-limits",
        "failed quota: ",
        rf"{_FORBIDDEN}failed quota: [\w.-]{{1,253}}: must specify "
        r"(?:limits\.|requests\.|cpu|memory)",
        "kubernetes v1.30 apiserver pkg/admission/plugin/resourcequota/controller.go",
        'pods "af6-n2-0" is forbidden: failed quota: project-quota: must specify limits.cpu',
    ),
    _refused(
        "node-out-of-resource",
        "node didn't have enough resource: ",
        r"(?:pod )?node didn't have enough resource: \S{1,253}, requested: [0-9]",
        _KUBELET,
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 4000, used: 5000, "
        "capacity: 7910",
    ),
    _refused(
        "device-allocation-failed",
        "failed due to ",
        r"(?:update plugin resources|allocate) failed due to [^\n]{1,900}, which is unexpected",
        _KUBELET,
        "Pod was rejected: Update plugin resources failed due to requested number of devices "
        "unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected.",
    ),
    _refused(
        "topology-affinity",
        "resources cannot be allocated with topology locality",
        "resources cannot be allocated with topology locality$",
        "kubernetes v1.30 pkg/kubelet/cm/topologymanager/topology_manager.go",
        "Pod was rejected: Resources cannot be allocated with Topology locality",
    ),
    _refused(
        "api-throttled",
        "the server has received too many requests and has asked us to try again later",
        r"the server has received too many requests and has asked us to try again later(?:$| \()",
        "kubernetes v1.30 apimachinery pkg/api/errors/errors.go",
        "the server has received too many requests and has asked us to try again later (post pods)",
    ),
    _refused(
        "client-throttled",
        "client rate limiter wait returned an error: ",
        "client rate limiter wait returned an error: (?:context |rate: )",
        "kubernetes v1.30 client-go rest/request.go",
        "client rate limiter Wait returned an error: context deadline exceeded",
    ),
    _refused(
        "pod-not-created",
        "error creating: ",
        r'error creating: (?:[\w.-]{1,253} "[^"]{0,253}" (?:is forbidden: |is invalid: |already '
        r'exists)|internal error occurred: |post "https://|timeout: request did not complete)',
        "kubernetes v1.30 pkg/controller/controller_utils.go",
        'Error creating: pods "af6-worker-0" is forbidden: error looking up service account',
    ),
)

ADMISSION_RULES = (*_QUOTAS, *_REFUSALS)
