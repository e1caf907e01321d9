"""How much is sent, by whom, and for how long it is tried."""

from typing import NamedTuple


class Patience(NamedTuple):
    """How long propeller goes on when events are not taken.

    Source: flytepropeller v1.16 events/config.go and controller/config/config.go
    (max-workflow-retries), flyteidl clients/go/admin/config.go. The pauses between rounds are ours.

    Attributes:
        call_timeout_s: Longest wait for one answer.
        calls: How often a call is made before its round fails.
        call_pause_s: Before the second call; twice as long before each next one.
        rounds: How often a round may fail, one time after the other.
        round_pause_s: Before the second time; twice as long before each next one.
        longest_pause_s: Longest pause between two times.
    """

    call_timeout_s: float = 15.0
    calls: int = 5
    call_pause_s: float = 0.1
    rounds: int = 10
    round_pause_s: float = 1.0
    longest_pause_s: float = 10.0


class Load(NamedTuple):
    """How much is sent, and by whom.

    Attributes:
        executions: How many executions, numbered from 0.
        propellers: How many propellers share them, from 1 to SHARD_KEYS.
        workers: Of each propeller, and so how many calls it has in flight, from 1.
        rate: Most calls of each propeller in a second. 0 is no limit, and lets all workers of a
            propeller send one execution: nodes that run at the same time are then sent at the same
            time.
        duplicates: Share of rounds that are sent twice, from 0 to 1.
        patience: How long events that are not taken are sent again.
    """

    executions: int
    propellers: int = 1
    workers: int = 20
    rate: float = 500.0
    duplicates: float = 0.0
    patience: Patience = Patience()
