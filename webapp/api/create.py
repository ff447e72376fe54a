"""A run asked for over HTTP: who may, is it sound, does it fit anywhere; then the same `create` as on the page."""

from django.http import Http404
from django.utils.translation import gettext as _

from webapp.accounts.models import User
from webapp.api.errors import ApiError, invalid
from webapp.api.schemas import RunIn
from webapp.nodes.reach import total_slots
from webapp.projects.access import require
from webapp.projects.models import Project, Role
from webapp.runs import lifecycle
from webapp.runs.models import Run, Upload
from webapp.runs.placement import fits_anywhere
from webapp.runs.spec import RunSpec, check_env_name, check_text


def create_run(who: User, asked: RunIn) -> Run:
    """The new queued run. ApiError with sentences by field when it cannot be."""
    project, spec = checked(who, asked)
    return lifecycle.create(project=project, owner=who, name=asked.name, spec=spec, secrets=asked.secrets)


def checked(who: User, asked: RunIn) -> tuple[Project, RunSpec]:
    """Where it would run, and its spec; the same ApiError."""
    project = project_named(who, asked.project, Role.EDITOR)
    spec = _spec(asked)
    problems = {**_secret_problems(asked), **_upload_problem(project, spec), **_size_problem(spec)}
    if problems:
        raise invalid(problems)
    return project, spec


def project_named(who: User, slug: str, role: Role) -> Project:
    """The project, if the person has at least `role` in it; a stranger learns only that there is none."""
    try:
        project = Project.objects.get(slug=slug)
        require(who, project, role)
    except (Project.DoesNotExist, Http404):
        sentence = _("There is no project “%(slug)s” that you can see.") % {"slug": slug}
        raise ApiError(404, sentence, {"project": sentence}) from None
    return project


def _spec(asked: RunIn) -> RunSpec:
    fields = asked.model_dump(include=set(RunSpec.model_fields))
    return RunSpec.model_validate({**fields, "secret_names": sorted(asked.secrets)})


def _secret_problems(asked: RunIn) -> dict[str, str]:
    for name, value in asked.secrets.items():
        try:
            check_env_name(name)
            check_text(value, name)
        except ValueError as error:
            return {"secrets": str(error)}
        if name in asked.env:
            return {"secrets": _("%(name)s is in env too: keep one of them.") % {"name": name}}
    return {}


def _upload_problem(project: Project, spec: RunSpec) -> dict[str, str]:
    if not spec.upload_sha256 or Upload.objects.filter(project=project, sha256=spec.upload_sha256).exists():
        return {}
    return {"upload_sha256": _("This project has no such upload: send the folder to /api/v1/uploads first.")}


def _size_problem(spec: RunSpec) -> dict[str, str]:
    text = fits_anywhere(spec, total_slots())
    return {"nodes": text} if text else {}
