"""Where alerts are said, and when nothing is: channels and silences."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.signed_in import signed_in
from webapp.alerts import channels, deliveries, views
from webapp.alerts.forms import ChannelChangeForm, ChannelForm, SilenceForm
from webapp.alerts.models import Silence
from webapp.alerts.queries import channel_of, project_for
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects.access import require_site_admin
from webapp.projects.models import Role


@login_required
@require_POST
def add_channel(request: HttpRequest, slug: str) -> HttpResponse:
    """A new place to send to."""
    project = project_for(signed_in(request), slug, Role.EDITOR)
    form = ChannelForm(request.POST)
    if not form.is_valid():
        return views.whole(request, project, form, SilenceForm())
    given = form.cleaned_data
    channels.add(project, given["kind"], given["address"], given["secret"], given["name"])
    note(request, Verb.CHANNEL_ADDED, given["name"] or given["kind"], project)
    messages.success(request, _("Added. Send a test to see whether messages arrive."))
    return redirect("alerts:page", slug)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def change_channel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Its name, where it sends to, and what it signs with."""
    channel = channel_of(project_for(signed_in(request), slug, Role.EDITOR), pk)
    form = ChannelChangeForm(channel, request.POST if request.method == "POST" else None)
    if not form.is_valid():
        context = {"project": channel.project, "channel": channel, "form": form}
        return render(request, "alerts/channel.html", context, status=422 if form.is_bound else 200)
    given = form.cleaned_data
    channels.change(
        channel,
        name=given["name"],
        address=given["address"],
        secret=given.get("secret", ""),
        drop_secret=given.get("drop_secret", False),
    )
    note(request, Verb.CHANNEL_CHANGED, channel.name or channel.kind, channel.project)
    messages.success(request, _("Saved. Send a test to see whether messages arrive."))
    return redirect("alerts:page", slug)


@login_required
@require_POST
def test_channel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Send a message that says that messages arrive."""
    user = signed_in(request)
    deliveries.put_test(channel_of(project_for(user, slug, Role.EDITOR), pk), user.username)
    messages.success(request, _("A test is on its way. What became of it is under “Messages”."))
    return redirect("alerts:page", slug)


@login_required
@require_POST
def remove_channel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """With its messages."""
    channel = channel_of(project_for(signed_in(request), slug, Role.EDITOR), pk)
    channel.delete()
    note(request, Verb.CHANNEL_REMOVED, channel.name or channel.kind, channel.project)
    return redirect("alerts:page", slug)


@login_required
@require_POST
def add_silence(request: HttpRequest, slug: str) -> HttpResponse:
    """Of the project, or of the whole site by its administrators."""
    user = signed_in(request)
    project = project_for(user, slug, Role.EDITOR)
    form = SilenceForm(request.POST)
    if not form.is_valid():
        return views.whole(request, project, ChannelForm(), form)
    given = form.cleaned_data
    if given["site"]:
        require_site_admin(user)
    Silence.objects.create(
        project=None if given["site"] else project,
        since=given["since"],
        until=given["until"],
        reason=given["reason"],
        created_by=user.username,
    )
    note(request, Verb.SILENCED, given["reason"], project)
    return redirect("alerts:page", slug)


@login_required
@require_POST
def end_silence(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Now; one that has not begun is taken back."""
    user = signed_in(request)
    project = project_for(user, slug, Role.EDITOR)
    silence = get_object_or_404(Silence, Q(project=project) | Q(project=None), pk=pk)
    if silence.project is None:
        require_site_admin(user)
    now = timezone.now()
    if silence.since > now:
        silence.delete()
    else:
        Silence.objects.filter(pk=pk, until__gt=now).update(until=now)
    note(request, Verb.UNSILENCED, silence, project)
    return redirect("alerts:page", slug)
