"""Rules: new, changed, switched off, removed, and tried on the past."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.signed_in import signed_in
from webapp.alerts import past, queries
from webapp.alerts.forms import IncidentRuleForm, MetricRuleForm
from webapp.alerts.models import Kind, Rule
from webapp.alerts.queries import project_for
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects.models import Project, Role

RuleForm = MetricRuleForm | IncidentRuleForm


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """A new rule of this kind."""
    return _edit(request, _new(project_for(signed_in(request), slug, Role.EDITOR), kind))


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change a rule. What it has raised so far keeps what it asked then."""
    return _edit(request, _rule(request, slug, pk))


@login_required
@require_POST
def preview(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """When the rule that the form describes would have fired; nothing is saved."""
    rule = _new(project_for(signed_in(request), slug, Role.EDITOR), kind)
    form = _form(request, rule)
    if not form.is_valid():
        return render(request, "alerts/preview.html", {"form": form})
    found = past.try_on(form.save(commit=False), timezone.now())
    return render(request, "alerts/preview.html", {"past": found, "days": past.DAYS, "is_metric": kind == Kind.METRIC})


@login_required
@require_POST
def switch(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """On, or off."""
    rule = _rule(request, slug, pk)
    rule.enabled, rule.changed_at = not rule.enabled, timezone.now()
    rule.save(update_fields=["enabled", "changed_at"])
    note(request, Verb.RULE_CHANGED, rule.name, rule.project, detail="on" if rule.enabled else "off")
    return redirect("alerts:page", slug)


@login_required
@require_POST
def remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """With what it has raised. The default rule can be switched off instead."""
    rule = _rule(request, slug, pk)
    if rule.is_default:
        messages.error(request, _("This rule stays. You can switch it off."))
    else:
        rule.delete()
        note(request, Verb.RULE_REMOVED, rule.name, rule.project)
    return redirect("alerts:page", slug)


def _edit(request: HttpRequest, rule: Rule) -> HttpResponse:
    form = _form(request, rule)
    if request.method == "POST" and form.is_valid():
        saved = form.save(commit=False)
        saved.changed_at = timezone.now()
        saved.save()
        note(request, Verb.RULE_CHANGED, saved.name, saved.project)
        messages.success(request, _("Saved. It holds for running jobs within seconds."))
        return redirect("alerts:page", rule.project.slug)
    context = {
        "project": rule.project,
        "rule": rule,
        "form": form,
        "names": queries.metric_names(rule.project) if rule.kind == Kind.METRIC else [],
    }
    return render(request, "alerts/rule.html", context, status=422 if form.errors else 200)


def _form(request: HttpRequest, rule: Rule) -> RuleForm:
    data = request.POST if request.method == "POST" else None
    return MetricRuleForm(data, instance=rule) if rule.kind == Kind.METRIC else IncidentRuleForm(data, instance=rule)


def _new(project: Project, kind: str) -> Rule:
    if kind not in Kind.values:
        raise Http404
    return Rule(project=project, kind=kind)


def _rule(request: HttpRequest, slug: str, pk: int) -> Rule:
    project = project_for(signed_in(request), slug, Role.EDITOR)
    return get_object_or_404(Rule.objects.select_related("project"), pk=pk, project=project)
