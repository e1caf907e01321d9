"""What is written for users: generated parts are fresh, and nothing is left out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from spanwise.cli import app
from spanwise.v1 import event_service_pb2, span_service_pb2, workflow_service_pb2
from spanwise_server.config import Settings
from spanwise_server.web.api import PATHS
from spanwise_server.web.endpoints import API, ENDPOINTS

ROOT = Path(__file__).parent.parent.parent
SERVICES = [
    event_service_pb2.DESCRIPTOR.services_by_name["EventService"],
    span_service_pb2.DESCRIPTOR.services_by_name["SpanService"],
    workflow_service_pb2.DESCRIPTOR.services_by_name["WorkflowService"],
]


@pytest.mark.parametrize(
    ("command", "document"),
    [
        (["scripts/gen_cli_docs.sh", sys.executable], "docs/cli.md"),
        ([sys.executable, "scripts/gen_settings.py"], "docs/settings.md"),
        ([sys.executable, "scripts/gen_reasons.py"], "docs/reasons.md"),
        ([sys.executable, "scripts/gen_picture.py"], "docs/images/explain.svg"),
    ],
)
def test_generated_document_is_what_its_generator_writes(
    command: list[str], document: str, tmp_path: Path
) -> None:
    fresh = tmp_path / Path(document).name
    environment = {**os.environ, "COLUMNS": "80"}
    subprocess.run([*command, str(fresh)], check=True, cwd=ROOT, env=environment)
    assert fresh.read_text() == (ROOT / document).read_text(), f"{document} is stale: make docs"


def test_every_setting_is_explained() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    assert [name for name in Settings.model_fields if f"## {name}\n" not in text] == []
    assert all(field.description for field in Settings.model_fields.values())


def test_every_command_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    command = typer.main.get_command(app)
    names = getattr(command, "commands", {})
    assert names
    assert [name for name in names if f"## `spanwise {name}`" not in text] == []


def test_every_call_of_our_own_services_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text()
    calls = [method.name for service in SERVICES for method in service.methods]
    assert [name for name in calls if f"`{name}`" not in text] == []


def test_every_address_and_parameter_of_the_api_is_documented() -> None:
    text = (ROOT / "docs" / "http-api.md").read_text()
    assert [path for path in PATHS if f"`{API}{path}`" not in text] == []
    names = {name for endpoint in ENDPOINTS for name in endpoint.parameters}
    assert [name for name in names if f"`{name}`" not in text] == []


def test_local_links_of_the_documents_lead_somewhere() -> None:
    documents = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    broken = [
        (document.name, target)
        for document in documents
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
        if not (document.parent / target).exists()
    ]
    assert broken == []


def _python_blocks() -> list[tuple[str, str]]:
    documents = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
    return [
        (document.name, block)
        for document in documents
        for block in re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    ]


@pytest.mark.parametrize(("document", "block"), _python_blocks())
def test_python_of_the_documents_defines_what_it_uses(document: str, block: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "ruff", "check", "--isolated", "--select", "F821", "-"],
        check=False,
        input=block,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{document}: {done.stdout}"
