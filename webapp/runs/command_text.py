"""A typed command line to an argument list. Pure."""

import re
import shlex

from django.utils.translation import gettext as _

_CONTINUED = re.compile(r"\\\r?\n")


def split(text: str) -> list[str]:
    """Split as a POSIX shell would, without running one; ValueError with a sentence for people."""
    try:
        return shlex.split(_CONTINUED.sub(" ", text))
    except ValueError as error:
        if "escaped" in str(error):
            raise ValueError(_("The command ends with a backslash. Remove it, or write what it escapes.")) from error
        raise ValueError(_("A quote is opened and not closed. Close it, or put a backslash before it.")) from error
