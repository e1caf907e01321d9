"""Volumes are attached to the machine and mounted into the pod, before any image is pulled."""

from spanwise_server.domain.events import Severity
from spanwise_server.domain.reason_rules.rule import Edge, Rule
from spanwise_server.domain.spans import Operation

_ATTACH = Operation.VOLUME_ATTACH
_OPERATIONS = "kubernetes v1.30 pkg/volume/util/operationexecutor/operation_generator.go"
_KUBELET = "kubernetes v1.30 pkg/kubelet/kubelet.go, pkg/kubelet/volumemanager/volume_manager.go"
_NOT_MOUNTED = r"unable to attach or mount volumes: unmounted volumes=\["

VOLUME_RULES = (
    Rule(
        "kubernetes/volume-attached",
        _ATTACH,
        Edge.ENDS,
        Severity.INFO,
        "attachvolume.attach succeeded for volume",
        'attachvolume.attach succeeded for volume "',
        _OPERATIONS,
        ('AttachVolume.Attach succeeded for volume "pvc-6b1c"',),
    ),
    Rule(
        "kubernetes/volume-multi-attach",
        _ATTACH,
        Edge.BEGINS,
        Severity.WARNING,
        "multi-attach error for volume",
        'multi-attach error for volume "',
        "kubernetes v1.30 pkg/controller/volume/attachdetach/reconciler/reconciler.go",
        (
            (
                'Multi-Attach error for volume "pvc-6b1c" Volume is already exclusively attached '
                "to one node and can't be attached to another"
            ),
            'Multi-Attach error for volume "pvc-6b1c" Volume is already used by pod(s) af6-n1-0',
        ),
    ),
    Rule(
        "kubernetes/volume-attach-failed",
        _ATTACH,
        Edge.BEGINS,
        Severity.WARNING,
        "attachvolume.",
        r'attachvolume\.\w{1,60} failed for volume "',
        _OPERATIONS,
        (
            (
                'AttachVolume.Attach failed for volume "pvc-6b1c" : rpc error: code = Internal '
                "desc = Could not attach volume"
            ),
        ),
    ),
    Rule(
        "kubernetes/volume-mount-timeout",
        _ATTACH,
        Edge.BEGINS,
        Severity.WARNING,
        "unable to attach or mount volumes: ",
        _NOT_MOUNTED,
        _KUBELET,
        (
            (
                "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes="
                "[], failed to process volumes=[]: timed out waiting for the condition"
            ),
            (
                "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes="
                "[], failed to process volumes=[]: context deadline exceeded"
            ),
        ),
        cause="timed out waiting|context deadline exceeded",
    ),
    Rule(
        "kubernetes/volumes-not-mounted",
        _ATTACH,
        Edge.BEGINS,
        Severity.WARNING,
        "unable to attach or mount volumes: ",
        _NOT_MOUNTED,
        _KUBELET,
        ("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[]",),
    ),
    Rule(
        "kubernetes/volume-mount-failed",
        _ATTACH,
        Edge.BEGINS,
        Severity.WARNING,
        " for volume ",
        r'(?:mount|map)volume\.\w{1,60}(?: [\w ]{1,60})? failed for volume "',
        _OPERATIONS,
        (
            'MountVolume.SetUp failed for volume "config" : configmap "settings" not found',
            'MountVolume.MountDevice failed for volume "pvc-6b1c" : rpc error: code = Aborted',
            'MountVolume.NodeAffinity check failed for volume "pvc-6b1c" : no matching terms',
        ),
    ),
    Rule(
        "kubernetes/volume-not-attached-yet",
        _ATTACH,
        Edge.BEGINS,
        Severity.WARNING,
        "according to node status for volume",
        'volume not attached according to node status for volume "',
        _OPERATIONS,
        ('Volume not attached according to node status for volume "pvc-6b1c"',),
    ),
)
