"""Choosing a language."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in


@login_required
@require_POST
def choose(request: HttpRequest) -> HttpResponseBase:
    """Kept with the person and, for pages before the login, in this browser. Empty: as the browser asks."""
    language = request.POST.get("language", "")
    answer = set_language(request)
    if not language:
        answer.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
    if not language or language in dict(settings.LANGUAGES):
        User.objects.filter(pk=signed_in(request).pk).update(language=language)
    return answer
