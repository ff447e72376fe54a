"""Who is in a project: the only writer of projects and memberships. Rules are said as sentences."""

from django.db import transaction
from django.utils.translation import gettext as _

from webapp.accounts.models import User
from webapp.projects.models import Membership, Project, Role


class Refused(ValueError):
    """A rule forbids it; the text is for people."""


@transaction.atomic
def create_project(creator: User, slug: str, name: str) -> Project:
    """A new project; its creator is its first admin."""
    project = Project.objects.create(slug=slug, name=name)
    Membership.objects.create(project=project, user=creator, role=Role.ADMIN)
    return project


def add(project: Project, username: str, role: Role) -> Membership:
    """Add a person by exact user name. Refused when there is no such person or they are in already."""
    person = User.objects.filter(username=username, is_active=True, is_service=False).first()
    if person is None:
        raise Refused(_("There is no person with the user name “%s”.") % username)
    membership, new = Membership.objects.get_or_create(project=project, user=person, defaults={"role": role})
    if not new:
        raise Refused(_("%s is a member already. Change the role in the list.") % username)
    return membership


def join(project: Project, person: User, role: Role) -> None:
    """Make the person a member; who is in already keeps the greater role."""
    membership, new = Membership.objects.get_or_create(project=project, user=person, defaults={"role": role})
    roles = list(Role)
    if not new and roles.index(Role(membership.role)) < roles.index(role):
        membership.role = role
        membership.save(update_fields=["role"])


@transaction.atomic
def change_role(membership: Membership, role: Role) -> None:
    """Refused when it would leave the project without an admin."""
    if role != Role.ADMIN:
        _keep_an_admin(membership)
    membership.role = role
    membership.save(update_fields=["role"])


@transaction.atomic
def remove(membership: Membership) -> None:
    """Refused when it would leave the project without an admin."""
    _keep_an_admin(membership)
    membership.delete()


def _keep_an_admin(membership: Membership) -> None:
    admins = Membership.objects.select_for_update().filter(
        project=membership.project, role=Role.ADMIN, user__is_service=False, user__is_active=True
    )
    if not [row for row in admins if row.pk != membership.pk]:
        raise Refused(_("A project needs an admin. Make somebody else admin first."))
