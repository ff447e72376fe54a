"""One example of every message, with every field set. A new version gets new samples; old golden files stay."""

import struct

from trainer_agent.wire import messages as m


def u4(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def i8(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def f8(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


SAMPLES: dict[str, m.Batch | m.Heartbeat | m.Command] = {
    "batch": m.Batch(
        v=1,
        attempt=7,
        node="n-0011aabb",
        seq=42,
        sent_at=1_790_000_000.25,
        events=[
            m.Event(kind="rank_exited", at=1_790_000_000.0, rank=1, data={"code": 3, "signal": None, "traceback": ""})
        ],
        steps=[
            m.StepColumns(
                n=2,
                rank=u4(0, 1),
                step=i8(10, 10),
                end=f8(1.5, 1.6),
                columns={"phase/step": u4(50_000, 51_000), "phase/exposed_comm": u4(4_000, 0xFFFFFFFF)},
                nbytes=f8(1e6, 1e6),
                flags=u4(2, 0),
            )
        ],
        values=[
            m.ValueColumns(
                key="loss/é 漢", n=2, rank=u4(0, 0), step=i8(9, 10), time=f8(1, 2), value=f8(float("inf"), 2)
            )
        ],
        samples=[m.SampleColumns(metric="gpu/util", n=1, rank=u4(1), time=f8(3), value=f8(97.5))],
        logs=[m.LogBytes(rank=-1, offset=12, data=b"\xff\xfe no utf-8\n", at=4.0)],
    ),
    "heartbeat": m.Heartbeat(
        v=1,
        node="n-0011aabb",
        at=5.0,
        inventory=m.Inventory(
            hostname="gpu-a",
            address="10.0.0.1",
            slots=[
                m.SlotFacts(index=0, kind="gpu", model="H200", uuid="GPU-1", memory_total=1, util=None, sm_clock=1980.0)
            ],
            cpu_model="CPU",
            cpus=16,
            memory_total=2**37,
            driver="570",
            python="3.11.7",
            torch="2.13.0",
            nccl="2.29",
            boot_id="b",
            agent_version="0.1.0",
        ),
        attempts=[m.AttemptAlive(attempt=7, ranks=[0, 1], shim=True, spool_bytes=10, unacked=1)],
        clock_offset=-0.25,
        clock_error=0.001,
        cpu=12.5,
        memory_used=2**30,
        dirty="pid 12 python",
    ),
    "batch-counts": m.Batch(
        v=1,
        attempt=7,
        node="n-0011aabb",
        seq=43,
        sent_at=1_790_000_001.25,
        events=[
            m.Event(
                kind="dropped",
                at=1_790_000_001.0,
                rank=1,
                data={"what": "steps", "count": 6, "reason": "disk_full", "first": 10, "last": 15},
            ),
            m.Event(kind="counted", at=1_790_000_001.0, rank=1, data={"made": 40, "taken": 34}),
        ],
        logs=[m.LogBytes(rank=0, offset=4096, data=b"on\n", at=4.0, skipped_lines=12)],
    ),
    "heartbeat-counts": m.Heartbeat(
        v=1,
        node="n-0011aabb",
        at=5.0,
        inventory=m.Inventory(hostname="gpu-a", address="10.0.0.1", slots=[]),
        attempts=[m.AttemptAlive(attempt=7, ranks=[0, 1], made={0: 41, 1: 40}, taken={0: 41, 1: 34})],
        trouble="No space is left on the node's disk: telemetry waits there, training goes on.",
    ),
    "start": m.StartAttempt(
        v=1,
        id=1,
        attempt=7,
        run="r-7k3q9m",
        attempt_number=1,
        node_rank=0,
        nnodes=2,
        ranks_per_node=2,
        master_addr="10.0.0.1",
        master_port=29500,
        argv=["train.py", "--lr", "0.1"],
        env={"A": "b"},
        slots=[0, 1],
        workdir="/srv/code",
        git_url="https://git.example/a.git",
        git_ref="main",
        upload_sha256="ab",
        grace=5.0,
        stop_signal="SIGINT",
        timeout=60.0,
        deep=True,
    ),
    "start-peers": m.StartAttempt(
        v=1,
        id=1,
        attempt=7,
        run="r-7k3q9m",
        attempt_number=1,
        node_rank=0,
        nnodes=2,
        ranks_per_node=1,
        master_addr="10.0.0.1",
        master_port=29500,
        argv=["train.py"],
        peers={0: ["10.0.0.1", "192.168.3.1"], 1: ["10.0.0.2"]},
    ),
    "stop": m.StopAttempt(v=1, id=2, attempt=7, signal="SIGTERM", grace=5.0, reason="user_stop"),
    "forget": m.ForgetAttempt(v=1, id=3, attempt=7),
    "autopsy": m.AutopsyAttempt(v=1, id=4, attempt=7, asked=12),
    "check-open": m.OpenCheck(v=1, id=5, check=3, token="0f1e", ports=[29400, 29499], folder="/srv/code", lasts=58.0),
    "check-probe": m.ProbePeers(
        v=1,
        id=6,
        check=3,
        stage="measuring",
        place=1,
        peers=[
            m.CheckPeer(node="n-0011aabb", address="10.0.0.1", port=40_001, meeting_port=29_404),
            m.CheckPeer(node="n-22", address="10.0.0.2"),
        ],
        turns=[0, -1],
        limit=4.0,
        window=0.1,
    ),
}
