"""A person who asks the API, as a script does."""

from typing import Any

from django.test import Client

from webapp.accounts.models import ApiToken, User


class Asker:
    """Requests with one bearer token; answers are Django's test responses."""

    def __init__(self, token: str) -> None:
        self._client = Client(
            headers={"Authorization": f"Bearer {token}"} if token else {}, raise_request_exception=False
        )

    def get(self, path: str, **query: Any) -> Any:
        return self._client.get(f"/api/v1{path}", query)

    def post(self, path: str, body: Any = None) -> Any:
        return self._client.post(f"/api/v1{path}", body, content_type="application/json")

    def patch(self, path: str, body: Any) -> Any:
        return self._client.patch(f"/api/v1{path}", body, content_type="application/json")

    def put(self, path: str, body: Any) -> Any:
        return self._client.put(f"/api/v1{path}", body, content_type="application/json")

    def delete(self, path: str) -> Any:
        return self._client.delete(f"/api/v1{path}")

    def send(self, path: str, data: bytes, content_type: str) -> Any:
        return self._client.post(f"/api/v1{path}", data, content_type=content_type)


def asker(user: User | str) -> Asker:
    """`asker("ana")` or `asker(row)`: with a fresh token of that person."""
    who = user if isinstance(user, User) else User.objects.get(username=user)
    return Asker(ApiToken.issue(who, "test")[1])


def body(response: Any) -> bytes:
    """The whole answer, streamed or not."""
    return b"".join(response.streaming_content) if response.streaming else response.content
