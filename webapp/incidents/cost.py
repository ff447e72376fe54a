"""What an incident costs: in step time, in slot time, and in money where the project says what a slot costs. Pure."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.incidents.models import Incident
from webapp.language.numerals import numeral
from webapp.runs.templatetags.figures import hours


@dataclass(frozen=True)
class Cost:
    """Texts; empty where nothing is to be said. `stopped`: no step is made at all."""

    longer: str
    stopped: bool
    lost: str
    slots: str
    rate: str  # what each further hour costs
    money: str
    money_rate: str


def cost_of(row: Incident, price: Decimal | None, currency: str) -> Cost:
    """`price`: of one slot for an hour."""
    stopped = row.kind == "hang"
    size = row.attempt.world_size
    share = 1.0 if stopped else row.slowdown / (1 + row.slowdown)
    rate = share * size if row.closed_at is None else 0.0
    return Cost(
        longer="" if stopped or row.slowdown < 0.005 else f"{100 * row.slowdown:.0f} %",
        stopped=stopped,
        lost=hours(3600 * row.gpu_hours),
        slots=ngettext("on %(n)s slot", "on %(n)s slots", size) % {"n": numeral(size)},
        rate=hours(3600 * rate) if rate else "",
        money="" if price is None else money(row.gpu_hours, price, currency),
        money_rate="" if price is None or not rate else _("%s each hour") % money(rate, price, currency),
    )


def money(slot_hours: float, price: Decimal, currency: str) -> str:
    """“12.40 USD”."""
    return f"{numeral(Decimal(slot_hours) * price, ',.2f')} {currency}"
