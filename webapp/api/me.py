"""`/me`: whose token this is."""

from django.http import HttpRequest
from ninja import Router

from webapp.api.auth import person
from webapp.api.schemas import PersonOut

router = Router(tags=["tokens"])


@router.get("", response=PersonOut, summary="Who you are")
def me(request: HttpRequest) -> dict[str, str]:
    who = person(request)
    return {"username": who.username, "name": who.get_full_name()}
