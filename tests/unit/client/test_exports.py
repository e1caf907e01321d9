"""The public names of the package."""

import subprocess
import sys

import spanwise


def test_public_names_are_these() -> None:
    """A name that is added or lost is a change of the contract."""
    assert sorted(spanwise.__all__) == [
        "AccessDenied",
        "Advice",
        "AlreadyRecorded",
        "Client",
        "CriticalSegment",
        "DeadlinePassed",
        "Diagnosis",
        "EventReceipt",
        "EventVerdict",
        "Evidence",
        "ExecutionId",
        "ExecutionNotFound",
        "ExecutionSpan",
        "Failure",
        "Finding",
        "InvalidRequest",
        "MissingPackage",
        "NotServed",
        "OperationTotal",
        "Overloaded",
        "ParallelismStep",
        "PhaseInterval",
        "Reason",
        "Refused",
        "RemoteError",
        "RequestRejected",
        "ServerFailed",
        "ServerUnavailable",
        "SpanKind",
        "SpanwiseError",
        "TaskHistory",
        "Totals",
        "WorkflowNotFound",
    ]
    assert all(hasattr(spanwise, name) for name in spanwise.__all__)


def test_the_light_client_does_not_load_the_server() -> None:
    """Importing the client and its command needs neither the server nor Flyte's messages."""
    code = (
        "import sys, spanwise, spanwise.cli\n"
        "heavy = {'spanwise_server', 'flyteidl', 'sqlalchemy', 'pydantic_settings'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
