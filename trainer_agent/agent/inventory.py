"""What this node is: host, address, slots, versions."""

import ipaddress
import json
import platform
import socket
import subprocess
from urllib.parse import urlsplit

import msgspec
import psutil

import trainer_agent
from trainer_agent.agent import procs
from trainer_agent.agent.gpu import Gpus
from trainer_agent.wire.messages import Inventory, SlotFacts

_FAMILIES = (socket.AF_INET, socket.AF_INET6)
_MOST_ADDRESSES = 32

# Asked of the interpreter that trains, which need not be the agent's. Reads package metadata: importing torch takes
# seconds and a gigabyte.
_ASK = """
import json, platform
from importlib import metadata
def version(*names):
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return ""
print(json.dumps({"python": platform.python_version(), "torch": version("torch"),
                  "nccl": version("nvidia-nccl-cu13", "nvidia-nccl-cu12", "nvidia-nccl-cu11")}))
"""


def take(*, python: str, cpu_slots: int | None, server_url: str, gpus: Gpus) -> Inventory:
    """Look around. `cpu_slots` None: one slot per GPU, or one CPU slot where there is none."""
    versions = training_versions(python)
    return Inventory(
        hostname=socket.gethostname(),
        address=address_towards(server_url),
        slots=slots(gpus, cpu_slots),
        cpu_model=cpu_model(),
        cpus=psutil.cpu_count() or 0,
        memory_total=int(psutil.virtual_memory().total),
        driver=gpus.driver(),
        python=versions.get("python", ""),
        torch=versions.get("torch", ""),
        nccl=versions.get("nccl", ""),
        boot_id=procs.boot_id(),
        agent_version=trainer_agent.__version__,
        addresses=addresses(),
        knows=["check"],
    )


def with_live_slots(inventory: Inventory, live: list[SlotFacts]) -> Inventory:
    """The inventory with the slots as they are now."""
    return msgspec.structs.replace(inventory, slots=live)


def slots(gpus: Gpus, cpu_slots: int | None) -> list[SlotFacts]:
    """The GPUs; CPU slots where a number of them is asked for or there is no GPU."""
    found = [] if cpu_slots is not None else gpus.read()
    if found:
        return found
    model = cpu_model()
    return [SlotFacts(index=i, kind="cpu", model=model) for i in range(1 if cpu_slots is None else cpu_slots)]


def training_versions(python: str) -> dict[str, str]:
    """Versions of Python, torch and NCCL of the interpreter that trains; empty when it cannot be asked."""
    try:
        answer = subprocess.run([python, "-c", _ASK], capture_output=True, timeout=30, check=True)
        found: dict[str, str] = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return found


def address_towards(server_url: str) -> str:
    """The address by which other machines reach this one: that of the interface that leads to the server."""
    parts = urlsplit(server_url)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((parts.hostname or "127.0.0.1", parts.port or 80))  # sends nothing
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"


def addresses() -> list[str]:
    """Of every interface that other machines may reach."""
    found = [one for them in psutil.net_if_addrs().values() for one in them if one.family in _FAMILIES]
    known = {one.address.partition("%")[0] for one in found}
    return sorted(one for one in known if not ipaddress.ip_address(one).is_loopback)[:_MOST_ADDRESSES]


def cpu_model() -> str:
    """As the kernel names it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        return platform.machine()
    return platform.machine()
