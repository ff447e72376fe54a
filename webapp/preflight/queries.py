"""Who may see which check, and who may ask for one. Nodes belong to all teams; a run's check to the run's project."""

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.nodes.models import Node
from webapp.preflight.models import Check
from webapp.projects.access import projects_where, visible
from webapp.projects.models import Role
from webapp.runs.models import Run


def checks_seen_by(user: User) -> QuerySet[Check]:
    """Checks of nodes, and those of runs that the person may see; newest first."""
    runs = visible(Run.objects.filter(deleted_at=None), user)
    return Check.objects.filter(Q(attempt=None) | Q(attempt__run__in=runs)).select_related("attempt__run")


def check_for(user: User, pk: int) -> Check:
    """Http404 when there is none that the person may see."""
    found = checks_seen_by(user).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def may_check(user: User) -> bool:
    """Whoever may launch on the nodes may check them."""
    return user.is_superuser or projects_where(user, Role.EDITOR).exists()


def require_may_check(user: User) -> None:
    """PermissionDenied for those who may only look."""
    if not may_check(user):
        raise PermissionDenied("checking nodes needs the role editor in a project")


def ours() -> QuerySet[Node]:
    """Nodes that can be checked; those of attached launches are somebody else's."""
    return Node.objects.filter(removed_at=None, attached_as="")


def named(names: Sequence[str]) -> tuple[list[Node], list[str]]:
    """Nodes of these names or ids, by name and without doubles, and what names none."""
    found = list(ours().filter(Q(name__in=names) | Q(uid__in=names)))
    known = {word for node in found for word in (node.name, node.uid)}
    return found, [name for name in names if name not in known]
