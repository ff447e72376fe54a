"""Chart numbers of the run page as JSON: panels in a window, and the keys that the script logged."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from trainer_agent.wire.messages import METRIC_OF_PHASE
from webapp.accounts.signed_in import signed_in
from webapp.projects.models import Role
from webapp.runs import asked, queries
from webapp.runs.models import Attempt
from webapp.telemetry import read
from webapp.telemetry.models import Metric
from webapp.telemetry.points import BUILT_IN, STEP_END

PANELS = ("step_time", "phases", "comm", "busbw")
HEATS = frozenset({*METRIC_OF_PHASE, "local"})
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
def panels(request: HttpRequest, uid: str) -> JsonResponse:
    """`?ids=step_time,heat:backward,value:loss&attempt=1&last=300` or `&lo=&hi=`, `&width=` in pixels."""
    run = queries.run_for(signed_in(request), uid, Role.VIEWER)
    ids = asked.names(request.GET, "ids", MOST_PANELS)
    for panel_id in ids:
        _check(panel_id)
    width = asked.whole(request.GET, "width", 50, 4000) or 600
    window = _window(request)
    attempt = asked.attempt_of(run, request.GET)
    metrics = {metric.name: metric for metric in read.metrics(attempt)}
    from webapp.telemetry import charts

    found = {i: charts.panel(attempt, i, *_bounds(attempt, i, window, metrics), width=width) for i in ids}
    return JsonResponse({"attempt": attempt.number, "panels": found}, json_dumps_params={"allow_nan": False})


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def keys(request: HttpRequest, uid: str) -> JsonResponse:
    """Logged keys that hold every word of `q`, by name, `page` by page; the loss has a card of its own."""
    run = queries.run_for(signed_in(request), uid, Role.VIEWER)
    attempt = asked.attempt_of(run, request.GET)
    metrics = read.metrics(attempt)
    logged = sorted(metric.name for metric in metrics if is_logged(metric))
    loss = loss_key(logged)
    words = request.GET.get("q", "").lower().split()
    wanted = [name for name in logged if (words or name != loss) and all(word in name.lower() for word in words)]
    number = asked.whole(request.GET, "page", 1, 10_000) or 1
    pages = Paginator(wanted, KEYS_PER_PAGE)
    shown = list(pages.page(number).object_list) if number <= pages.num_pages else []
    devices = sorted(metric.name for metric in metrics if metric.axis == "time")
    return JsonResponse({"keys": shown, "total": len(wanted), "all": len(logged), "loss": loss, "devices": devices})


def is_logged(metric: Metric) -> bool:
    """Whether the script logged it, rather than the probe or the agent."""
    return metric.axis == "step" and metric.name not in BUILT_IN


def loss_key(names: list[str]) -> str:
    """The key that is the training loss, by its name; "" when there is none."""
    for test in (lambda n: n == "loss", lambda n: n.split("/")[-1] == "loss", lambda n: "loss" in n):
        found = [name for name in names if test(name.lower())]
        if found:
            return min(found, key=lambda name: ("train" not in name.lower(), len(name), name))
    return ""


def _check(panel_id: str) -> None:
    kind, _colon, name = panel_id.partition(":")
    if panel_id in PANELS or (kind == "heat" and name in HEATS) or (kind in ("value", "device") and name):
        return
    raise asked.BadQuestion(_("There is no chart named “%s”.") % panel_id[:80])


def _window(request: HttpRequest) -> Window:
    lo, hi = (asked.whole(request.GET, name, -asked.BIGGEST, asked.BIGGEST) for name in ("lo", "hi"))
    if lo is not None and hi is not None and hi < lo:
        raise asked.BadQuestion(_("“hi” must not be below “lo”."))
    return Window(lo, hi, asked.whole(request.GET, "last", 1, asked.BIGGEST))


def _bounds(
    attempt: Attempt, panel_id: str, window: Window, metrics: dict[str, Metric]
) -> tuple[int | None, int | None]:
    kind, _colon, name = panel_id.partition(":")
    lo, hi = window.lo, window.hi
    if window.last is not None:
        # A value with a step count of its own (an epoch, say) shows its own newest steps.
        own = metrics[name].last_index if kind == "value" and name in metrics else None
        newest = own if own is not None else _last_step(attempt, metrics)
        lo = None if newest is None else newest - window.last + 1
    return _times(attempt, lo, hi) if kind == "device" else (lo, hi)


def _last_step(attempt: Attempt, metrics: dict[str, Metric]) -> int | None:
    step = metrics.get(METRIC_OF_PHASE["step"])
    return step.last_index if step else attempt.last_step


def _times(attempt: Attempt, lo: int | None, hi: int | None) -> tuple[int | None, int | None]:
    """When the steps `lo` and `hi` ended, in whole epoch seconds."""
    return _ended(attempt, lo), _ended(attempt, hi)


def _ended(attempt: Attempt, step: int | None) -> int | None:
    if step is None:
        return None
    near = read.series(attempt, STEP_END, lo=step, hi=step)
    return int(near.values[near.present].max()) if near.present.any() else None
