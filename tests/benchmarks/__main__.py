"""`make bench`: measure the budgets of the design and print each figure beside its target.

Figures are ratios in one run, because absolute times depend on the machine.
"""

from tests.benchmarks.bulk import measure_bulk, measure_long_attempt
from tests.benchmarks.intake import measure_intake
from tests.benchmarks.reading import measure_reading
from tests.benchmarks.report import render
from tests.benchmarks.watch import measure_watch

if __name__ == "__main__":
    print(
        render(
            [
                *measure_intake(),
                *measure_bulk(),
                *measure_long_attempt(),
                *measure_reading(),
                *measure_watch(),
            ]
        )
    )
