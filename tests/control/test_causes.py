"""Each way of ending has its own word, its own sentence and its own next step; what was decided stands."""

import signal
import time

import pytest

from tests.control.cluster import node_of, part_of, running, say, stopped
from tests.control.test_lifecycle import kinds, state
from webapp.runs import lifecycle, wording
from webapp.runs.models import Attempt, RankState
from webapp.runs.rank_reasons import absent, last_line, latecomer, word_of

NCCL = (
    "[rank1]:[E1130 09:00:00.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=42, OpType=ALLREDUCE, NumelIn=25557032, NumelOut=25557032, Timeout(ms)=600000) ran for 600123 "
    "milliseconds before timing out.\nterminate called after throwing an instance of 'c10::DistBackendError'"
)
GLOO = (
    "Traceback (most recent call last):\n  File 'a.py', line 9, in <module>\n[rank1]:     work.wait()\n"
    "[rank1]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting "
    "1800000ms for recv operation to complete"
)
BARRIER = (
    "[rank0]: RuntimeError: [Rank 0]: Rank 3 failed to pass monitoredBarrier in 2000 ms\n"
    "[rank0]:  Original exception: \n[rank0]: [a/unbound_buffer.cc:78] Timed out waiting 2000ms for recv operation"
)
STORE = "torch.distributed.DistStoreError: Timed out after 31 seconds waiting for clients. 1/2 clients joined."
CONNECT = (
    "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to connect to "
    "(10.0.0.1, 29500)."
)
CLOSED = (
    "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed. Did the remote "
    "server shutdown or crash?"
)
REMOTE = (
    "torch.distributed.DistBackendError: NCCL error in: x.cpp:3\nncclRemoteError: A call failed possibly due to a "
    "network error or a remote process exiting prematurely."
)
SIZES = (
    "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [enforce fail at /x/gloo/"
    "transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 128000 vs 2. Received data size doesn't match "
    "expected size. Is there a distributed collective mismatch in your code?"
)
CALLS = (
    "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint("
    "SequenceNumber=7, OpType=ALLREDUCE), but Rank 1 is running collective: CollectiveFingerPrint(OpType=BROADCAST)."
)
LEFTOVER = "\n[rank1]:[W1130 09:00:00.2 ProcessGroupNCCL.cpp:15] Warning: destroy_process_group() was not called"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (NCCL, "collective_timeout"),
        (GLOO, "collective_timeout"),
        (BARRIER, "collective_timeout"),
        (SIZES, "collective_mismatch"),
        (CALLS, "collective_mismatch"),
        (STORE, "rendezvous"),
        (CONNECT, "rendezvous"),
        (CLOSED, "peer_gone"),
        (REMOTE, "peer_gone"),
        ("RuntimeError: [a/pair.cc:534] Connection closed by peer [10.0.0.2]:4711", "peer_gone"),
        ("Traceback (most recent call last):\n  x\nMemoryError", "host_memory"),
        ("RuntimeError: [enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory", "host_memory"),
        ("OSError: [Errno 12] Cannot allocate memory", "host_memory"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "out_of_memory"),
        ("ModuleNotFoundError: No module named 'apex'", "import_error"),
        ("  File 'a.py', line 3\n    x = = 1\nSyntaxError: invalid syntax", "syntax_error"),
        ("RuntimeError: The server socket has failed to listen: EADDRINUSE", "port_in_use"),
        ("ValueError: the server timed out", ""),
        ("", ""),
    ],
)
def test_real_last_words_have_their_word(text: str, word: str):
    assert word_of(text) == word


def test_what_was_raised_is_told_and_not_what_was_printed_after_it():
    assert last_line(GLOO + LEFTOVER).endswith("Timed out waiting 1800000ms for recv operation to complete")
    assert last_line("Traceback (most recent call last):\n  cut off") == "cut off"


def test_who_had_not_arrived_is_said_by_the_barrier_or_by_clearly_fewer_steps():
    assert absent(BARRIER) == 3
    assert absent(GLOO) is None
    assert latecomer({0: 50, 1: 50, 2: 41, 3: 50}) == 2
    assert latecomer({0: 50, 1: 49}) is None  # a step that is under way
    assert latecomer({0: 50, 1: 41, 2: 41}) is None
    assert latecomer({0: 50}) is None


ENDS = [
    ("rank_exit", "code", {"code": 3, "signal": None, "traceback": "KeyError: 'x'"}),
    ("killed_by_signal", "code", {"code": None, "signal": signal.SIGSEGV, "traceback": "ImportError: only printed"}),
    ("out_of_memory", "code", {"code": 1, "signal": None, "traceback": "CUDA out of memory.", "oom": True}),
    ("host_memory", "code", {"code": 1, "signal": None, "traceback": "MemoryError"}),
    ("oom_killed", "code", {"code": None, "signal": 9, "traceback": "", "oom": True, "oom_by": "kernel_log"}),
    ("import_error", "code", {"code": 1, "signal": None, "traceback": "ImportError: no x"}),
    ("syntax_error", "code", {"code": 1, "signal": None, "traceback": "SyntaxError: invalid syntax"}),
    ("rendezvous", "network", {"code": 1, "signal": None, "traceback": STORE}),
    ("collective_timeout", "code", {"code": None, "signal": signal.SIGABRT, "traceback": NCCL}),
    ("collective_mismatch", "code", {"code": None, "signal": signal.SIGABRT, "traceback": SIZES}),
    ("peer_gone", "code", {"code": 1, "signal": None, "traceback": CLOSED}),
]


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_client")
@pytest.mark.parametrize(("reason", "cause", "exited"), ENDS, ids=[end[0] for end in ENDS])
def test_each_end_of_a_rank_is_told_apart_and_stands(reason, cause, exited):
    attempt = running(nodes=1)
    part = part_of(attempt, 0)
    say(part, "rank_exited", 1, **exited)
    lifecycle.request_stop(attempt.run, "ana")
    lifecycle.expire(attempt)
    stopped(attempt)
    assert state(attempt) == ("ended", "failed", cause, reason)
    sentence, step = wording.outcome_sentence(attempt), wording.next_step(attempt)
    assert sentence
    assert step
    assert "?" not in sentence.replace("crash?", "").replace("your code?", "")
    lifecycle.request_stop(attempt.run, "ana")
    lifecycle.lose(part, silent=700)
    say(part, "rank_exited", 0, at=1.0, code=9, signal=None, traceback="KeyError: earlier than all")
    say(part, "stopping", signal="SIGTERM", grace=5, reason="limit")
    say(part, "finished", launcher_code=None, launcher_signal=9, survivors=[], reason="node_rebooted")
    assert state(attempt) == ("ended", "failed", cause, reason)


def test_no_two_reasons_share_a_sentence():
    sentences = [str(text) for text in wording.REASONS.values()]
    assert len(set(sentences)) == len(sentences)


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_client")
def test_a_wait_in_vain_names_the_rank_that_had_not_arrived():
    attempt = running()
    RankState.objects.filter(attempt=attempt).update(made=50)
    RankState.objects.filter(attempt=attempt, rank=3).update(made=20)
    say(part_of(attempt, 0), "rank_exited", 1, code=1, signal=None, traceback=GLOO)
    assert state(attempt) == ("stopping", "", "", "")
    assert wording.outcome_sentence(attempt) == "A rank failed. Finding out which was the first."
    stopped(attempt)
    assert state(attempt) == ("ended", "failed", "code", "collective_timeout")
    node = part_of(attempt, 0).node_name
    assert wording.outcome_sentence(attempt).startswith(
        f"Rank 3 had not arrived when rank 1 on {node} gave up waiting for a collective."
    )


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_client")
def test_a_launcher_that_is_killed_is_named_although_its_ranks_died_first():
    attempt = running(nodes=1)
    part = part_of(attempt, 0)
    say(part, "rank_exited", 0, code=None, signal=signal.SIGTERM)
    say(part, "finished", launcher_code=None, launcher_signal=9, survivors=[], reason="exited")
    assert state(attempt) == ("ended", "failed", "code", "launcher_killed")
    assert wording.outcome_sentence(attempt) == f"The launcher on {part.node_name} was ended by SIGKILL."


@pytest.mark.django_db
def test_processes_that_no_kill_ends_are_a_flag_beside_the_outcome_and_keep_their_slots(redis_client):
    from tests.control.cluster import beat
    from webapp.nodes import heartbeats
    from webapp.nodes.models import Slot

    attempt = running(nodes=1)
    part, node = part_of(attempt, 0), node_of(attempt, 0)
    for rank in (0, 1):
        say(part, "rank_exited", rank, code=0, signal=None)
    say(part, "finished", launcher_code=0, survivors=[{"pid": 5, "name": "python", "state": "D"}, {"odd": 1}])
    assert state(attempt)[:2] == ("ended", "succeeded")
    assert Slot.objects.filter(attempt=attempt).count() == 2
    sentence = wording.cleanup_sentence(attempt)
    assert sentence.startswith(f"Not cleaned up: python (pid 5) on {node.name} could not be ended")
    moment = time.time()
    for later, held in ((1, [attempt.pk]), (2, [attempt.pk]), (3, [])):
        assert Slot.objects.filter(attempt=attempt).count() == 2
        beat(redis_client, node, *held, at=moment + later)
        heartbeats.read(part.attempt.created_at)
    assert not Slot.objects.exclude(attempt=None).exists()
    assert wording.cleanup_sentence(Attempt.objects.get(pk=attempt.pk)) == ""
    assert kinds(attempt)[-3:] == ["ended", "incident_opened", "clean"]  # it made no step
