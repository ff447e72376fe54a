"""The people of this server, for its administrators: who there is, a link for a new password, on and off."""

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects.access import require_site_admin


@login_required
@never_cache
@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """All accounts of people."""
    require_site_admin(signed_in(request))
    return _page(request)


@login_required
@never_cache
@require_POST
def reset_link(request: HttpRequest, pk: int) -> HttpResponse:
    """A one-time link for a new password, for a server that sends no e-mail; shown once."""
    require_site_admin(signed_in(request))
    person = get_object_or_404(_people(), pk=pk, is_active=True)
    key = f"{user_pk_to_url_str(person)}-{default_token_generator.make_token(person)}"
    uid, _dash, rest = key.partition("-")
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": uid, "key": rest})
    note(request, Verb.RESET_LINK, person)
    return _page(request, link=settings.PUBLIC_URL.rstrip("/") + path, person=person)


@login_required
@require_POST
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch an account off, with its sessions and tokens, or on again; not one's own."""
    me = signed_in(request)
    require_site_admin(me)
    person = get_object_or_404(_people().exclude(pk=me.pk), pk=pk)
    person.is_active = not person.is_active
    person.save(update_fields=["is_active"])
    note(request, Verb.PERSON_SWITCHED, person, detail="on" if person.is_active else "off")
    text = _("%s may log in again.") if person.is_active else _("%s is logged out and cannot log in.")
    messages.success(request, text % person.username)
    return redirect("accounts:people")


def _people() -> QuerySet[User]:
    return User.objects.filter(is_service=False)


def _page(request: HttpRequest, **context: object) -> HttpResponse:
    rows = _people().annotate(project_count=Count("memberships")).order_by("username")
    return render(request, "accounts/people.html", {"people": rows, **context})
