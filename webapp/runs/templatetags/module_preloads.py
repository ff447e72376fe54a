"""Tells the browser at once which modules a page's script imports; alone it finds them one layer after the other."""

import posixpath
import re
from functools import lru_cache
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()
_IMPORTED = re.compile(r'\bfrom "(\.[^"]+)"')


@register.simple_tag
def module_preloads(entry: str) -> SafeString:
    """Links to the module `entry` (a static file) and to all that it imports."""
    return format_html_join("", '<link rel="modulepreload" href="{}">', ((static(name),) for name in modules(entry)))


@lru_cache
def modules(entry: str) -> tuple[str, ...]:
    """Names of the static files, `entry` first."""
    found: dict[str, None] = {}
    layer = [entry]
    while layer:
        found |= dict.fromkeys(layer)
        layer = [name for name in dict.fromkeys(one for file in layer for one in _imports(file)) if name not in found]
    return tuple(found)


def _imports(name: str) -> list[str]:
    text = Path(str(finders.find(name))).read_text()
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in _IMPORTED.findall(text)]
