"""What Kubernetes, its autoscaler and Flyte say, in their words.

Source: Kubernetes v1.31 pkg/kubelet/images/image_manager.go, pkg/kubelet/kuberuntime and
pkg/scheduler/framework/types.go; cluster-autoscaler eventing_scale_up_processor.go; flyteplugins
v1.16 pluginmachinery/flytek8s/pod_helper.go; flytepropeller v1.16
controller/nodes/task/k8s/plugin_manager.go.
"""

from collections.abc import Callable, Mapping

from flyteidl.core import execution_pb2

from spanwise.demo.plot import Image

SUBMITTED = "task submitted to K8s"
CREATED = "Created container primary"
STARTED = "Started container primary"
STOPPING = "Stopping container primary"

NO_GPU = "Insufficient nvidia.com/gpu"
CORDONED = "node(s) were unschedulable"


def untolerated(taint: str) -> str:
    """Give why a machine that is kept for others does not count."""
    return f"node(s) had untolerated taint {{{taint}}}"


def no_machine(refusals: Mapping[str, int]) -> str:
    """Give what the scheduler says when no machine fits.

    Args:
        refusals: How many machines do not fit, by why.
    """
    total = sum(refusals.values())
    # Only lack of room can be helped by evicting somebody, and nobody here may be evicted.
    full = sum(count for why, count in refusals.items() if why.startswith("Insufficient"))
    preemption = {
        "No preemption victims found for incoming pod": full,
        "Preemption is not helpful for scheduling": total - full,
    }
    available = f"0/{total} nodes are available"
    return f"{available}: {_counted(refusals)}. preemption: {available}: {_counted(preemption)}."


def unschedulable(refusal: str) -> str:
    """Give how FlytePropeller tells what the scheduler says."""
    return f"Unschedulable:{refusal}"


def no_scale_up(refusals: Mapping[str, int]) -> str:
    """Give what the autoscaler says when none of its groups can help, by why."""
    return f"pod didn't trigger scale-up: {_counted(refusals)}"


def scale_up(group: str, size: int, new_size: int, max_size: int) -> str:
    """Give what the autoscaler says when it orders machines."""
    return f"pod triggered scale-up: [{{{group} {size}->{new_size} (max: {max_size})}}]"


def assigned(namespace: str, pod_name: str, machine: str) -> str:
    """Give what the scheduler says when it has found a machine."""
    return f"Successfully assigned {namespace}/{pod_name} to {machine}"


def pulling(image: Image) -> str:
    """Give what the kubelet says when it begins to pull."""
    return f'Pulling image "{image.name}"'


def pulled(image: Image, pull_s: float, waited_s: float = 0) -> str:
    """Give what the kubelet says when it has pulled, maybe after waiting for other pulls."""
    return (
        f'Successfully pulled image "{image.name}" in {go_duration(pull_s)} '
        f"({go_duration(pull_s + waited_s)} including waiting). "
        f"Image size: {image.size_bytes} bytes."
    )


def pull_refused(image: Image) -> str:
    """Give what the kubelet says when the registry has had enough of its pulls."""
    return (
        f'Failed to pull image "{image.name}": failed to copy: httpReadSeeker: failed open: '
        "unexpected status code: 429 Too Many Requests - Server message: toomanyrequests: "
        "You have reached your pull rate limit."
    )


def pull_back_off(image: Image) -> str:
    """Give what the kubelet says while it waits before it pulls again."""
    return f'Back-off pulling image "{image.name}"'


def unready(waiting_for: str, said: str) -> str:
    """Give how FlytePropeller tells what a container waits for."""
    return f"[ContainersNotReady|{waiting_for}]: containers with unready status: [primary]|{said}"


def present(image: Image) -> str:
    """Give what the kubelet says when it need not pull."""
    return f'Container image "{image.name}" already present on machine'


def go_duration(seconds: float) -> str:
    """Give a duration as Go prints it, cut to milliseconds: 853ms, 1.5s, 3m10.5s, 1h0m2s."""
    total_ms = int(seconds * 1000)
    if total_ms < 1000:  # noqa: PLR2004 - milliseconds in a second
        return f"{total_ms}ms" if total_ms else "0s"
    minutes, left_ms = divmod(total_ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{left_ms / 1000:.3f}".rstrip("0").rstrip(".") + "s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text


def _counted(refusals: Mapping[str, int]) -> str:
    """Join counts and texts as the scheduler does: in the order of the text of both."""
    return ", ".join(sorted(f"{count} {why}" for why, count in refusals.items() if count))


def out_of_memory(pod_name: str) -> execution_pb2.ExecutionError:
    """Give the error of a pod that used too much memory."""
    message = f"[{pod_name}] terminated with exit code (137). Reason [OOMKilled]. Message: \n."
    return execution_pb2.ExecutionError(
        code="OOMKilled", kind=execution_pb2.ExecutionError.USER, message=message
    )


def retries_exhausted(
    error: execution_pb2.ExecutionError, attempts: int
) -> execution_pb2.ExecutionError:
    """Give the error of a node from that of the last of its attempts.

    Source: flytepropeller v1.16 controller/nodes/executor.go.
    """
    kind = execution_pb2.ExecutionError.ErrorKind.Name(error.kind)
    return execution_pb2.ExecutionError(
        code=f"RetriesExhausted|{error.code}",
        kind=execution_pb2.ExecutionError.USER,
        message=f"[{attempts}/{attempts}] currentAttempt done. Last Error: {kind}::{error.message}",
    )


def cuda_error(_pod_name: str) -> execution_pb2.ExecutionError:
    """Give the error of a task that raised."""
    message = (
        "Traceback (most recent call last):\n"
        '  File "/root/pipelines/train.py", line 118, in train_model\n'
        "    loss.backward()\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    return execution_pb2.ExecutionError(
        code="USER:RuntimeError", kind=execution_pb2.ExecutionError.USER, message=message
    )


def preempted(pod_name: str) -> execution_pb2.ExecutionError:
    """Give the error of a pod whose machine was taken away."""
    message = (
        f"[{pod_name}] Pod was terminated in response to imminent node shutdown: "
        "the machine was preempted"
    )
    return execution_pb2.ExecutionError(
        code="Interrupted", kind=execution_pb2.ExecutionError.SYSTEM, message=message
    )


Failure = Callable[[str], execution_pb2.ExecutionError]
"""A way in which a pod may fail: makes the error from the name of the pod."""

FAILURES: tuple[Failure, ...] = (out_of_memory, cuda_error, preempted)
