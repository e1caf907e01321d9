#!/usr/bin/env bash
# Generate client/spanwise/v1 from protos/spanwise/v1, or compare the two.
#
# Usage: scripts/gen_protos.sh PYTHON [--check]
#
# PYTHON is an interpreter that has the grpcio-tools of requirements/protos.txt.
set -euo pipefail

cd "$(dirname "$0")/.."
python=$1
mode=${2:-}
package=spanwise/v1

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

protos=()
for path in protos/"$package"/*.proto; do
    protos+=("${path#protos/}")
done

# grpc_tools imports pkg_resources, whose warning says nothing about our files.
PYTHONWARNINGS=ignore "$python" -m grpc_tools.protoc -I protos \
    --python_out="$scratch" --pyi_out="$scratch" --grpc_python_out="$scratch" "${protos[@]}"

if [ "$mode" = --check ]; then
    if ! diff -ru -x __init__.py -x py.typed -x __pycache__ "client/$package" "$scratch/$package"; then
        echo "client/$package is not what protos/$package generates: run 'make protos' and commit" >&2
        exit 1
    fi
    exit 0
fi

mkdir -p "client/$package"
# Removed first, so that a deleted proto leaves no stub behind.
rm -f client/"$package"/*_pb2.py client/"$package"/*_pb2.pyi client/"$package"/*_pb2_grpc.py
cp "$scratch/$package"/* "client/$package/"
