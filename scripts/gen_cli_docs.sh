#!/usr/bin/env bash
# Write the reference of the command line, docs/cli.md, from the help texts.
#
# Usage: scripts/gen_cli_docs.sh PYTHON [OUTPUT]
#
# PYTHON is an interpreter that has spanwise.
set -euo pipefail

cd "$(dirname "$0")/.."
"$1" -m typer spanwise.cli utils docs --name spanwise --title "The spanwise command" \
    --output "${2:-docs/cli.md}" >/dev/null
