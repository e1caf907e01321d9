"""Quality flags: what is inferred, missing or odd.

A flag is 1 shifted by its number in the proto enum of the same name, so that sets fit into one
integer.
"""

from enum import IntFlag


class EventQuality(IntFlag):
    """What is odd about a logged event (spanwise.v1.EventQuality)."""

    NONE = 0
    MISSING_TIMESTAMP = 1 << 1
    TIMESTAMP_OUT_OF_RANGE = 1 << 2
    UNKNOWN_PHASE = 1 << 3
    UNUSUAL_TEXT = 1 << 4
    AFTER_TERMINAL = 1 << 5
    INCOMPLETE = 1 << 6


class SpanQuality(IntFlag):
    """What is inferred, missing or odd about a span (spanwise.v1.SpanQuality)."""

    NONE = 0
    PLACEHOLDER = 1 << 1
    INFERRED_START = 1 << 2
    INFERRED_END = 1 << 3
    NO_TERMINAL_EVENT = 1 << 4
    OUTLIVES_PARENT = 1 << 5
    STARTS_BEFORE_PARENT = 1 << 6
    INFERRED_UPSTREAM = 1 << 7
    AFTER_TERMINAL = 1 << 8
    CLOCK_SKEW = 1 << 9
    MISSING_TIMESTAMP = 1 << 10
    UNKNOWN_PHASE = 1 << 11
    COARSE_TIMESTAMP = 1 << 12
    INFERRED_PARENT = 1 << 13
    TIMESTAMP_OUT_OF_RANGE = 1 << 14
    SEVERAL_PRODUCERS = 1 << 15
    STALE = 1 << 16
    INFERRED_KIND = 1 << 17
