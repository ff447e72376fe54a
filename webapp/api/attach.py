"""`/attach`: a launch that somebody else's scheduler makes asks to be watched; see docs/wire.md, "Attach"."""

from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Router

from trainer_agent.wire.messages import Inventory
from webapp.accounts.models import User
from webapp.api.auth import person
from webapp.api.create import project_named
from webapp.api.errors import ApiError, invalid
from webapp.api.schemas import AttachIn, AttachOut, Failure
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.nodes import acl
from webapp.nodes.enrol import open_pipe
from webapp.projects.access import projects_where
from webapp.projects.models import Project, Role
from webapp.runs import attached
from webapp.runs.spec import RunSpec

router = Router(tags=["attach"])


@router.post(
    "",
    response={200: AttachOut, 403: Failure, 404: Failure, 422: Failure},
    summary="Watch a launch that was made elsewhere",
)
def attach(request: HttpRequest, asked: AttachIn) -> dict[str, Any]:
    """One call per node; the nodes of one `job` meet in one run. Called again by the same `member`: the same part."""
    who = person(request)
    part, joined = attached.attach(_call(who, _project(who, asked.project), asked))
    open_pipe(joined.node)
    run = part.attempt.run
    note(request, Verb.ATTACHED, run, run.project, detail=part.node_name)
    return {
        "run": run.uid,
        "url": settings.PUBLIC_URL.rstrip("/") + reverse("runs:detail", args=[run.uid]),
        "attempt": part.attempt_id,
        "attempt_number": part.attempt.number,
        "node": joined.node.uid,
        "node_name": part.node_name,
        "node_rank": part.node_rank,
        "token": joined.token,
        "redis_url": acl.redis_url(joined.node, joined.password),
    }


def _project(who: User, slug: str) -> Project:
    if slug:
        return project_named(who, slug, Role.EDITOR)
    able = list(projects_where(who, Role.EDITOR).order_by("slug")[:10])
    if len(able) == 1:
        return able[0]
    if not able:
        raise ApiError(403, _("There is no project in which you may start runs. Ask an administrator for one."))
    names = ", ".join(project.slug for project in able)
    raise invalid({"project": _("Say which project: --project with one of %(names)s.") % {"names": names}})


def _call(who: User, project: Project, asked: AttachIn) -> attached.Call:
    try:
        inventory = msgspec.convert(asked.inventory, Inventory)
    except msgspec.ValidationError as error:
        raise invalid({"inventory": str(error)}) from error
    return attached.Call(
        project=project,
        owner=who,
        name=asked.name.strip() or asked.argv[0],
        member=asked.member,
        job=asked.job,
        launch=asked.launch,
        node_rank=asked.node_rank,
        spec=RunSpec(attached=True, argv=asked.argv, nodes=asked.nodes, ranks_per_node=asked.ranks_per_node),
        inventory=inventory,
    )
