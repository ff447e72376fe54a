"""Words of a page as a search would have them."""

from django import template

from webapp.history.grammar import quoted

register = template.Library()


@register.filter
def search_word(text: str) -> str:
    """In quotes where it needs them."""
    return quoted(text)
