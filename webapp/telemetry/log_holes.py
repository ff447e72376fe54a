"""What a node left out of a log, as a line in its place: the node's own file has every byte."""

from itertools import pairwise

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.runs.models import Attempt, AttemptNode, RankState
from webapp.telemetry.models import LogChunk


def holes(attempt: Attempt, rank: int) -> dict[int, bytes]:
    """Offset of the chunk behind a hole -> the line that stands for what is missing."""
    rows = LogChunk.objects.filter(attempt=attempt, rank=rank).order_by("offset")
    chunks = [(0, 0, 0), *rows.values_list("offset", "length", "skipped_lines")]
    found = {}
    for (before, length, _lines), (offset, _length, lines) in pairwise(chunks):
        if offset > before + length:
            said = sentence(attempt.pk, rank, lines, offset - before - length)
            in_line = b"" if lines else b"\n"  # nodes leave out whole lines, but for one that is too long
            found[offset] = in_line + said.encode() + b"\n"
    return found


def sentence(attempt_id: int, rank: int, lines: int, size: int | None = None) -> str:
    """`[paceline: 12 lines (3,400 bytes) were skipped here; …]`; without `size`, without the bytes."""
    told = {"lines": _number(lines), "bytes": _number(size or 0)}
    if not lines:
        said = _("%(bytes)s bytes were skipped here") % told if size else _("Something was skipped here")
    elif size is None:
        said = ngettext("%(lines)s line was skipped here", "%(lines)s lines were skipped here", lines) % told
    else:
        said = (
            ngettext(
                "%(lines)s line (%(bytes)s bytes) was skipped here",
                "%(lines)s lines (%(bytes)s bytes) were skipped here",
                lines,
            )
            % told
        )
    return f"[paceline: {said}{_whole_log(attempt_id, rank)}]"


def _whole_log(attempt_id: int, rank: int) -> str:
    """Where on which node, unless the command of an attached launch kept its output to itself."""
    parts = AttemptNode.objects.filter(attempt_id=attempt_id).select_related("attempt__run")
    if rank < 0:
        part = parts.filter(node_rank=-1 - rank).first()
    else:
        of_rank = RankState.objects.filter(attempt_id=attempt_id, rank=rank).values("node_rank")
        part = parts.filter(node_rank__in=of_rank).first()
    if part is None or part.attempt.run.is_attached:
        return ""
    path = f"attempts/{attempt_id}/" + (f"ranks/rank{rank}.log" if rank >= 0 else "launcher.log")
    told = {"node": part.node_name, "path": path}
    return _("; the whole log is on %(node)s, in %(path)s of its agent's folder") % told


def _number(value: int) -> str:
    return str(number_format(value, 0, force_grouping=True))
