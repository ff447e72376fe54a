"""The numbers of the run page's first chart, asked for while the browser still reads its scripts.

The addresses must be letter by letter those that `js/run/panel_feed.js` asks for, in the window that
`js/run/view_window.js` reads from the page's address.
"""

from urllib.parse import urlencode

from django.http import QueryDict

_WIDTHS = {"(min-width: 721px)": 600, "(max-width: 720px)": 300}  # of the window: of the chart


def addresses(panels: str, query: QueryDict, attempt: int | None) -> list[tuple[str, str]]:
    """(media query, address) for wide and narrow windows. `query`: of the page; `attempt`: None for all."""
    alone = {} if attempt is None else {"attempt": attempt}
    return [
        (media, f"{panels}?{urlencode({**_window(query), **alone, 'width': width, 'ids': 'step_time'})}")
        for media, width in _WIDTHS.items()
    ]


def _window(query: QueryDict) -> dict[str, int]:
    lo, hi = query.get("lo", ""), query.get("hi", "")
    if lo.isdecimal() and hi.isdecimal() and int(hi) >= int(lo):
        return {"lo": int(lo), "hi": int(hi)}
    if query.get("window") == "all":
        return {}
    return {"last": 1000 if query.get("window") == "1000" else 300}
