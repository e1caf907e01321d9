"""What Kubernetes and Flyte say, in their words."""

from flyteidl.core import execution_pb2

SUBMITTED = "task submitted to K8s"
NO_MACHINE_NOTE = (
    "0/12 nodes are available: 3 Insufficient nvidia.com/gpu, 9 node(s) didn't match Pod's node "
    "affinity/selector. preemption: 0/12 nodes are available: 3 No preemption victims found for "
    "incoming pod, 9 Preemption is not helpful for scheduling."
)
NO_MACHINE = f"Unschedulable:{NO_MACHINE_NOTE}"
SCALE_UP = "pod triggered scale-up: [{gpu-a100-pool 3->4 (max: 8)}]"
CREATING = "[ContainersNotReady|ContainerCreating]: containers with unready status: [primary]|"
CREATED = "Created container primary"
STARTED = "Started container primary"
STOPPING = "Stopping container primary"

_CPU_IMAGE = "ghcr.io/example/pipelines:v1.4.2"
_GPU_IMAGE = "ghcr.io/example/pipelines-cuda:v1.4.2"
_GPU_NODE = "n2"


def image(node_id: str) -> str:
    """Give the image that a node runs."""
    return _GPU_IMAGE if node_id == _GPU_NODE else _CPU_IMAGE


def assigned(pod_name: str, project: str, domain: str, node_id: str) -> str:
    """Give what the scheduler says when it has found a machine."""
    machine = "gpu-a100-pool-4" if node_id == _GPU_NODE else "cpu-pool-2"
    return f"Successfully assigned {project}-{domain}/{pod_name} to {machine}"


def pulling(node_id: str) -> str:
    """Give what the kubelet says when it begins to pull."""
    return f'Pulling image "{image(node_id)}"'


def pulled(node_id: str, pull_s: float) -> str:
    """Give what the kubelet says when it has pulled."""
    size_bytes = 9_812_345_678 if node_id == _GPU_NODE else 412_345_678
    minutes, seconds = divmod(pull_s, 60)
    took = f"{int(minutes)}m{seconds:.3f}s" if minutes else f"{seconds:.3f}s"
    return (
        f'Successfully pulled image "{image(node_id)}" in {took} ({took} including waiting). '
        f"Image size: {size_bytes} bytes."
    )


def present(node_id: str) -> str:
    """Give what the kubelet says when it need not pull."""
    return f'Container image "{image(node_id)}" already present on machine'


def failure(chance: float, pod_name: str) -> execution_pb2.ExecutionError:
    """Give one of three ways to fail.

    Args:
        chance: From 0 up to, not including, 1.
        pod_name: Pod that fails.
    """
    failures = (
        execution_pb2.ExecutionError(
            code="OOMKilled",
            kind=execution_pb2.ExecutionError.USER,
            message=(
                f"[{pod_name}] terminated with exit code (137). Reason [OOMKilled]. Message: \n."
            ),
        ),
        execution_pb2.ExecutionError(
            code="USER:RuntimeError",
            kind=execution_pb2.ExecutionError.USER,
            message=(
                "Traceback (most recent call last):\n"
                '  File "/root/pipelines/train.py", line 118, in train_model\n'
                "    loss.backward()\n"
                "RuntimeError: CUDA error: an illegal memory access was encountered\n"
            ),
        ),
        execution_pb2.ExecutionError(
            code="Interrupted",
            kind=execution_pb2.ExecutionError.SYSTEM,
            message=(
                f"[{pod_name}] Pod was terminated in response to imminent node shutdown: "
                "the machine was preempted"
            ),
        ),
    )
    return failures[int(chance * len(failures))]
