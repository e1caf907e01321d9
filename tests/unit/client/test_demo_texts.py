"""The words of the samples, against those of Kubernetes, its autoscaler and Go."""

import pytest

from spanwise.demo import texts
from spanwise.demo.plot import Image

_SERVING = texts.untolerated("dedicated: serving")


def test_the_scheduler_counts_machines_by_what_is_wrong_with_them() -> None:
    """In the order of the text, with what preemption could do; propeller puts a word before it."""
    refusal = texts.no_machine({_SERVING: 8, texts.NO_GPU: 4})
    assert refusal == (
        "0/12 nodes are available: 4 Insufficient nvidia.com/gpu, 8 node(s) had untolerated taint "
        "{dedicated: serving}. preemption: 0/12 nodes are available: 4 No preemption victims found "
        "for incoming pod, 8 Preemption is not helpful for scheduling."
    )
    assert texts.unschedulable(refusal) == f"Unschedulable:{refusal}"


def test_the_autoscaler_tells_what_it_does_and_why_it_does_not() -> None:
    """One group that grows, with its size before, after and at most."""
    assert texts.scale_up("gpu-pool", 1, 2, 8) == (
        "pod triggered scale-up: [{gpu-pool 1->2 (max: 8)}]"
    )
    assert texts.no_scale_up({"max node group size reached": 1, _SERVING: 1}) == (
        "pod didn't trigger scale-up: 1 max node group size reached, "
        "1 node(s) had untolerated taint {dedicated: serving}"
    )


def test_the_kubelet_tells_how_long_and_how_large() -> None:
    """The pull alone, then with the wait for other pulls."""
    image = Image("cr.example.com/model:v1", 7_516_192_768)
    assert texts.pulled(image, 190.5, 1.5) == (
        'Successfully pulled image "cr.example.com/model:v1" in 3m10.5s (3m12s including '
        "waiting). Image size: 7516192768 bytes."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.0004, "0s"),
        (0.853, "853ms"),
        (1, "1s"),
        (9.4799, "9.479s"),
        (60, "1m0s"),
        (190.5, "3m10.5s"),
        (3600, "1h0m0s"),
        (3723.25, "1h2m3.25s"),
    ],
)
def test_durations_are_printed_as_go_prints_them(seconds: float, text: str) -> None:
    """Cut to milliseconds, without zeros at the end."""
    assert texts.go_duration(seconds) == text
