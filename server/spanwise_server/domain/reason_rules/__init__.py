"""The known texts of reasons: one row per text, and the operation that it speaks of.

The first rule that fits is the answer, so the order is part of the table: an outcome comes before
the general form that contains it, and among the causes that one text may list, the scarcest comes
first. Groups of rules stand in modules by subject. Errors are told by their codes instead.
"""

from spanwise_server.domain.reason_rules.admission import ADMISSION_RULES
from spanwise_server.domain.reason_rules.containers import CONTAINER_RULES
from spanwise_server.domain.reason_rules.errors import ERROR_CODES
from spanwise_server.domain.reason_rules.flyte import FLYTE_RULES
from spanwise_server.domain.reason_rules.images import IMAGE_RULES
from spanwise_server.domain.reason_rules.nodes import NODE_RULES
from spanwise_server.domain.reason_rules.operators import OPERATOR_RULES
from spanwise_server.domain.reason_rules.rule import Edge, Rule
from spanwise_server.domain.reason_rules.scheduling import SCHEDULING_RULES
from spanwise_server.domain.reason_rules.volumes import VOLUME_RULES

__all__ = ["ERROR_CODES", "RULES", "Edge", "Rule"]

RULES: tuple[Rule, ...] = (
    # Flyte quotes Kubernetes ("Exceeded resourcequota: ..."), never the other way round.
    *FLYTE_RULES,
    *SCHEDULING_RULES,
    *VOLUME_RULES,
    *IMAGE_RULES,
    *CONTAINER_RULES,
    *NODE_RULES,
    *ADMISSION_RULES,
    *OPERATOR_RULES,
)
"""All rules, in the order in which they are tried."""
