import asyncio

import pytest
from asgiref.sync import sync_to_async

from tests import builders
from tests.live.browser import session_of
from webapp.live import events, followers
from webapp.live.publish import frame
from webapp.projects.models import Membership

pytestmark = pytest.mark.django_db(transaction=True)


async def followed(run, change) -> list[bytes]:
    """What a stream gives that is opened before `change` and looked at after each frame."""
    key = (await sync_to_async(session_of)(run.owner))["sessionid"]
    follower = followers.Follower(run.owner_id, key)
    assert await follower.may_follow(run.uid)
    chunks: list[bytes] = []
    changed = False
    async for chunk in events.events(f"pl:live:{run.uid}", "0-0", lambda: follower.may_follow(run.uid)):
        chunks.append(chunk)
        if not changed:
            await sync_to_async(change)()
            changed = True
        await sync_to_async(frame)(run.uid, "log", n=len(chunks))
        assert len(chunks) < 50
    return chunks


def leave(run) -> None:
    Membership.objects.filter(user=run.owner).delete()


def delete(run) -> None:
    run.delete()


def log_out(run) -> None:
    from django.contrib.sessions.models import Session

    Session.objects.all().delete()


@pytest.mark.parametrize("change", [leave, delete, log_out])
def test_it_ends_at_the_next_look(redis_client, monkeypatch, change):
    monkeypatch.setattr(events, "CHECK_S", 0.0)
    run = builders.running_attempt().run
    chunks = asyncio.run(asyncio.wait_for(followed(run, lambda: change(run)), 10))
    assert chunks == [b"retry: 1000\n\n"]


def test_a_quiet_stream_says_that_it_lives(redis_client, monkeypatch):
    monkeypatch.setattr(events, "KEEP_ALIVE_S", 0.05)

    async def first_two() -> list[bytes]:
        async def yes() -> bool:
            return True

        stream = events.events("pl:live:r-quiet", "", yes)
        found = [await anext(stream), await anext(stream)]
        await stream.aclose()
        return found

    assert asyncio.run(first_two()) == [b"retry: 1000\n\n", b": still here\n\n"]
