"""The ranks of a choice. Made in one go: as template tags a thousand of them take longer than the rest of the page."""

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

register = template.Library()


@register.simple_tag
def rank_options(count: int) -> SafeString:
    """An option for each of `count` ranks."""
    word = _("Rank %(n)s")
    return format_html_join("", '<option value="{}">{}</option>', ((rank, word % {"n": rank}) for rank in range(count)))
