"""No machine has taken the pod yet: schedulers and autoscalers.

A refusal lists every cause ("3 Insufficient nvidia.com/gpu, 9 node(s) didn't match ..."). The
scarcest decides which rule it is; the operation is the same for all. A refusal is repeated while
machines are being added, so it does not end a SCALE_UP.
"""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import Edge, Rule
from spanwise_server.domain.spans import Operation

_SCHEDULING, _SCALE_UP = Operation.SCHEDULING, Operation.SCALE_UP
_BEGINS, _GOES_ON, _ENDS = Edge.BEGINS, Edge.GOES_ON, Edge.ENDS
_INFO, _WARNING = Severity.INFO, Severity.WARNING

_NODES = "nodes are "
_REFUSED = (
    r"(?:all nodes are unavailable: (?=[0-9])|0/[0-9]{1,9} nodes are (?:un)?available:?"
    r"(?:$| (?=[0-9]{1,9} |preemption: |pod has unbound |cannot allocate |waiting for "
    r'|persistentvolumeclaim "|resourceclaim ")))'
)
"""How a scheduler's refusal begins: what follows are counted causes, or one cause of the pod."""
_PLUGINS = "kubernetes v1.30 pkg/scheduler/framework/plugins"
_FIT = f"{_PLUGINS}/noderesources/fit.go"
_BINDING = f"{_PLUGINS}/volumebinding"
_AUTOSCALER = "kubernetes/autoscaler cluster-autoscaler/processors/status"
_SCALE_UP_EVENTS = f"{_AUTOSCALER}/eventing_scale_up_processor.go"
_KARPENTER = "karpenter v1.0 pkg/controllers/provisioning/scheduling/events.go"
_YUNIKORN = "apache/yunikorn-k8shim pkg/cache/task.go"


def _refusal(rule_id: str, cause: str, source: str, *examples: str) -> Rule:
    """Give the rule of one cause that a scheduler's refusal may list."""
    return Rule(
        rule_id,
        _SCHEDULING,
        _GOES_ON,
        _WARNING,
        _NODES,
        _REFUSED,
        source,
        examples,
        cause=cause,
    )


def _not_scaled_up(name: str, cause: str, source: str, *examples: str) -> Rule:
    """Give the rule of one cause for which the cluster autoscaler adds no machine."""
    return Rule(
        f"autoscaler/{name}",
        _SCHEDULING,
        _BEGINS,
        _WARNING,
        "pod didn't trigger scale-up",
        r"pod didn't trigger scale-up(?: \([^)]{1,200}\))?:(?:$| (?=[0-9]|max ))",
        source,
        examples,
        cause=cause,
    )


_AUTOSCALERS = (
    Rule(
        "autoscaler/triggered-scale-up",
        _SCALE_UP,
        _BEGINS,
        _INFO,
        "pod triggered scale-up",
        r"pod triggered scale-up(?:: \[|, group: )",
        _SCALE_UP_EVENTS,
        (
            "pod triggered scale-up: [{gpu-a100-pool 3->4 (max: 8)}]",
            "pod triggered scale-up, group: gpu-pool, sizes (current/new): 3/4",
        ),
    ),
    _not_scaled_up(
        "maximum-reached",
        r"max (?:node group size|total nodes in cluster|limit|cluster [\w., /-]{1,80} limit)"
        r" reached",
        f"{_SCALE_UP_EVENTS}, cluster-autoscaler/core/scaleup/orchestrator/skippedreasons.go",
        "pod didn't trigger scale-up: 1 max node group size reached",
        "pod didn't trigger scale-up: 2 Insufficient nvidia.com/gpu, 1 max node group size reached",
        "pod didn't trigger scale-up: max total nodes in cluster reached",
    ),
    _not_scaled_up(
        "backoff",
        "in backoff after failed scale-up",
        f"{_SCALE_UP_EVENTS}, cluster-autoscaler/core/scaleup/orchestrator/skippedreasons.go",
        "pod didn't trigger scale-up: 1 in backoff after failed scale-up",
    ),
    _not_scaled_up(
        "no-scale-up",
        "",
        _SCALE_UP_EVENTS,
        "pod didn't trigger scale-up (it wouldn't fit if a new node is added): "
        "1 node(s) didn't match node selector",
        "pod didn't trigger scale-up: 3 node(s) had untolerated taint {dedicated: gpu}",
    ),
    Rule(
        "gke/scale-up-failed",
        _SCHEDULING,
        _BEGINS,
        _WARNING,
        "node scale up in zones ",
        r"node scale up in zones [\w, -]{1,253} associated with this pod failed: ",
        "Google Kubernetes Engine, event FailedScaleUp of its cluster autoscaler",
        (
            (
                "Node scale up in zones us-central1-c associated with this pod failed: "
                "GCE out of resources. Pod is at risk of not being scheduled."
            ),
        ),
    ),
    Rule(
        "karpenter/node-claim-nominated",
        _SCALE_UP,
        _BEGINS,
        _INFO,
        "pod should schedule on",
        r"pod should schedule on(?:: (?:nodeclaim|machine)/| node associated with machine: )"
        r"[a-z0-9][a-z0-9.-]{0,252}(?:$|, node/)",
        f"{_KARPENTER}; karpenter-core v0.2x, where a claim was a machine",
        (
            "Pod should schedule on: nodeclaim/gpu-x7k2p",
            "Pod should schedule on: nodeclaim/gpu-x7k2p, node/ip-10-0-3-26.ec2.internal",
            "Pod should schedule on: machine/gpu-x7k2p",
            "Pod should schedule on node associated with machine: gpu-x7k2p",
        ),
    ),
    Rule(
        "karpenter/node-nominated",
        _SCHEDULING,
        _GOES_ON,
        _INFO,
        "pod should schedule on: ",
        r"pod should schedule on: (?:node/[a-z0-9][a-z0-9.-]{0,252}"
        r"|[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){1,8})$",
        f"{_KARPENTER}; karpenter-core v0.2x names the bare machine",
        (
            "Pod should schedule on: node/ip-10-0-3-26.ec2.internal",
            "Pod should schedule on: ip-10-0-3-26.ec2.internal",
        ),
    ),
    Rule(
        "karpenter/failed-to-schedule",
        _SCHEDULING,
        _BEGINS,
        _WARNING,
        "failed to schedule pod, ",
        "failed to schedule pod, ",
        f"{_KARPENTER}, nodeclaim.go",
        (
            (
                'Failed to schedule pod, incompatible with nodepool "default", no instance type '
                'satisfied resources {"nvidia.com/gpu":"8"} and requirements'
            ),
            (
                "Failed to schedule pod, all available instance types exceed limits for nodepool "
                "(NodePool=default)"
            ),
        ),
        cause="nodepool|provisioner|instance type|incompatible requirements|did not tolerate"
        "|topology|daemonset overhead",
    ),
)

_SCHEDULED = (
    Rule(
        "kubernetes/assigned",
        _SCHEDULING,
        _ENDS,
        _INFO,
        "successfully assigned ",
        r"successfully assigned [\w.-]{1,253}/[\w.-]{1,253} to (?:node )?[\w.-]{1,253}$",
        "kubernetes v1.30 pkg/scheduler/schedule_one.go",
        (
            "Successfully assigned flytesnacks-development/af6-n2-0 to gpu-a100-pool-4",
            "Successfully assigned default/driver to node worker-1",
        ),
    ),
    Rule(
        "yunikorn/bound",
        _SCHEDULING,
        _ENDS,
        _INFO,
        " is successfully bound to node ",
        r"pod [\w.-]{1,253}/[\w.-]{1,253} is successfully bound to node [\w.-]{1,253}$",
        _YUNIKORN,
        ("Pod default/driver is successfully bound to node worker-1",),
    ),
)

_GROUPS = (
    Rule(
        "volcano/gang-unschedulable",
        _SCHEDULING,
        _GOES_ON,
        _WARNING,
        "tasks in gang unschedulable",
        r"[0-9]{1,9}/[0-9]{1,9} tasks in gang unschedulable: ",
        "volcano-sh/volcano pkg/scheduler/plugins/gang/gang.go",
        ("1/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable",),
    ),
    Rule(
        "volcano/pod-group-not-ready",
        _SCHEDULING,
        _GOES_ON,
        _WARNING,
        "pod group is not ready",
        "pod group is not ready, [0-9]{1,9} ",
        "volcano-sh/volcano pkg/scheduler/api",
        ("Unschedulable:pod group is not ready, 6 Pending, 6 minAvailable",),
    ),
    Rule(
        "yunikorn/queued",
        _SCHEDULING,
        _GOES_ON,
        _INFO,
        " is queued and waiting for allocation",
        r"[\w.-]{1,253}/[\w.-]{1,253} is queued and waiting for allocation$",
        _YUNIKORN,
        ("default/driver is queued and waiting for allocation",),
    ),
    Rule(
        "yunikorn/gang-member",
        _SCHEDULING,
        _GOES_ON,
        _INFO,
        "it will be scheduled as a gang member",
        r"pod belongs to the taskgroup \S{1,253}, it will be scheduled as a gang member$",
        _YUNIKORN,
        ("Pod belongs to the taskGroup spark-driver, it will be scheduled as a gang member",),
    ),
    Rule(
        "kubernetes/scheduling-gated",
        _SCHEDULING,
        _GOES_ON,
        _INFO,
        "scheduling gates",
        r"scheduling is blocked due to non-empty scheduling gates$"
        r"|waiting for scheduling gates: \[",
        f"kubernetes v1.30 pkg/registry/core/pod/strategy.go, {_PLUGINS}/schedulinggates",
        (
            "SchedulingGated:Scheduling is blocked due to non-empty scheduling gates",
            "waiting for scheduling gates: [kueue.x-k8s.io/admission]",
        ),
    ),
)

_RESOURCES = (
    _refusal(
        "kubernetes/insufficient-gpu",
        r"insufficient [\w.-]{1,253}/(?:[\w.-]{0,63}gpu\b|mig-)",
        _FIT,
        "0/12 nodes are available: 3 Insufficient nvidia.com/gpu, 9 node(s) didn't match Pod's "
        "node affinity/selector. preemption: 0/12 nodes are available: 3 No preemption victims "
        "found for incoming pod, 9 Preemption is not helpful for scheduling.",
        "Unschedulable:0/4 nodes are available: 1 Insufficient cpu, 4 Insufficient amd.com/gpu.",
        "0/2 nodes are available: 2 Insufficient nvidia.com/mig-1g.5gb.",
    ),
    _refusal(
        "kubernetes/insufficient-extended-resource",
        r"insufficient [\w.-]{1,253}/[\w.-]",
        _FIT,
        "0/3 nodes are available: 3 Insufficient google.com/tpu.",
        "0/3 nodes are available: 1 Insufficient memory, 2 Insufficient vpc.amazonaws.com/efa.",
    ),
    _refusal(
        "kubernetes/insufficient-ephemeral-storage",
        "insufficient ephemeral-storage",
        _FIT,
        "0/5 nodes are available: 5 Insufficient ephemeral-storage.",
    ),
    _refusal(
        "kubernetes/insufficient-memory",
        "insufficient memory",
        _FIT,
        "0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint "
        "{node-role.kubernetes.io/control-plane: }.",
        "all nodes are unavailable: 2 Insufficient memory.",
    ),
    _refusal(
        "kubernetes/insufficient-cpu",
        "insufficient cpu",
        _FIT,
        "0/6 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, "
        "4 Insufficient cpu.",
    ),
    _refusal(
        "kubernetes/too-many-pods",
        "too many pods|pod number exceeded",
        f"{_FIT}, volcano-sh/volcano pkg/scheduler/api/unschedule_info.go",
        "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod.",
        "all nodes are unavailable: 3 node(s) pod number exceeded.",
    ),
    _refusal(
        "volcano/node-resources-do-not-fit",
        "node\\(s\\) resource fit failed",
        "volcano-sh/volcano pkg/scheduler/api/unschedule_info.go",
        "all nodes are unavailable: 3 node(s) resource fit failed.",
    ),
)

_VOLUMES = (
    _refusal(
        "kubernetes/volume-node-affinity",
        "volume node affinity conflict|no available volume zone",
        f"{_BINDING}/binder.go, {_PLUGINS}/volumezone/volume_zone.go",
        "0/3 nodes are available: 3 node(s) had volume node affinity conflict.",
        "0/3 nodes are available: 1 node(s) had no available volume zone.",
    ),
    Rule(
        "kubernetes/volume-claims-not-bound",
        _SCHEDULING,
        _GOES_ON,
        _WARNING,
        "unbound immediate persistentvolumeclaims",
        _REFUSED
        + r'|(?:error while )?running "volumebinding" filter plugin for pod "[^"]{1,253}": '
        r"|(?=pod has unbound )",
        f"{_BINDING}/volume_binding.go; v1.18 to v1.20 name the plugin",
        (
            (
                "0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. "
                "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."
            ),
            "pod has unbound immediate PersistentVolumeClaims (repeated 2 times)",
            (
                'running "VolumeBinding" filter plugin for pod "af6-n2-0": pod has unbound '
                "immediate PersistentVolumeClaims"
            ),
        ),
        cause="pod has unbound immediate persistentvolumeclaims",
    ),
    _refusal(
        "kubernetes/volume-claim-not-usable",
        r'persistentvolumeclaim "[^"]{1,253}" (?:not found|is being deleted|bound to non-existent)'
        "|persistentvolumeclaim with the same name|bound to non-existent pv",
        f"{_BINDING}, {_PLUGINS}/volumerestrictions/volume_restrictions.go",
        '0/4 nodes are available: persistentvolumeclaim "training-data" not found.',
        "0/4 nodes are available: 4 node has pod using PersistentVolumeClaim with the same name "
        "and ReadWriteOncePod access mode.",
    ),
    _refusal(
        "kubernetes/no-volume-to-bind",
        "available persistent volumes to bind|enough free storage|no available disk",
        f"{_BINDING}/binder.go",
        "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.",
    ),
    _refusal(
        "kubernetes/too-many-volumes",
        "exceed max volume count",
        f"{_PLUGINS}/nodevolumelimits",
        "0/3 nodes are available: 3 node(s) exceed max volume count.",
    ),
    Rule(
        "kubernetes/volume-binding-failed",
        _SCHEDULING,
        _GOES_ON,
        _WARNING,
        'running prebind plugin "volumebinding"',
        'running prebind plugin "volumebinding": ',
        "kubernetes v1.30 pkg/scheduler/framework/runtime/framework.go",
        (
            (
                'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for '
                "the condition"
            ),
        ),
    ),
)

_PLACEMENT = (
    _refusal(
        "kubernetes/taint",
        r"untolerated taint|had taints? .{0,500}that the pod didn't tolerate",
        f"{_PLUGINS}/tainttoleration/taint_toleration.go",
        "0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: gpu}.",
        "0/2 nodes are available: 2 node(s) had taint {workload: gpu}, that the pod didn't "
        "tolerate.",
        "0/2 nodes are available: 2 node(s) had taints that the pod didn't tolerate.",
    ),
    _refusal(
        "kubernetes/node-affinity",
        r"didn't match (?:pod's )?node (?:affinity|selector)",
        f"{_PLUGINS}/nodeaffinity/node_affinity.go",
        "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
        "0/2 nodes are available: 2 node(s) didn't match node selector.",
    ),
    _refusal(
        "kubernetes/pod-affinity",
        "pod (?:anti-)?affinity rules|pods anti-affinity rules",
        f"{_PLUGINS}/interpodaffinity/filtering.go",
        "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.",
        "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.",
    ),
    _refusal(
        "kubernetes/topology-spread",
        "pod topology spread constraints",
        f"{_PLUGINS}/podtopologyspread/plugin.go",
        "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.",
    ),
    _refusal(
        "kubernetes/host-ports",
        "free ports for the requested pod ports",
        f"{_PLUGINS}/nodeports/node_ports.go",
        "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.",
    ),
    _refusal(
        "kubernetes/node-name",
        "didn't match the requested node name",
        f"{_PLUGINS}/nodename/node_name.go",
        "0/2 nodes are available: 2 node(s) didn't match the requested node name.",
    ),
    _refusal(
        "kubernetes/nodes-cordoned",
        r"node\(s\) (?:were unschedulable|had unknown conditions)",
        f"{_PLUGINS}/nodeunschedulable/node_unschedulable.go",
        "0/2 nodes are available: 2 node(s) were unschedulable.",
    ),
    _refusal(
        "kubernetes/no-node",
        "",
        "kubernetes v1.30 pkg/scheduler/framework/types.go",
        "Unschedulable:0/12 nodes are available: ",
        "0/3 nodes are available: 3 node(s) have been rejected by an extender.",
    ),
    Rule(
        "kubernetes/no-nodes",
        _SCHEDULING,
        _GOES_ON,
        _WARNING,
        "no nodes available to schedule pods",
        "no nodes available to schedule pods$",
        "kubernetes v1.30 pkg/scheduler/schedule_one.go, of a cluster without machines",
        (
            "no nodes available to schedule pods",
            "Unschedulable:no nodes available to schedule pods",
            "FailedScheduling: no nodes available to schedule pods",
        ),
    ),
)

SCHEDULING_RULES = (
    *_AUTOSCALERS,
    *_SCHEDULED,
    *_GROUPS,
    *_RESOURCES,
    *_VOLUMES,
    *_PLACEMENT,
)
