"""`make bench`: measure the budgets of the design and print each figure beside its target.

Figures are ratios in one run, because absolute times depend on the machine. ARGS picks some of the
groups: intake, bulk, reading, watch, beside, large, ui. Without any, all but the last two are
measured.
"""

import sys
from collections.abc import Callable

from tests.benchmarks.bulk import measure_bulk, measure_long_attempt
from tests.benchmarks.intake import measure_intake
from tests.benchmarks.large import measure_beside, measure_large
from tests.benchmarks.page import measure_page
from tests.benchmarks.reading import measure_reading
from tests.benchmarks.report import Row, render
from tests.benchmarks.watch import measure_watch

GROUPS: dict[str, list[Callable[[], list[Row]]]] = {
    "intake": [measure_intake],
    "bulk": [measure_bulk, measure_long_attempt],
    "reading": [measure_reading],
    "watch": [measure_watch],
    "beside": [measure_beside],
    "large": [measure_large],
    "ui": [measure_page],
}

if __name__ == "__main__":
    wanted = sys.argv[1:] or [name for name in GROUPS if name not in {"large", "ui"}]
    if unknown := set(wanted) - set(GROUPS):
        sys.exit(f"there are no benchmarks {sorted(unknown)}; there are {', '.join(GROUPS)}")
    print(render([row for name in wanted for measure in GROUPS[name] for row in measure()]))
