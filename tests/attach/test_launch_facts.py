"""Job, place and size of a launch, read from its command line and the scheduler's variables."""

import pytest

from trainer_agent.cli.launch_facts import facts_of
from trainer_agent.cli.torchrun_flags import flags_of, nodes_of, ranks_per_node

SLURM = {
    "SLURM_JOB_ID": "77",
    "SLURM_STEP_ID": "0",
    "SLURM_CLUSTER_NAME": "big",
    "SLURM_NNODES": "2",
    "SLURM_NTASKS": "2",
    "SLURM_NODEID": "1",
    "SLURM_PROCID": "1",
}


@pytest.mark.parametrize(
    "command",
    [
        "torchrun --nnodes=2 --nproc-per-node=4 --node-rank=1 train.py --nnodes 9",
        "torchrun --nnodes 2 --nproc_per_node 4 --node_rank 1 train.py",
        "/opt/venv/bin/torchrun --standalone --nnodes=2 --nproc-per-node=4 --node_rank=1 -m my.train",
        "python -m torch.distributed.run --nnodes=2 --nproc-per-node=4 --node-rank=1 train.py",
        "python3 -u -m torch.distributed.launch --use_env --nnodes=2 --nproc_per_node=4 --node_rank=1 train.py",
    ],
)
def test_every_way_to_write_a_torchrun_command_says_the_same(command):
    facts = facts_of(command.split(), {})

    assert (facts.nodes, facts.ranks_per_node, facts.node_rank) == (2, 4, 1)


def test_flags_of_the_script_are_not_torchruns():
    assert flags_of(["python", "train.py", "-m", "torch.distributed.run", "--nnodes=3"], {}) is None
    assert flags_of(["torchrun", "train.py", "--nnodes=3"], {}) == {}


def test_pet_variables_count_where_a_flag_is_not_given():
    flags = flags_of(["torchrun", "--nproc-per-node=2", "train.py"], {"PET_NNODES": "3", "PET_NPROC_PER_NODE": "8"})

    assert flags is not None
    assert nodes_of(flags) == (3, 3)
    assert ranks_per_node(flags, gpus=0, cpus=1) == 2


@pytest.mark.parametrize(("text", "gpus", "expected"), [("gpu", 8, 8), ("auto", 4, 4), ("auto", 0, 16), ("cpu", 8, 16)])
def test_words_for_ranks_per_node_count_devices(text, gpus, expected):
    assert ranks_per_node({"nproc-per-node": text}, gpus=gpus, cpus=16) == expected


def test_an_elastic_range_counts_its_fewest_nodes():
    assert nodes_of({"nnodes": "2:4"}) == (2, 4)
    assert facts_of(["torchrun", "--nnodes=1:4", "--rdzv-endpoint=a:1", "t.py"], {}).nodes == 1


def test_a_single_node_is_a_job_of_its_own():
    assert facts_of(["torchrun", "--standalone", "--nproc-per-node=2", "train.py"], {}).job == ""


def test_the_word_that_was_asked_for_comes_first():
    assert facts_of(["torchrun", "t.py"], SLURM, job="mine").job == "job mine"


def test_all_nodes_of_a_slurm_step_meet_and_keep_their_places():
    first = facts_of(["torchrun", "t.py"], {**SLURM, "SLURM_NODEID": "0", "SLURM_PROCID": "0"})
    second = facts_of(["torchrun", "t.py"], SLURM)

    assert first.job == second.job == "slurm big 77.0"
    assert (first.node_rank, second.node_rank) == (0, 1)


def test_a_requeued_slurm_job_is_the_same_job_and_another_launch():
    before = facts_of(["torchrun", "t.py"], SLURM)
    after = facts_of(["torchrun", "t.py"], {**SLURM, "SLURM_RESTART_COUNT": "1"})

    assert before.job == after.job
    assert before.launch != after.launch


def test_steps_of_one_slurm_job_are_different_jobs():
    assert facts_of(["a"], SLURM).job != facts_of(["a"], {**SLURM, "SLURM_STEP_ID": "1"}).job


def _node(rank: int, *more: str) -> list[str]:
    return ["torchrun", "--nnodes=2", f"--node-rank={rank}", "--master-addr=10.0.0.1", *more, "train.py", "--lr", "1"]


def test_nodes_with_one_master_meet_whatever_their_rank():
    assert facts_of(_node(0), {}).job == facts_of(_node(1), {}).job != ""


def test_another_command_at_the_same_master_is_another_job():
    assert facts_of(_node(0), {}).job != facts_of(_node(0, "--max-restarts=1"), {}).job
    assert facts_of(_node(0), {}).job != facts_of([*_node(0), "--lr", "2"], {}).job


def test_nodes_with_one_rendezvous_meet():
    command = ["torchrun", "--nnodes=2", "--rdzv-id=9", "--rdzv-endpoint=host:29400", "train.py"]

    assert facts_of(command, {}).job.startswith("rdzv host:29400 9 ")
    assert facts_of(command, {}).node_rank is None


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("torchrun --nproc-per-node 2 src/train_gpt.py", "train_gpt"),
        ("python -m torch.distributed.run -m pkg", "pkg"),
        ("bash launch.sh", "launch"),
        ("sleep 1", "sleep"),
    ],
)
def test_a_run_is_named_after_its_script(command, name):
    assert facts_of(command.split(), {}).name == name
