import re
from pathlib import Path

from spanwise_server.domain.advice import CAUSES

DOCUMENT = Path(__file__).parents[3] / "docs" / "diagnose.md"


def test_the_document_lists_exactly_the_causes_that_there_are() -> None:
    section = DOCUMENT.read_text().partition("## Causes")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    keys = [key for cell in cells for key in re.findall(r"`([^`]+)`", cell)]
    assert len(keys) == len(set(keys))
    assert set(keys) == set(CAUSES)
