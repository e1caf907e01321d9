"""What users, agents and libraries write contains the words of the rules, and must stay unknown."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.reason_classifier import classify_reason
from spanwise_server.domain.reason_rules import RULES

PROSE = [
    # Quotas and admission
    "ResourceExhausted: exceeded quota: bigquery slots",
    "exceeded quota: bigquery slots",
    "Insufficient quota for gpt-4 tokens",
    "insufficient quota for this month, please upgrade",
    "openai.RateLimitError: exceeded quota: gpt-4 tokens, requested: 9000",
    "google.api_core.exceptions.Forbidden: 403 Quota exceeded: Your project exceeded quota",
    "Exceeded resourcequota: the intern asked for too much",
    "Quota for task has exceeded. Waiting for the resource owner to call me back",
    "Admitted by ClusterQueue operator Bob after review",
    "my ClusterQueue team-a is inactive on Sundays",
    "couldn't assign flavors to pod set because the ice cream was gone",
    'my job: admission webhook "x" denied the request is a message I print',
    'admission webhook "x" denied the requester',
    'failed calling webhook "slack" of our team',
    'policy check: violates PodSecurity "restricted:latest" says our linter',
    "maximum memory usage per user is 4 GB",
    "maximum memory usage per container is high, but nobody knows why it is so",
    "failed quota: monthly: must specify a credit card said the API",
    "Error creating: dataframe from csv",
    "Error creating: could not create model registry entry",
    "the server has received too many requests and has asked us to try again later, so I slept",
    "Resources cannot be allocated with Topology locality is what the docs say",
    "malloc failed due to fragmentation",
    # Scheduling and machines
    "step 0/3 nodes are available: go",
    "0/3 nodes are available: go",
    "0/3 nodes are available for rent",
    "all nodes are available",
    "all nodes are unavailable in the Dask cluster",
    "graph: 0/12 nodes are available: 3 Insufficient cpu",
    "no nodes available to schedule pods default/tikv-0",
    "There are no nodes available to schedule pods, says the README",
    "Agent: pod triggered scale-up of the vector store",
    "my code triggered scale-up",
    "the pod didn't trigger scale-up: 1 max node group size reached",
    "Node scale up in zones a and b of the phase diagram failed: diverged",
    "Failed to schedule pod, sorry",
    "failed to schedule pod, err: timeout in my own scheduler",
    "Pod should schedule on Monday",
    "Pod should schedule on: the big machine",
    "pod should schedule on worker-node-1 (if labels match)",
    "Successfully assigned task to worker",
    "Successfully assigned labels to 1024 images",
    "Successfully assigned default/driver to the on-call engineer",
    "the request is queued and waiting for allocation",
    "my pod group is not ready, 6 people are missing",
    "waiting for scheduling gates at the airport",
    "Preempted by Bob on node 5 of the graph",
    "Preempted by pod on node",
    "the scheduler is preempting to accommodate a higher priority pod of dolphins",
    "Preempted to accommodate a workload of tests",
    "the node was low on resource: memory leak found by user code",
    "The node was low on resource: patience",
    "The node had condition: [happy]",
    "Container ship exceeded its local ephemeral storage limit",
    "Spot ITN received. What does ITN stand for?",
    "Rebalance recommendation received for portfolio 12",
    "Rebalance recommendation received. Sell bonds",
    "Node is not ready to be merged",
    "node is in progress of shutting down my notebook",
    "Marking for deletion Pod of whales",
    "Evicted podcasts from the cache",
    "cache: evicted pod entries",
    # Images and volumes
    "Agent: back-off pulling image from my cache",
    "Back-off pulling image from my cache",
    "Failed to pull image from S3 bucket: access denied",
    "Failed to pull image embeddings",
    'Pulling image "cat.png" from the bucket for classification',
    "Successfully pulled images for training",
    'Container image "x" looks fine',
    'Failed to inspect image "cat.png": cannot identify image file',
    "Error: ErrImagePull happened in my other job",
    "I got ImagePullBackOff yesterday",
    "MountVolume.SetUp failed for volume of water",
    "AttachVolume.Attach succeeded for volumes 1 and 2",
    "Unable to attach or mount volumes: book 1 and 2 are missing",
    # Containers
    "Error: failed to create dataframe from csv",
    "Error: failed to start training",
    "Error: failed to generate report",
    "Error: failed to reserve seat",
    "Error: context deadline exceeded while calling llm",
    "rpc error: context deadline exceeded",
    'Error: secret "db-password" not found in vault path kv/prod',
    "Error: couldn't find key 'id' in dict",
    "Error: container create failed: portainer says no",
    "Created container registry for user",
    "Created container: a blob container for the user",
    "Started container ship simulation",
    "Failed to create pod sandbox environment for tests",
    "Pod sandbox changed, it will be killed by my script",
    "network is not ready: weights are still loading",
    "Back-off restarting failed container of pandas rows",
    "back-off 5m0s restarting failed containers",
    "Container primary failed liveness probe, will be restarted by hand",
    "Mars probe failed: no signal",
    "the model was OOMKilled twice",
    "OOMKilled by CUDA: out of memory",
    "[primary] terminated with exit code (1). Reason [Error]. Message: OOMKilled",
    "my log: [primary] terminated with exit code (137). Reason [OOMKilled]. Message: ",
    # Plugins and operators
    "the job was launched by somebody",
    "job submitted to the queue",
    "Job submitted by alice",
    "launched 12 workers",
    "environment is initializing the model",
    "SparkApplication x was submitted successfully by the marketing team",
    "the SparkApplication x was submitted successfully",
    "Created head pod of orcas",
    "Created worker pods",
    "Created RayCluster for the demo",
    "PyTorchJob x is created. Now wait",
    "A job x is created.",
    "Created pod: a podcast about whales",
    "cache reservation held by another execution of my mind",
    # Errors and lines of logs of libraries
    "ValueError: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "kubernetes.client.exceptions.ApiException: (403) Reason: Forbidden: exceeded quota: x",
    "docker.errors.ImageNotFound: 404 Client Error: pull access denied for private",
    "botocore.exceptions.ClientError: An error occurred (ThrottlingException): Rate exceeded",
    '2026-01-15 08:31:24 INFO Pulling image "a"',
    "WARNING:root:Node is not ready",
    "[INFO] Created container primary",
    "> Successfully assigned default/a to b",
    '"0/3 nodes are available: 3 Insufficient cpu." is what kubectl printed',
    "FailedScheduling: the meeting could not be scheduled",
    "Unschedulable: nobody has time",
    "Evicted: the tenant did not pay",
    "Pod was rejected: by the committee",
    "[ContainersNotReady|ContainerCreating] is a state of Kubernetes",
    "state: [ContainersNotReady|ContainerCreating]: containers with unready status: [primary]|",
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_with_the_words_of_a_rule_means_nothing(text: str) -> None:
    assert classify_reason(text) is None


EXAMPLES = [example for rule in RULES for example in rule.examples]
WORDS = st.text(string.ascii_letters + string.digits + " .'", min_size=1, max_size=30)


@given(
    WORDS.map(lambda words: f"I {words}"), st.sampled_from("|,;:>\n("), st.sampled_from(EXAMPLES)
)
def test_known_text_that_somebody_quotes_means_nothing(words: str, mark: str, example: str) -> None:
    assert classify_reason(f"{words}{mark} {example}") is None
