"""Codes of errors that FlytePropeller takes from the state of a pod, and what they tell.

An error tells by its code alone. Its message ends with what the user's code wrote last, and so may
quote anything.
"""

from spanwise_server.domain.spans import Operation

_CODES = {
    Operation.CRASH_BACKOFF: ("OOMKilled", "CrashLoopBackOff"),
    # Interrupted is FlytePropeller's own, for a machine that shuts down and for SIGKILL.
    Operation.EVICTION: ("Evicted", "Interrupted", "NodeLost", "NodeShutdown", "Preempting"),
    Operation.ADMISSION: (
        "OutOfcpu",
        "OutOfmemory",
        "OutOfpods",
        "TopologyAffinityError",
        "UnexpectedAdmissionError",
    ),
    Operation.IMAGE_PULL_BACKOFF: (
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    ),
    Operation.CONTAINER_START: (
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
    ),
}

ERROR_CODES = {code: operation for operation, codes in _CODES.items() for code in codes}
"""What the time went into before an error of this code.

Source: flyteplugins v1.16 go/tasks/pluginmachinery/flytek8s/pod_helper.go, which hands on the
reason of the pod's status or, behind "ContainersNotReady|", of the container that waits; kubernetes
v1.30 pkg/kubelet.
"""
