"""Chart numbers of the run page as JSON: panels in a window, and the keys that the script logged."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.accounts.signed_in import signed_in
from webapp.numbers_json import numbers_json
from webapp.projects.models import Role
from webapp.runs import asked, queries
from webapp.runs.models import Run
from webapp.telemetry.ahead import read_ahead
from webapp.telemetry.charts import METRIC_OF_HEAT, Charts
from webapp.telemetry.loss import loss_key
from webapp.telemetry.points import BUILT_IN, STEP, STEP_END
from webapp.telemetry.read import Reader
from webapp.telemetry.run_read import RunReader
from webapp.telemetry.units import is_of_link
from webapp.telemetry.value_panels import REDUCTIONS

LOGGED = ("value", *REDUCTIONS)  # what a panel of a logged metric is named by, before the colon
PANELS = ("step_time", "phases", "comm", "busbw", "holes")
MOST_PANELS = 40
KEYS_PER_PAGE = 60


@dataclass(frozen=True)
class Window:
    """Steps from `lo` to `hi`, or the newest `last`; none of them means all."""

    lo: int | None
    hi: int | None
    last: int | None


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def panels(request: HttpRequest, uid: str) -> HttpResponse:
    """`?ids=step_time,heat:backward,value:loss,mean:loss&last=300` or `&lo=&hi=`, `&width=` in pixels.

    `&attempt=1`: that one alone.

    `begins`: [[attempt, its first step], …] when the charts hold several attempts.
    """
    return panels_of(request, queries.run_for(signed_in(request), uid, Role.VIEWER))


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def keys(request: HttpRequest, uid: str) -> JsonResponse:
    """Logged keys that hold every word of `q`, by name, `page` by page; the loss has a card of its own."""
    return keys_of(request, queries.run_for(signed_in(request), uid, Role.VIEWER))


def panels_of(request: HttpRequest, run: Run) -> HttpResponse:
    """The answer of `panels`, to whoever may see the run."""
    ids = asked.names(request.GET, "ids", MOST_PANELS)
    for panel_id in ids:
        _check(panel_id)
    width = asked.whole(request.GET, "width", 50, 4000) or 600
    window = _window(request)
    reader = _reader(run, request)
    reader.know(name for kind, _colon, name in (i.partition(":") for i in ids) if kind in ("device", *LOGGED))
    bounds = _Bounds(reader, window)
    spans = {i: bounds.of(i) for i in ids}
    charts = {span: Charts(reader, *span, width) for span in set(spans.values())}
    read_ahead(reader, (ask for i, span in spans.items() for ask in charts[span].asks(i)))
    found = {i: charts[span].panel(i) for i, span in spans.items()}
    answer = {"attempt": reader.attempt.number, "begins": _begins(reader), "panels": found}
    return numbers_json(request, answer)


def keys_of(request: HttpRequest, run: Run) -> JsonResponse:
    """The answer of `keys`, to whoever may see the run."""
    axes = _reader(run, request).axes()
    logged = sorted(name for name, axis in axes.items() if axis == "step" and name not in BUILT_IN)
    loss = loss_key(logged)
    words = request.GET.get("q", "").lower().split()
    wanted = [name for name in logged if (words or name != loss) and all(word in name.lower() for word in words)]
    number = asked.whole(request.GET, "page", 1, 10_000) or 1
    pages = Paginator(wanted, KEYS_PER_PAGE)
    shown = list(pages.page(number).object_list) if number <= pages.num_pages else []
    devices = sorted(name for name, axis in axes.items() if axis == "time" and not is_of_link(name))
    return JsonResponse({"keys": shown, "total": len(wanted), "all": len(logged), "loss": loss, "devices": devices})


def _reader(run: Run, request: HttpRequest) -> Reader | RunReader:
    """The whole run, or the attempt that is asked for."""
    return Reader(asked.attempt_of(run, request.GET)) if asked.names_attempt(request.GET) else RunReader(run)


def _begins(reader: Reader | RunReader) -> list[list[int]]:
    spans = reader.spans if isinstance(reader, RunReader) else []
    return [[number, first] for number, first, _last in spans] if len(spans) > 1 else []


def _check(panel_id: str) -> None:
    kind, colon, name = panel_id.partition(":")
    # A script may log under the empty name.
    if panel_id in PANELS or (kind == "heat" and name in METRIC_OF_HEAT) or (kind in ("device", *LOGGED) and colon):
        return
    raise asked.BadQuestion(_("There is no chart named “%s”.") % panel_id[:80])


def _window(request: HttpRequest) -> Window:
    lo, hi = (asked.whole(request.GET, name, -asked.BIGGEST, asked.BIGGEST) for name in ("lo", "hi"))
    if lo is not None and hi is not None and hi < lo:
        raise asked.BadQuestion(_("“hi” must not be below “lo”."))
    return Window(lo, hi, asked.whole(request.GET, "last", 1, asked.BIGGEST))


class _Bounds:
    """First and last index (step or epoch second) of a panel, each None for "open"."""

    def __init__(self, reader: Reader | RunReader, window: Window) -> None:
        self.reader, self.window = reader, window
        self._last: dict[str, int | None] = {}
        self._ends: dict[int, int | None] = {}

    def of(self, panel_id: str) -> tuple[int | None, int | None]:
        kind, _colon, name = panel_id.partition(":")
        lo, hi = self.window.lo, self.window.hi
        if self.window.last is not None:
            newest = self._newest(name if kind in LOGGED else STEP)
            lo = None if newest is None else newest - self.window.last + 1
        return (self._ended(lo), self._ended(hi)) if kind == "device" else (lo, hi)

    def _newest(self, name: str) -> int | None:
        # A value with a step count of its own (an epoch, say) shows its own newest steps.
        if name not in self._last:
            metric = self.reader.metric(name)
            self._last[name] = metric.last_index if metric is not None else self.reader.attempt.last_step
        return self._last[name]

    def _ended(self, step: int | None) -> int | None:
        """When the step ended, in whole epoch seconds."""
        if step is not None and step not in self._ends:
            near = self.reader.series(STEP_END, lo=step, hi=step)
            self._ends[step] = int(near.values[near.present].max()) if near.present.any() else None
        return None if step is None else self._ends[step]
