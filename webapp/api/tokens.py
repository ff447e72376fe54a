"""`/tokens`: your own API tokens. The secret is shown once."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Router, Status

from webapp.accounts.models import ApiToken
from webapp.api.auth import person
from webapp.api.schemas import TokenIn, TokenMade, TokenOut

router = Router(tags=["tokens"])


@router.get("", response=list[TokenOut], summary="Your tokens")
def list_tokens(request: HttpRequest) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=person(request)).order_by("-created_at", "-pk")


@router.post("", response={201: TokenMade}, summary="Make a token")
def create_token(request: HttpRequest, asked: TokenIn) -> Status[dict[str, Any]]:
    expires = timezone.now() + timedelta(days=asked.days) if asked.days else None
    token, secret = ApiToken.issue(person(request), asked.name, expires_at=expires)
    return Status(201, {**TokenOut.from_orm(token).dict(), "token": secret})


@router.delete("/{token_id}", response={204: None}, summary="Revoke a token")
def revoke_token(request: HttpRequest, token_id: int) -> Status[None]:
    gone, _rows = ApiToken.objects.filter(user=person(request), pk=token_id).delete()
    if not gone:
        raise Http404
    return Status(204, None)
