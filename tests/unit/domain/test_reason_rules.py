"""The table of known texts: each row is right by its own examples, and its order is deliberate."""

import re

import pytest

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_classifier import (
    classify_reason,
    split_repeats,
    strip_prefixes,
)
from spanwise_server.domain.reason_rules import RULES, Edge, Rule
from spanwise_server.domain.spans import Operation

WAITS = {
    Operation.INITIALIZING,
    *(operation for operation in Operation if operation >= Operation.SCHEDULING),
}
EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]


def name(value: object) -> str | None:
    return value.rule_id if isinstance(value, Rule) else None


def fits(rule: Rule, text: str) -> bool:
    """Tell whether a rule fits, without the classifier."""
    plain, _ = split_repeats(strip_prefixes(text))
    match = re.match(rule.pattern, plain)
    if rule.phrase not in plain or match is None:
        return False
    return re.search(rule.cause, plain[match.end() :]) is not None


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=name)
def test_example_is_told_by_its_own_rule(rule: Rule, example: str) -> None:
    meaning = classify_reason(example)
    assert meaning is not None
    assert meaning.rule_id == rule.rule_id


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=name)
def test_no_earlier_rule_fits_an_example(rule: Rule, example: str) -> None:
    earlier = RULES[: RULES.index(rule)]
    assert [other.rule_id for other in earlier if fits(other, example)] == []


def test_texts_that_several_rules_fit_differ_in_operation_only_where_it_is_meant() -> None:
    """The first of the two wins. What is not listed here must not differ."""
    differing = {
        (first.rule_id, other.rule_id)
        for first, example in EXAMPLES
        for other in RULES[RULES.index(first) + 1 :]
        if other.operation is not first.operation and fits(other, example)
    }
    assert differing == set()


@pytest.mark.parametrize("rule", RULES, ids=name)
def test_rule_is_complete(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+/[a-z-]+", rule.rule_id)
    assert rule.operation in WAITS
    assert rule.severity is not Severity.UNSPECIFIED
    assert rule.phrase
    assert rule.pattern
    assert rule.source.strip()
    assert rule.examples


@pytest.mark.parametrize("rule", RULES, ids=name)
def test_rule_is_written_for_lower_case(rule: Rule) -> None:
    assert rule.phrase == rule.phrase.lower()
    # \S and the like, and the names of groups, are the only capitals that make sense.
    letters = re.sub(r"\\[A-Z]|\(\?P<", "", rule.pattern + rule.cause)
    assert letters == letters.lower()


@pytest.mark.parametrize("rule", RULES, ids=name)
def test_only_an_end_tells_what_begins_then(rule: Rule) -> None:
    assert rule.edge is Edge.ENDS or rule.then is Operation.UNSPECIFIED


def test_ids_are_unique() -> None:
    ids = [rule.rule_id for rule in RULES]
    assert sorted(set(ids)) == sorted(ids)


def test_every_wait_of_a_set_up_has_a_rule() -> None:
    assert {rule.operation for rule in RULES} == WAITS


def test_quantifiers_are_bounded_so_that_no_text_takes_long() -> None:
    unbounded = re.compile(r"(?<!\\)[*+]|\{\d+,\}")
    patterns = [(rule.rule_id, rule.pattern + rule.cause) for rule in RULES]
    assert [rule_id for rule_id, pattern in patterns if unbounded.search(pattern)] == []
