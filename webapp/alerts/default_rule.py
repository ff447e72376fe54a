"""The rule that every project has from the start: every warning or worse."""

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from webapp.alerts.models import Kind, Rule
from webapp.incidents.models import Severity
from webapp.projects.models import Project


def ensure_all() -> None:
    """Give it to the projects that do not have it yet; it can be switched off and changed, not removed."""
    default = Rule.objects.filter(project=OuterRef("pk"), is_default=True)
    missing = list(Project.objects.filter(~Exists(default)))
    if missing:
        Rule.objects.bulk_create([_rule(project) for project in missing], ignore_conflicts=True)


def ensure(project: Project) -> None:
    """The same for one project, so that its page shows it at once."""
    if not project.alert_rules.filter(is_default=True).exists():
        Rule.objects.bulk_create([_rule(project)], ignore_conflicts=True)


def _rule(project: Project) -> Rule:
    name = _("Every warning or worse")
    return Rule(project=project, name=name, kind=Kind.INCIDENT, is_default=True, least_severity=Severity.WARNING)
