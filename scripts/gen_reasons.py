"""Write the reference of known reason texts, docs/reasons.md, from the table of rules.

Usage: PYTHON scripts/gen_reasons.py [OUTPUT]
"""

import sys
from pathlib import Path

from spanwise_server.domain.reason_rules import ERROR_CODES, RULES, Edge, Rule
from spanwise_server.domain.spans import Operation

_OUTPUT = Path(__file__).parent.parent / "docs" / "reasons.md"
_HEAD = """# What reasons tell

A reason is a text with a time: what Kubernetes, an autoscaler or Flyte said while an attempt was not running yet.
spanwise knows the texts below. A known text tells what the time goes into, so the set-up of an attempt (`TASK_SETUP`)
is split into exact waits: four minutes of `SCALE_UP`, two of `IMAGE_PULL`, instead of six minutes of queue.

## How to read the waits

* A wait that **begins** starts at the time of its text and lasts until another known text says otherwise, says that it
  ended, or the phase changes to one that excludes it: in `INITIALIZING` a pod has a machine, so nothing waits for one.
* A wait that **goes on** is as one that begins, except that it does not replace a closer cause: the scheduler refuses a
  pod again and again while a machine is being added for it, and the time stays `SCALE_UP`.
* A wait that **ends** is over at the time of its text. Where the text tells how long it took ("in 3m12s"), the wait
  began so long before, but not before the last known text. `Successfully assigned` explains the queue before it as
  `SCHEDULING`, back to the last known text or the last change of phase.
* Where no known text speaks, the time is `QUEUED`, `WAITING_FOR_RESOURCES` or `INITIALIZING`, by the phase.

Kubernetes tells whole seconds, so each bound may be off by one. Flyte hands on what Kubernetes says of a pod only where
`plugins.k8s.send-object-events` is true in FlytePropeller's configuration; without it there is one reason per change of
state, and most of a set-up stays `QUEUED` and `INITIALIZING`.

## What stays unknown

A text that fits no row stays a mark on its span and changes nothing: no cause is guessed. Flyte's "task submitted to
K8s" and bare "Scheduling" tell no cause. "ContainerCreating" and "PodInitializing" tell only that the pod has a
machine: volumes, image and container are all still to come, so that time is `INITIALIZING`.

Agents, connectors and users write what they like, also the words of a row. So a text fits only where it has the form in
which its source prints it, from its first character on: "0/3 nodes are available: 3 Insufficient cpu." does, "step 2:
0/3 nodes are available" does not. Before it may stand only what FlytePropeller and Kubernetes put there
("Unschedulable:", "Pod was rejected: ", "(combined from similar events): ") or the reason of the event
("FailedScheduling: "). A text with a Python traceback is not looked at. Of a long text, the first 2,000 characters
count.

Severity and count ("x12 over 3m") are taken from the text only where the source gave none. The same text of one moment
with and without such a count is one reason.

## Errors

The error of an event stands among the reasons of its span as "CODE: message". Its message may quote anything, so the
text is not looked at, and it splits no set-up. A code that FlytePropeller takes from the state of the pod tells the
operation of the reason:

{codes}

A code of a waiting container stands behind "ContainersNotReady|". All other codes tell nothing.

## Known texts

The first row that fits is the answer, in the order of the code: `server/spanwise_server/domain/reason_rules/`.
"""

_EDGES = {Edge.BEGINS: "begins", Edge.GOES_ON: "goes on", Edge.ENDS: "ends"}


def main(output: Path) -> None:
    """Write the reference."""
    parts = [_HEAD.replace("{codes}", _codes())]
    for operation in Operation:
        rows = [_row(rule) for rule in RULES if rule.operation is operation]
        if rows:
            table = "\n".join(
                ["| Rule | The wait | Example | Printed by |", "| --- | --- | --- | --- |", *rows]
            )
            parts.append(f"### {operation.name}\n\n{table}\n")
    output.write_text("\n".join(parts), encoding="utf-8")


def _codes() -> str:
    rows = ["| Operation | Codes |", "| --- | --- |"]
    for operation in Operation:
        codes = [f"`{code}`" for code, told in ERROR_CODES.items() if told is operation]
        if codes:
            rows.append(f"| {operation.name} | {', '.join(codes)} |")
    return "\n".join(rows)


def _row(rule: Rule) -> str:
    edge = _EDGES[rule.edge]
    if rule.then is not Operation.UNSPECIFIED:
        edge += f", then {rule.then.name}"
    example = " ".join(rule.examples[0].split()).replace("|", "\\|")
    return f"| {rule.rule_id} | {edge} | `{example}` | {rule.source} |"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else _OUTPUT)
