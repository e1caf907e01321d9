"""Flyte's own texts: resource pools, quotas, the cache, and plugins with clusters of their own.

Snowflake, Athena and Databricks tasks write no texts of their own before they run: what they wait
for is told by the machinery that launches them. What an agent or a connector writes is free text.
FlytePropeller's "task submitted to K8s" and "Scheduling" tell no cause, so no rule knows them.
"""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import Edge, Rule
from spanwise_server.domain.spans import Operation

_QUOTA = Operation.QUOTA_WAIT
_BEGINS, _ENDS = Edge.BEGINS, Edge.ENDS
_INFO, _WARNING = Severity.INFO, Severity.WARNING

_PLUGINS = "flyteplugins v1.16 go/tasks"
_WEBAPI = f"{_PLUGINS}/pluginmachinery/internal/webapi"
_MANAGER = "flytepropeller v1.16 pkg/controller/nodes/task/k8s/plugin_manager.go"


def _plugin(name: str, text: str, source: str) -> Rule:
    """Give the rule of a plugin's reason, which is that text and nothing else."""
    lower = text.lower()
    return Rule(
        f"flyte/{name}",
        Operation.PLUGIN_SETUP,
        _BEGINS,
        _INFO,
        lower,
        f"{lower}$",
        source,
        (text,),
    )


FLYTE_RULES = (
    Rule(
        "flyte/resource-quota",
        _QUOTA,
        _BEGINS,
        _WARNING,
        "exceeded resourcequota: ",
        r'exceeded resourcequota: (?:\[\w{1,63}\] |[\w.-]{1,253} "[^"]{1,253}" is forbidden: )',
        f"{_MANAGER}, pkg/controller/nodes/task/backoff/handler.go",
        (
            (
                "Exceeded resourcequota: [BackOffError] The operation was attempted but failed, "
                'caused by: pods "af6-n2-0" is forbidden: exceeded quota: project-quota, '
                "requested: limits.cpu=7, used: limits.cpu=249, limited: limits.cpu=250"
            ),
        ),
    ),
    Rule(
        "flyte/resource-pool",
        _QUOTA,
        _BEGINS,
        _WARNING,
        "quota",
        r"(?:quota for task has exceeded\. waiting for the resource\.?"
        r"|exceeded resourcemanager quota)$",
        f"{_WEBAPI}/allocation_token.go, {_PLUGINS}/plugins/array/k8s/management.go",
        (
            "Quota for task has exceeded. Waiting for the resource.",
            "Exceeded ResourceManager quota",
        ),
    ),
    Rule(
        "flyte/resource-pool-granted",
        _QUOTA,
        _ENDS,
        _INFO,
        "allocation token required",
        "allocation token required$",
        f"{_WEBAPI}/allocation_token.go",
        ("Allocation token required",),
    ),
    Rule(
        "flyte/cache-reservation",
        Operation.CACHE_RESERVATION,
        _BEGINS,
        _INFO,
        "cache reservation held by another execution",
        "cache reservation held by another execution that computes the same result$",
        "spanwise, for CatalogReservation.RESERVATION_EXISTS of Flyte's events",
        ("cache reservation held by another execution that computes the same result",),
    ),
    _plugin("spark-queued", "job queued", f"{_PLUGINS}/plugins/k8s/spark/spark.go"),
    _plugin(
        "job-submitted",
        "job submitted",
        f"{_PLUGINS}/plugins/k8s/spark/spark.go, {_WEBAPI}/monitor.go",
    ),
    _plugin(
        "spark-driver-not-ready",
        "Spark driver UI is not ready",
        f"{_PLUGINS}/plugins/k8s/spark/spark.go",
    ),
    _plugin("ray-cluster-creating", "cluster is creating", f"{_PLUGINS}/plugins/k8s/ray/ray.go"),
    _plugin("ray-suspended", "Suspended", f"{_PLUGINS}/plugins/k8s/ray/ray.go"),
    _plugin("ray-suspending", "Suspending", f"{_PLUGINS}/plugins/k8s/ray/ray.go"),
    _plugin("dask-job-created", "job created", f"{_PLUGINS}/plugins/k8s/dask/dask.go"),
    _plugin("dask-cluster-created", "cluster created", f"{_PLUGINS}/plugins/k8s/dask/dask.go"),
    _plugin(
        "dask-dashboard-not-ready",
        "Dask dashboard is not ready",
        f"{_PLUGINS}/plugins/k8s/dask/dask.go",
    ),
    _plugin(
        "kubeflow-job-created",
        "JobCreated",
        f"{_PLUGINS}/plugins/k8s/kfoperators/common/common_operator.go",
    ),
    _plugin(
        "mpi-job-submitted",
        "New job name submitted to MPI operator",
        f"{_PLUGINS}/plugins/k8s/kfoperators/common/common_operator.go",
    ),
    _plugin("launched", "launched", f"{_WEBAPI}/launcher.go"),
    _plugin(
        "bigquery-pending",
        "Query is PENDING",
        f"{_PLUGINS}/plugins/webapi/bigquery/plugin.go",
    ),
    _plugin(
        "environment-initializing",
        "environment is initializing",
        "flyteorg/flyte v1.16 fasttask/plugin/plugin.go",
    ),
)
