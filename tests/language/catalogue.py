"""The texts of the product: as its source has them, and as they are translated."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from django.conf import settings
from django.core.management import call_command

ROOT = Path(settings.BASE_DIR)
FOLDER = ROOT / "webapp" / "locale" / "pt_BR" / "LC_MESSAGES"
_SOURCES = ("webapp", "workers", "templates")
_HOLES = re.compile(r"%\(\w+\)[-+.0-9]*[a-z]|%%|%[sd]|\{\w+\}")


def translated() -> Catalog:
    """What is committed."""
    with (FOLDER / "django.po").open("rb") as file:
        return read_po(file, locale="pt_BR")


def in_the_source(folder: Path, patch: pytest.MonkeyPatch) -> Catalog:
    """What `make messages` collects, from a copy: Django writes a file beside each template meanwhile."""
    for name in _SOURCES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("locale", "static", "__pycache__"))
    (folder / "locale").mkdir()
    patch.chdir(folder)
    patch.setattr(settings, "LOCALE_PATHS", [folder / "locale"])
    call_command("makemessages", locale=["pt_BR"], verbosity=0)
    with (folder / "locale" / "pt_BR" / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file, locale="pt_BR")


def texts(catalogue: Catalog) -> Iterator[Message]:
    """All but the header."""
    return (message for message in catalogue if message.id)


def pairs(message: Message) -> list[tuple[str, str]]:
    """The text and its translation; singular and plural apart."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string or ""))]
    return [(one, str(other or "")) for one, other in zip(message.id, message.string or ("", ""), strict=True)]


def holes(text: str) -> list[str]:
    """What is filled in."""
    return sorted(_HOLES.findall(text))
