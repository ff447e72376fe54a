"""A person's own API tokens."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.forms import TokenForm
from webapp.accounts.models import ApiToken
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List and create; the secret of a new one is in this answer and nowhere else."""
    user = signed_in(request)
    form = TokenForm(request.POST or None)
    secret, status = "", 200
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        token, secret = ApiToken.issue(user, asked["name"], scope=asked["scope"], expires_at=form.expires_at())
        note(request, Verb.TOKEN_MADE, token, detail=token.scope)
        form = TokenForm()
    elif request.method == "POST":
        status = 422
    rows = [
        (token, token.scope, reverse("accounts:revoke_token", args=[token.pk]))
        for token in ApiToken.objects.filter(user=user).order_by("-created_at")
    ]
    context = {"form": form, "secret": secret, "rows": rows, "now": timezone.now()}
    return render(request, "accounts/tokens.html", context, status=status)


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Somebody else's token is not found."""
    token = get_object_or_404(ApiToken, pk=pk, user=signed_in(request))
    token.delete()
    note(request, Verb.TOKEN_REVOKED, token)
    messages.success(request, _("“%s” is revoked. What used it is refused from now on.") % token.name)
    return redirect("accounts:tokens")
