"""The Config tab: what was asked for, the exact command of each node, the environment, nodes and ranks."""

import shlex
from statistics import median
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from trainer_agent.wire.launch import torchrun_argv
from webapp.imports.models import Imported
from webapp.language.numerals import numeral
from webapp.runs.command_line import shown_command
from webapp.runs.models import Attempt, AttemptNode, RankState, Run
from webapp.runs.spec import RunSpec

# What probes say that they cannot see, in their words; what is not among these stays as it is.
_BLIND = (
    gettext_noop("no torch DataLoader is in use; loading counts as other"),
    gettext_noop("the model is not wrapped in DistributedDataParallel or FSDP; forward counts as other"),
    gettext_noop("torch.distributed is not initialised"),
    gettext_noop("DDP's own timers would make a GPU wait"),
)

_TOOLS = {"mlflow": "MLflow", "tensorboard": "TensorBoard"}
MOST_SETTINGS = 500
MOST_NODES = 64  # in the tables; the others' commands differ in the node's number alone
MOST_RANKS = 64  # in the table; of more, those that failed come first


def tables(run: Run, attempt: Attempt) -> dict[str, Any]:
    """Rows for templates/runs/run/config.html. Secrets are named, never shown."""
    imported = Imported.objects.filter(run=run).first()
    if imported is not None:  # nobody launched it here: no command, nodes or ranks of ours
        rows = [(_("Source"), imported.source), (_("Logged by"), _TOOLS.get(imported.kind, imported.kind))]
        return {"imported": True, "spec_rows": rows, "settings": _settings(run)}
    spec = RunSpec.stored(run.spec)
    parts = list(attempt.parts.select_related("node")[:MOST_NODES])
    return {
        "spec_rows": [*_spec_rows(spec), *_measuring(attempt)],
        "commands": [(part.node_name, _command(spec, attempt, part)) for part in parts] or [("", shown_command(spec))],
        "environment": sorted(spec.env.items()),
        "secret_names": sorted(spec.secret_names),
        "node_rows": [_node_row(part) for part in parts],
        "node_count": attempt.parts.count(),
        **rank_table(attempt),
    }


def _settings(run: Run) -> list[tuple[str, str]]:
    return list(run.config_values.order_by("key__name").values_list("key__name", "text")[:MOST_SETTINGS])


def rank_table(attempt: Attempt) -> dict[str, Any]:
    """Rows for templates/runs/run/ranks.html."""
    names = dict(attempt.parts.values_list("node_rank", "node_name"))
    exits = attempt.ranks.values_list("rank", "exit_code", "exit_signal")
    wanted = [rank for rank, _code, _signal in sorted(exits, key=lambda row: (not any(row[1:]), row[0]))[:MOST_RANKS]]
    found = {rank.rank: rank for rank in attempt.ranks.filter(rank__in=wanted).defer("traceback", "gaps")}
    return {
        "rank_rows": [(found[k], names.get(found[k].node_rank, ""), *_sight(found[k])) for k in wanted if k in found],
        "rank_count": len(exits),
    }


def _spec_rows(spec: RunSpec) -> list[tuple[str, str]]:
    shape = _("%(nodes)s nodes × %(each)s ranks") % {"nodes": spec.nodes, "each": spec.ranks_per_node}
    rows = [
        (_("Command"), shlex.join(spec.argv)) if spec.attached else (_("Script or command"), shlex.join(spec.argv)),
        (_("Launched"), _("outside of Paceline, and watched from here") if spec.attached else ""),
        (_("Shape"), shape),
        (_("Folder on the node"), spec.workdir),
        (_("Git"), f"{spec.git_url} {spec.git_ref}".strip()),
        (_("Upload"), spec.upload_sha256[:12]),
        (
            _("Stop signal and grace"),
            _("%(signal)s, then %(s)s s") % {"signal": spec.stop_signal, "s": f"{spec.grace:g}"},
        ),
        (_("Retries"), str(spec.retries)),
        (_("Time limit"), _("%s s") % numeral(spec.timeout, ",.0f") if spec.timeout else _("none")),
        (
            _("Total steps"),
            numeral(spec.total_steps) if spec.total_steps else _("guessed from the command, if it says so"),
        ),
        (_("Deep communication view"), _("on") if spec.deep else _("off")),
        (_("Nodes checked first"), _("yes") if spec.preflight else _("no")),
    ]
    return [(name, value) for name, value in rows if value]


def _command(spec: RunSpec, attempt: Attempt, part: AttemptNode) -> str:
    if spec.attached:
        return shlex.join(part.inventory.get("command", spec.argv))
    argv = torchrun_argv(
        spec.argv,
        nnodes=spec.nodes,
        node_rank=part.node_rank,
        ranks_per_node=spec.ranks_per_node,
        master_addr=attempt.master_addr or "MASTER_ADDR",
        master_port=attempt.master_port or "MASTER_PORT",
        entry="",
    )
    return shlex.join(word for word in argv if word)


def _node_row(part: AttemptNode) -> dict[str, Any]:
    facts = part.inventory or (part.node.inventory if part.node else {})
    slots = facts.get("slots") or []
    models = sorted({slot.get("model", "") for slot in slots} - {""})
    return {"part": part, "models": ", ".join(models), **{key: facts.get(key, "") for key in _INVENTORY}}


_INVENTORY = ("hostname", "cpu_model", "cpus", "memory_total", "driver", "python", "torch", "nccl")


def _sight(rank: RankState) -> tuple[list[str], list[tuple[str, str]]]:
    """Parts of a step that the probe sees, and those that it cannot with the reason; nodes send both."""
    sees, blind = rank.facts.get("sees"), rank.facts.get("cannot_see")
    reasons = (
        [(str(part), _(str(why)) if why else "") for part, why in blind.items()] if isinstance(blind, dict) else []
    )
    return [str(part) for part in sees] if isinstance(sees, list) else [], reasons


def _measuring(attempt: Attempt) -> list[tuple[str, str]]:
    """What the probe costs the training threads, by its own clock: the median rank."""
    told = attempt.ranks.values_list("facts__probe_us", "facts__step_us")
    costs = [float(us) for us, _step in told if isinstance(us, int | float)]
    if not costs:
        return []
    shares = [us / step for us, step in told if isinstance(us, int | float) and isinstance(step, int | float) and step]
    text = _("%s µs a step and rank") % numeral(median(costs), ",.0f")
    if shares:
        text += f" ({numeral(100 * median(shares), '.2g')} %)"
    return [(_("Measuring costs"), text)]
