"""What can cost time, in words, and what is known to help: a table.

Only what is certain stands here. A cause without advice is told without.
"""

from enum import Enum, auto
from typing import NamedTuple


class Cause(NamedTuple):
    """One way to lose time.

    Attributes:
        key: Stable key, for programs.
        title: Beginning of the sentence "… took 3m of 10m". "{detail}" stands for what is special,
            "{took}" for "took 3m of 10m" where that is not at the end.
    """

    key: str
    title: str


class Condition(Enum):
    """What must be so for an advice to be given."""

    NOT_CACHED = auto()
    """The cache was not used for the task, as far as is known."""
    CACHE_MISSED = auto()
    """The cache was asked and had no result."""
    CACHE_FAILED = auto()
    """The cache could not be read or written."""
    INTERRUPTIBLE = auto()
    """An attempt ran on capacity that may be taken away, and did not fail by its own fault."""
    OUT_OF_MEMORY = auto()
    """An attempt was killed because it needed more memory than its limit."""
    SETUP_DOMINATES = auto()
    """In ten attempts or more, and in half of all, TASK_SETUP took twice TASK_RUNTIME or more."""
    NO_POD_EVENTS = auto()
    """No reason in the whole tree is an event of Kubernetes about a pod."""
    MANY_AT_ONCE = auto()
    """As many attempts were open at once as max_parallelism lets by default, or more."""
    STALE = auto()
    """It still goes on, and nothing was heard of it for too long."""


class Advice(NamedTuple):
    """Something to do, and where it is written."""

    text: str
    source: str


class Rule(NamedTuple):
    """Advice for some causes. `when` None: always."""

    causes: tuple[str, ...]
    when: Condition | None
    advice: Advice


_CAUSES = (
    Cause("scheduling", "Waiting for a machine that could take the pod"),
    Cause("scheduling/gpu", "Waiting for a machine with a free {detail}"),
    Cause("scheduling/cpu", "Waiting for a machine with enough free CPU"),
    Cause("scheduling/memory", "Waiting for a machine with enough free memory"),
    Cause("scheduling/taints", "Waiting for a machine whose taints the pod tolerates"),
    Cause("scale-up", "Waiting for machines to be added to the cluster"),
    Cause("volume", "Attaching and mounting volumes"),
    Cause("image-pull", "Pulling container images"),
    Cause("image-pull-backoff", "Failing to pull a container image, and waiting for the next try,"),
    Cause("container-start", "Creating and starting containers"),
    Cause("crash-backoff", "Waiting to start a crashed container again"),
    Cause("quota", "Waiting for a quota or a pool that was used up"),
    Cause("cache-reservation", "Waiting for another execution to compute the same cached result"),
    Cause("eviction", "Recovering from a machine that was taken away"),
    Cause("admission", "Having a pod admitted that the cluster refused at first"),
    Cause("plugin-setup", "Setting up a plugin's own cluster, such as Spark, Ray or Dask,"),
    Cause("queued", "Being queued"),
    Cause("waiting", "Waiting for resources"),
    Cause("initializing", "Initializing"),
    Cause("task-setup", "Getting attempts to run"),
    Cause("task-teardown", "Noticing and reporting the end of attempts"),
    Cause("runtime", "Running {detail}"),
    Cause("retry", "Failing and trying again"),
    Cause("gate", "Waiting at a gate for a signal, an approval or the end of a sleep"),
    Cause("propeller/transition", "Flyte {took} to start nodes that were ready"),
    Cause("propeller/node", "Flyte's own work around attempts and children of nodes"),
    Cause("propeller/workflow", "Flyte's own work at the start and the end of executions"),
    Cause("unexplained", "Time that nothing explains"),
)
CAUSES = {cause.key: cause for cause in _CAUSES}

NO_REASON = ("queued", "waiting", "initializing", "task-setup")
"""Causes that are only a phase: no reason told more."""

_SCHEDULING = ("scheduling", "scheduling/gpu", "scheduling/cpu", "scheduling/memory")
_PROPELLER = ("propeller/transition", "propeller/node", "propeller/workflow")
_SETUP = (
    *_SCHEDULING,
    *("scheduling/taints", "scale-up", "volume", "image-pull", "container-start", "admission"),
    *NO_REASON,
)
_FLYTE_PERFORMANCE = "Flyte documentation, Optimizing Performance"
_FLYTE_CACHING = "Flyte documentation, Caching"
_KUBERNETES = "https://kubernetes.io/docs/concepts"

RULES = (
    Rule(
        tuple(CAUSES),
        Condition.STALE,
        Advice(
            "Nothing was heard of it for long: see whether its pod still runs, and whether"
            " FlytePropeller works and reaches this server.",
            "docs/live.md",
        ),
    ),
    Rule(
        _SCHEDULING,
        None,
        Advice(
            "Ask for no more than the task needs (requests= of @task, or with_overrides at its"
            " node): the scheduler counts requests, not what is used.",
            f"{_KUBERNETES}/configuration/manage-resources-containers/",
        ),
    ),
    Rule(
        ("scheduling/gpu",),
        None,
        Advice(
            "See that the largest size of the node group with this accelerator, and the quota of"
            " your cloud for it, allow as many machines as are asked for at once.",
            f"{_KUBERNETES}/cluster-administration/node-autoscaling/",
        ),
    ),
    Rule(
        ("scheduling/taints",),
        None,
        Advice(
            "Give the pods a toleration for the taint that the reasons name: plugins.k8s"
            " default-tolerations for all, resource-tolerations by resource, or a PodTemplate.",
            f"{_KUBERNETES}/scheduling-eviction/taint-and-toleration/; Flyte setting plugins.k8s",
        ),
    ),
    Rule(
        ("scale-up", *_SCHEDULING),
        None,
        Advice(
            "Keep spare machines ready: a lowest size of the node group above zero, or"
            " overprovisioning with pods of low priority that give way.",
            "Kubernetes Cluster Autoscaler FAQ, How can I configure overprovisioning",
        ),
    ),
    Rule(
        ("image-pull",),
        None,
        Advice(
            "Make the image smaller, or have it on the machines before: bake it into their disk"
            " image or pull it ahead with a DaemonSet; keep the pull policy at IfNotPresent.",
            f"{_KUBERNETES}/containers/images/",
        ),
    ),
    Rule(
        ("image-pull-backoff",),
        None,
        Advice(
            "Check name and tag of the image, and the imagePullSecrets of the service account; the"
            " kubelet waits longer after each failure, up to five minutes.",
            f"{_KUBERNETES}/containers/images/",
        ),
    ),
    Rule(
        ("crash-backoff",),
        None,
        Advice(
            "Read the log of the container before its restart (kubectl logs --previous); the"
            " kubelet waits 10 s, 20 s, 40 s and so on, up to five minutes.",
            f"{_KUBERNETES}/workloads/pods/pod-lifecycle/",
        ),
    ),
    Rule(
        ("volume",),
        None,
        Advice(
            "A volume that is bound to a zone or still attached elsewhere keeps pods waiting: use"
            " volumeBindingMode WaitForFirstConsumer; set fsGroupChangePolicy to OnRootMismatch if"
            " it holds many files.",
            f"{_KUBERNETES}/storage/storage-classes/",
        ),
    ),
    Rule(
        ("quota",),
        None,
        Advice(
            "Compare the ResourceQuota of the namespace with what it uses (kubectl describe"
            " quota), and raise it or run less at once.",
            f"{_KUBERNETES}/policy/resource-quotas/",
        ),
    ),
    Rule(
        ("cache-reservation",),
        None,
        Advice(
            "The task has cache_serialize: one execution computes, the others wait for its result."
            " If waiting is worse than computing twice, turn it off for this task.",
            f"{_FLYTE_CACHING}, cache serialization",
        ),
    ),
    Rule(
        ("eviction", "retry"),
        Condition.INTERRUPTIBLE,
        Advice(
            "The task is interruptible, so its machine may be taken away: run what takes long with"
            " interruptible=False.",
            "Flyte documentation, Spot Instances",
        ),
    ),
    Rule(
        ("retry", "runtime"),
        Condition.OUT_OF_MEMORY,
        Advice(
            "An attempt was killed for its memory: raise the memory limit of the task (limits= of"
            " @task), or it fails again in the same way.",
            f"{_KUBERNETES}/configuration/manage-resources-containers/",
        ),
    ),
    Rule(
        ("eviction", "retry"),
        None,
        Advice(
            "What an attempt has computed is lost with it, unless it writes checkpoints"
            " (current_context().checkpoint) that the next attempt goes on from.",
            "Flyte documentation, Intratask Checkpoints",
        ),
    ),
    Rule(
        ("admission",),
        None,
        Advice(
            "The reasons name the webhook or policy that refused the pod; mend the pod's"
            " specification or the policy.",
            "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/",
        ),
    ),
    Rule(
        NO_REASON,
        Condition.NO_POD_EVENTS,
        Advice(
            "Let propeller send what Kubernetes says about the pods: plugins.k8s"
            " send-object-events is false by default.",
            "Flyte setting plugins.k8s.send-object-events",
        ),
    ),
    Rule(
        ("runtime",),
        Condition.NOT_CACHED,
        Advice(
            "If the task gives the same result for the same inputs, let Flyte keep it: cache=True"
            " with a cache_version.",
            _FLYTE_CACHING,
        ),
    ),
    Rule(
        ("runtime",),
        Condition.CACHE_MISSED,
        Advice(
            "The cache had no result. It is found again only with the same inputs, interface and"
            " cache_version: inputs such as the present time, or a version made of every commit,"
            " defeat it.",
            _FLYTE_CACHING,
        ),
    ),
    Rule(
        ("runtime",),
        Condition.CACHE_FAILED,
        Advice("The cache could not be read or written: look at DataCatalog.", _FLYTE_CACHING),
    ),
    Rule(
        _SETUP,
        Condition.SETUP_DOMINATES,
        Advice(
            "Getting ready takes longer than running: give each attempt more to do (a map task"
            " over fewer, larger items), or run many items in one container.",
            "Flyte documentation, Map Tasks",
        ),
    ),
    Rule(
        ("propeller/transition",),
        Condition.MANY_AT_ONCE,
        Advice(
            "A node that is ready may be held back by max_parallelism (of the launch plan or the"
            " execution; 25 by default): raise it if many nodes could run at once.",
            f"{_FLYTE_PERFORMANCE}; setting maxParallelism",
        ),
    ),
    Rule(
        _PROPELLER,
        None,
        Advice(
            "Let propeller look at executions sooner: more propeller.workers (20 by default) if its"
            " queue is long; shorter propeller.workflow-reeval-duration (10s) and"
            " propeller.downstream-eval-duration (30s); a higher propeller.max-streak-length (8).",
            f"{_FLYTE_PERFORMANCE}; settings of propeller",
        ),
    ),
    Rule(
        ("propeller/node", "propeller/workflow"),
        None,
        Advice(
            "If propeller is held up by the API server of Kubernetes, raise"
            " propeller.kube-client-config qps (100) and burst (25).",
            f"{_FLYTE_PERFORMANCE}; settings of propeller",
        ),
    ),
)


def find_advice(cause: str, conditions: frozenset[Condition]) -> tuple[Advice, ...]:
    """Give what is known to help against a cause under some conditions; none if nothing is."""
    return tuple(
        rule.advice
        for rule in RULES
        if cause in rule.causes and (rule.when is None or rule.when in conditions)
    )
