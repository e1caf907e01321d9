"""Train a dictionary for the compression of payloads on the events of the demos.

Usage: PYTHON scripts/train_dictionary.py OUTPUT

A dictionary that has been released never changes: what was stored with it can be read with it
alone. A better one gets a name and a number of its own, see spanwise_server.storage.sql.packing.
"""

import sys
from pathlib import Path

import zstandard

from spanwise.demo import gpu_capacity, image_pull, propeller_overload, training_pipeline

_SIZE_BYTES = 16_384  # twice as much saves three bytes more of each event
_MAX_SAMPLE_BYTES = 8_192  # of a larger one a dictionary can only give the beginning
_SEEDS = range(40)
_START_NS = 1_764_000_000 * 10**9
_STEP_NS = 10**13


def main(output: Path) -> None:
    """Write the dictionary."""
    samples = [
        payload
        for story in (gpu_capacity, image_pull, propeller_overload, training_pipeline)
        for seed in _SEEDS
        for request in story(seed, _START_NS + seed * _STEP_NS).requests
        if len(payload := request.message.SerializeToString()) < _MAX_SAMPLE_BYTES
    ]
    output.write_bytes(zstandard.train_dictionary(_SIZE_BYTES, samples, level=3).as_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
