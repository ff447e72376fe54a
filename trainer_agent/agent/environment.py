"""The environment of a launch and so of each of its ranks, made in one function."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import trainer_agent
from trainer_agent.wire import environment as names
from trainer_agent.wire.messages import StartAttempt

PACKAGE_HOME = Path(trainer_agent.__file__).resolve().parent.parent
INJECT = PACKAGE_HOME / "trainer_agent" / "inject"

# What a rank takes over from the machine. The agent's own environment may hold secrets, so all else stays behind.
_MACHINE = frozenset(
    [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "HOSTNAME",
        "VIRTUAL_ENV",
        "LD_LIBRARY_PATH",
        "LIBRARY_PATH",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
    ]
)
_MACHINE_PREFIXES = [
    "LC_",
    "CUDA_",
    "NVIDIA_",
    "NCCL_",
    "GLOO_",
    "TORCH_",
    "PYTORCH_",
    "OMP_",
    "MKL_",
    "KMP_",
    "UCX_",
    "FI_",
    "HF_HOME",
    "HF_HUB_CACHE",
    "XDG_",
    "CONDA_",
    "ROCR_",
    "HSA_",
    "TRITON_",
    "OPENBLAS_",
]
# Left by a launch that the agent itself may be part of.
_LAUNCHER_PREFIXES = ("TORCHELASTIC_", "PACELINE_")


@dataclass(frozen=True, slots=True)
class Folders:
    """Where an attempt's files are."""

    ranks: Path
    rings: Path
    checkpoints: Path


def rank_environment(
    start: StartAttempt, *, node: str, folders: Folders, gpus: bool, inherited: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Everything that launcher and ranks see: the machine's part, the user's part, then ours.

    `gpus`: the node's slots are GPUs, so the ranks see only those of the attempt.
    """
    env = {name: value for name, value in inherited.items() if comes_from_the_machine(name)}
    env.update({name: value for name, value in start.env.items() if not name.startswith(_LAUNCHER_PREFIXES)})
    users_path = start.env.get("PYTHONPATH", inherited.get("PYTHONPATH", ""))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(INJECT), users_path)))
    env["PYTHONUNBUFFERED"] = "1"
    env.setdefault("TORCH_FR_BUFFER_SIZE", "256")
    if gpus and start.slots:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, start.slots))
    if is_loopback(start.master_addr):
        env.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return env | _own_names(start, node, folders)


def is_loopback(address: str) -> bool:
    """Whether all nodes of the attempt are this machine."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _own_names(start: StartAttempt, node: str, folders: Folders) -> dict[str, str]:
    own = {
        names.RUN: start.run,
        names.ATTEMPT: str(start.attempt),
        names.MARK: mark(node, start.attempt),
        names.ATTEMPT_NUMBER: str(start.attempt_number),
        names.RING_DIR: str(folders.rings),
        names.RANK_DIR: str(folders.ranks),
        names.CHECKPOINT_DIR: str(folders.checkpoints),
        names.HOME_OF_AGENT: str(PACKAGE_HOME),
    }
    if start.deep:
        own[names.DEEP] = "1"
    if names.PROBE in start.env:
        own[names.PROBE] = start.env[names.PROBE]
    return own


def mark(node: str, attempt: int) -> str:
    """By this value in its environment a process is known as part of the attempt on this node."""
    return f"{node}/{attempt}"


def comes_from_the_machine(name: str) -> bool:
    """Whether a variable of the agent's is the machine's, which ranks take over."""
    return name in _MACHINE or name.startswith(tuple(_MACHINE_PREFIXES))
