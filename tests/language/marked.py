"""A language in which every translated text stands between ⟦ and ⟧, so that what is not translated stands out."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo, write_mo

from tests.language.catalogue import FOLDER, texts

_PACKAGES = ("django.conf", "django.contrib.auth", "django.contrib.humanize", "allauth")
_SAID = ("aria-label", "title", "placeholder", "alt", "data-act", "data-confirm", "data-confirm-word", "data-copied")
_UNSEEN = ("script", "style", "template", "code", "pre", "kbd", "time", "option")
_INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")


def write(folder: Path) -> None:
    """Make it the Brazilian Portuguese of a folder of LOCALE_PATHS."""
    marked = Catalog(locale="pt_BR")
    for path in [*_of_packages(), FOLDER / "django.mo"]:
        with path.open("rb") as file:
            for one in texts(read_mo(file)):
                if isinstance(one.id, str):
                    marked.add(one.id, _mark(one.id), context=one.context)
                else:
                    forms = (_mark(one.id[min(k, 1)]) for k in range(marked.num_plurals))
                    marked.add(tuple(one.id), tuple(forms), context=one.context)
    place = folder / "pt_BR" / "LC_MESSAGES"
    place.mkdir(parents=True)
    with (place / "django.mo").open("wb") as file:
        write_mo(file, marked)


def unmarked(page: str) -> list[str]:
    """Texts and labels of a page that nobody has translated, without what stands in ⟦⟧."""
    reader = _Reader()
    reader.feed(_outside(page))
    return reader.said


class _Reader(HTMLParser):
    """Text that people see or hear; code, numbers' units and names are told apart by who reads this."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.said += [value.strip() for name, value in attrs if name in _SAID and value]
        classes = (dict(attrs).get("class") or "").split()
        if tag in _UNSEEN or "mono" in classes or self._inside:
            self._inside += [] if tag in _VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside and data.strip():
            self.said.append(" ".join(data.split()))


_VOID = ("input", "br", "img", "meta", "link", "hr", "use", "wbr", "path", "rect", "circle", "line")


def _outside(text: str) -> str:
    before = ""
    while before != text:
        before, text = text, _INNERMOST.sub(" ", text)
    return text


def _mark(text: str) -> str:
    return f"⟦{text}⟧"


def _of_packages() -> Iterator[Path]:
    for name in _PACKAGES:
        found = find_spec(name)
        assert found is not None
        for folder in found.submodule_search_locations or ():
            yield from Path(folder).glob("locale/pt_BR/LC_MESSAGES/django.mo")
