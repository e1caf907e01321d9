"""The machine is taken away: eviction, preemption, shutdown, loss."""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import Edge, Rule
from spanwise_server.domain.spans import Operation

_EVICTION_HELPERS = "kubernetes v1.30 pkg/kubelet/eviction/helpers.go"
_SHUTDOWN = "kubernetes v1.30 pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go"
_TAINTS = "kubernetes v1.30 pkg/controller/tainteviction/taint_eviction.go"


def _taken(rule_id: str, phrase: str, pattern: str, source: str, *examples: str) -> Rule:
    """Give the rule of one way in which a pod loses its machine."""
    return Rule(
        rule_id,
        Operation.EVICTION,
        Edge.BEGINS,
        Severity.WARNING,
        phrase,
        pattern,
        source,
        examples,
    )


NODE_RULES = (
    _taken(
        "kubernetes/memory-pressure",
        "the node ",
        r"(?:pod )?the node (?:was low on resource: memory\.|had condition: \[memorypressure\b)",
        _EVICTION_HELPERS,
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 82Mi. "
        "Container primary was using 14Gi, request is 8Gi, has larger consumption of memory. ",
        "Pod was rejected: The node had condition: [MemoryPressure]. ",
    ),
    _taken(
        "kubernetes/storage-pressure",
        "the node ",
        r"(?:pod )?the node "
        r"(?:was low on resource: ephemeral-storage\.|had condition: \[diskpressure\b)",
        _EVICTION_HELPERS,
        "The node was low on resource: ephemeral-storage. Threshold quantity: 8Gi. ",
        "Pod was rejected: The node had condition: [DiskPressure]. ",
    ),
    _taken(
        "kubernetes/node-pressure",
        "the node ",
        r"(?:pod )?the node "
        r"(?:was low on resource: [\w.-]{1,63}\.(?: |$)|had condition: \[\w{1,63}pressure\b)",
        _EVICTION_HELPERS,
        "The node was low on resource: pids. Threshold quantity: 1000, available: 12. ",
        "The node had condition: [PIDPressure]. ",
    ),
    _taken(
        "kubernetes/storage-limit",
        "exceed",
        r'container \S{1,253} exceeded its local ephemeral storage limit "'
        r"|pod ephemeral local storage usage exceeds the total limit of containers [0-9]"
        r'|usage of emptydir volume "[^"]{1,253}" exceeds the limit "',
        _EVICTION_HELPERS,
        'Container primary exceeded its local ephemeral storage limit "10Gi". ',
        "Pod ephemeral local storage usage exceeds the total limit of containers 10Gi. ",
        'Usage of EmptyDir volume "scratch" exceeds the limit "5Gi". ',
    ),
    _taken(
        "kubernetes/preempted",
        "preempt",
        r"(?:preempted by (?:a pod|pod [\w-]{1,63}|[\w.-]{1,253}/[\w.-]{1,253}) on node \S{1,253}"
        r"|[\w.-]{1,253}: preempting to accommodate a higher priority pod"
        r"|preempted in order to admit critical pod)$",
        "kubernetes v1.30 pkg/scheduler/framework/preemption/preemption.go, "
        "pkg/kubelet/preemption/preemption.go",
        "Preempted by pod 8c5d7a6e-0b6f-4f0e-a6f0-3c8a on node gpu-a100-pool-4",
        "Preempted by a pod on node gpu-a100-pool-4",
        "Preempted by ml-prod/serving-7f9c on node gpu-a100-pool-4",
        "default-scheduler: preempting to accommodate a higher priority pod",
        "Preempted in order to admit critical pod",
    ),
    _taken(
        "kueue/preempted",
        "preempted to accommodate a workload",
        r"preempted to accommodate a workload \(uid: ",
        "kueue v0.8 pkg/scheduler/preemption/preemption.go",
        "Preempted to accommodate a workload (UID: 5c1b) due to prioritization in the ClusterQueue",
    ),
    _taken(
        "kubernetes/node-shutdown",
        "shut",
        r"(?:pod was (?:terminated in response to imminent node shutdown"
        r"|rejected as the node is shutting down)\.?"
        r"|(?:pod )?node is in progress of shutting down, not admitting any new pods)$",
        f"{_SHUTDOWN}; flyteplugins v1.16 go/tasks/pluginmachinery/flytek8s/pod_helper.go",
        "Pod was terminated in response to imminent node shutdown.",
        "Pod was rejected as the node is shutting down.",
        "Pod Node is in progress of shutting down, not admitting any new pods",
    ),
    _taken(
        "aws/spot-interruption",
        "spot itn received. ",
        r"spot itn received\. instance will be interrupted at [0-9]",
        "aws/aws-node-termination-handler pkg/monitor/spotitn/spot-itn-monitor.go",
        "Spot ITN received. Instance will be interrupted at 2026-01-15T08:31:24Z \n",
    ),
    _taken(
        "aws/rebalance-recommendation",
        "rebalance recommendation ",
        r"rebalance recommendation (?:event )?received\. instance (?:[\w-]{1,63} )?will be "
        r"cordoned at [0-9]",
        "aws/aws-node-termination-handler pkg/monitor/rebalancerecommendation, "
        "pkg/monitor/sqsevent/rebalance-recommendation-event.go",
        "Rebalance recommendation received. Instance will be cordoned at 2026-01-15T08:31:24Z \n",
        "Rebalance recommendation event received. Instance i-0fcfb1aa will be cordoned at "
        "2026-01-15 08:31:24 +0000 UTC \n",
    ),
    _taken(
        "kubernetes/node-not-ready",
        "node is not ready",
        "node is not ready$",
        "kubernetes v1.30 pkg/controller/util/node/controller_utils.go",
        "Node is not ready",
    ),
    _taken(
        "kubernetes/taint-eviction",
        "delet",
        r"marking for deletion pod [\w.-]{1,253}/[\w.-]{1,253}$"
        r"|taint manager: deleting due to noexecute taint$",
        _TAINTS,
        "Marking for deletion Pod flytesnacks-development/af6-n2-0",
        "Taint manager: deleting due to NoExecute taint",
    ),
    _taken(
        "kubernetes/node-gone",
        "podgc: node no longer exists",
        "podgc: node no longer exists$",
        "kubernetes v1.30 pkg/controller/podgc/gc_controller.go",
        "PodGC: node no longer exists",
    ),
    _taken(
        "karpenter/evicted",
        "evicted pod",
        r"evicted pod(?:$|: \S)",
        "karpenter v1.0 pkg/controllers/node/termination/terminator/events/events.go; later ones "
        "tell the cause",
        "Evicted pod",
        "Evicted pod: Underutilized",
    ),
)
