"""Operators set up what Spark, Ray and Kubeflow tasks run on: events of the job, not of a pod."""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import Edge, Rule
from spanwise_server.domain.spans import Operation


def _sets_up(rule_id: str, phrase: str, pattern: str, source: str, *examples: str) -> Rule:
    """Give the rule of one step of such a set-up."""
    return Rule(
        rule_id,
        Operation.PLUGIN_SETUP,
        Edge.BEGINS,
        Severity.INFO,
        phrase,
        pattern,
        source,
        examples,
    )


OPERATOR_RULES = (
    _sets_up(
        "spark/submitted",
        "sparkapplication ",
        r"sparkapplication [\w.-]{1,253} was "
        r"(?:added, enqueu(?:e?ing|ed) it for submission|submitted successfully)$",
        "kubeflow/spark-operator internal/controller/sparkapplication/controller.go",
        "SparkApplication af6-n2-0 was added, enqueuing it for submission",
        "SparkApplication af6-n2-0 was submitted successfully",
    ),
    _sets_up(
        "ray/cluster-created",
        "created raycluster ",
        r"created raycluster [\w.-]{1,253}/[\w.-]{1,253}$",
        "ray-project/kuberay ray-operator/controllers/ray/rayjob_controller.go",
        "Created RayCluster flytesnacks-development/af6-n2-0-raycluster-x7k2p",
    ),
    _sets_up(
        "ray/pod-created",
        "created ",
        r"created (?:head|worker) pod (?:[\w.-]{1,253}/)?"
        r"[\w.-]{0,253}-(?:head|worker)[\w.-]{0,253}$",
        "ray-project/kuberay ray-operator/controllers/ray/raycluster_controller.go; before v1.2 "
        "without the namespace",
        "Created head Pod flytesnacks-development/af6-n2-0-raycluster-x7k2p-head-gkpwl",
        "Created worker pod af6-n2-0-raycluster-x7k2p-worker-small-group-4xk2m",
    ),
    _sets_up(
        "kubeflow/job-created",
        "job ",
        r"(?:pytorch|tf|mpi|xgboost|paddle|jax|mx)job (?:[\w.-]{1,253}/)?[\w.-]{1,253} "
        r"is created\.$",
        "kubeflow/training-operator pkg/controller.v1, kubeflow/mpi-operator pkg/controller",
        "PyTorchJob af6-n2-0 is created.",
        "MPIJob flytesnacks-development/af6-n2-0 is created.",
    ),
    _sets_up(
        "kubernetes/pod-created",
        "created pod: ",
        r"created pod: [\w.-]{1,253}$",
        "kubernetes v1.30 pkg/controller/controller_utils.go, kubeflow/training-operator "
        "pkg/core/pod.go",
        "Created pod: af6-n2-0-worker-0",
    ),
)
