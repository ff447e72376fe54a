"""Places as a tag, for the parts that every page has."""

from typing import Any

from django import template
from django.template import Context

from webapp.palette import places

register = template.Library()


@register.simple_tag(takes_context=True)
def places_here(context: Context) -> list[dict[str, Any]]:
    """Every place, and whether the page that is shown is a part of it."""
    match = getattr(context.get("request"), "resolver_match", None)
    current = places.here(match.view_name) if match else None
    return [{"place": place, "here": place is current} for place in places.PLACES]
