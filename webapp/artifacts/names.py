"""What an artifact may be called. Pure."""

import re

from django.utils.translation import gettext as _

LONGEST = 255
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Refused(ValueError):
    """It cannot be taken. `field` is what has to change; the message is a sentence for people."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def checked_name(name: str) -> str:
    """The name without spaces around it; Refused when it is no relative path, or leads out of its folder."""
    name = name.strip()
    parts = name.split("/")
    if not name or len(name) > LONGEST or not name.isprintable() or "\\" in name or {"", ".", ".."} & set(parts):
        raise Refused(
            "name",
            _("“%(name)s” cannot be a name: use letters, digits and signs, with / between folders.") % {"name": name},
        )
    return name


def checked_path(path: str) -> str:
    """A file's absolute path on its node."""
    if not path.startswith("/") or len(path) > 1000 or not path.isprintable():
        raise Refused("path", _("Give the file's whole path on its node, starting with /."))
    return path


def checked_sha256(sha256: str) -> str:
    """64 hexadecimal digits."""
    if not _SHA256.fullmatch(sha256.lower()):
        raise Refused("sha256", _("A SHA-256 has 64 hexadecimal digits."))
    return sha256.lower()
