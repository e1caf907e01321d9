"""Draw the picture of explain that the README shows: a part of the demo, as a terminal shows it.

Usage: PYTHON scripts/gen_picture.py [OUTPUT]

The same on every run: the demo is played with a fixed seed and start, into a server of its own.
"""

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from spanwise import Client, _explain
from spanwise.cli.temporary_server import temporary_server
from spanwise.demo import play, training_pipeline

_OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "explain.svg"
_WIDTH = 150
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre; font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix" xml:space="preserve">
{matrix}
</g></g></svg>
"""
"""rich's own frame without its web font, so that the picture loads nothing from elsewhere."""


def main(output: Path) -> None:
    """Write the picture."""
    start_ns = 1_768_467_600_250_000_000
    scenario = training_pipeline(1, start_ns, name="nightly-training", running=False)
    with temporary_server() as (endpoint, *_):
        play(scenario, endpoint)
        with Client(endpoint) as client:
            root = client.get_execution_span(scenario.execution_id, as_of=scenario.end_ns)
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), highlight=False)
    console.print(Text(f"$ spanwise explain {scenario.execution_id}", "bold green"))
    for line in _shown(list(_explain.lines(root, local_time=False, full=False))):
        console.print(Text(line.text, line.style), no_wrap=True, overflow="ellipsis")
    console.print()  # rich clips the last line
    svg = console.export_svg(
        title="spanwise", theme=DIMMED_MONOKAI, code_format=_SVG, unique_id="spanwise"
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(svg, encoding="utf-8")


def _shown(table: list[_explain.Line]) -> list[_explain.Line]:
    """Give the head, the execution and the node that trains, with a mark for what is left out."""
    below_root = [
        number
        for number, line in enumerate(table)
        if line.text.startswith("  ") and not line.text.startswith("   ")
    ]
    first = next(
        number
        for number in below_root
        if "node_execution" in table[number].text and "train_model" in table[number].text
    )
    end = next(number for number in below_root if number > first)
    left_out = _explain.Line("  …", "dim")
    return [*table[:2], left_out, *table[first:end], left_out]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else _OUTPUT)
