"""Figures that tests measure: printed beside their targets at the end, never asserted."""

from collections.abc import Sequence

from tests.benchmarks.report import Row


def limit_ms(work: str, milliseconds: float, most_ms: float) -> Row:
    """Give a line about a time."""
    met = milliseconds <= most_ms
    return Row(work, f"{milliseconds:,.1f} ms", f"≤ {most_ms:,.0f} ms", met=met)


def limit_mb(work: str, num_bytes: float, most_mb: float) -> Row:
    """Give a line about a size."""
    return Row(
        work, f"{num_bytes / 1e6:,.1f} MB", f"≤ {most_mb:,.0f} MB", met=num_bytes <= most_mb * 1e6
    )


def p95(samples: Sequence[float]) -> float:
    """Give the least sample that 95 % of them do not exceed; 0 for none."""
    return sorted(samples)[max(0, -(-len(samples) * 95 // 100) - 1)] if samples else 0.0
