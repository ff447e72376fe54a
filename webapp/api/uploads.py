"""`/uploads`: a folder of code, sent as one tar, for runs that say `upload_sha256`."""

from typing import IO, cast

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Router, Status

from webapp.api.auth import person
from webapp.api.create import project_named
from webapp.api.errors import invalid
from webapp.api.schemas import Failure, UploadOut
from webapp.projects.models import Role
from webapp.runs.models import Upload
from webapp.runs.uploads import UploadRefused, store_tar

router = Router(tags=["runs"])


@router.post(
    "",
    response={201: UploadOut, 403: Failure, 404: Failure, 422: Failure},
    summary="Upload code",
    openapi_extra={"requestBody": {"content": {"application/gzip": {}, "multipart/form-data": {}}, "required": True}},
)
def upload(request: HttpRequest, project: str) -> Status[Upload]:
    """The body is a .tar or .tar.gz, or a form with one in its field `file`."""
    where = project_named(person(request), project, Role.EDITOR)
    sent = request.FILES.get("file") if request.content_type == "multipart/form-data" else request
    if sent is None:
        raise invalid({"file": _("Send a .tar.gz in the form's field “file”, or as the body itself.")})
    try:
        return Status(201, store_tar(where, cast("IO[bytes]", sent)))
    except UploadRefused as refused:
        raise invalid({"file": str(refused)}) from None
