import time

import pytest

from tests import builders
from tests.live.browser import EventSource
from tests.waiting import until
from trainer_agent.wire import names
from webapp import live
from webapp.live.publish import frame
from webapp.projects.models import Membership, Role

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(server_url, transactional_db, redis_client):
    return builders.running_attempt().run


def numbers(source: EventSource) -> list[int]:
    return [found["n"] for found in source.frames if found["kind"] == "log"]


def follows(server_url: str, run, user=None) -> EventSource:
    return EventSource(f"{server_url}/live/runs/{run.uid}", user or run.owner)


def test_frames_come_in_order_without_gap_or_duplicate_over_a_reconnect(server_url, run):
    frame(run.uid, "log", n=-1)
    cursor = live.cursor(run.uid)
    frame(run.uid, "log", n=0)
    source = follows(server_url, run)
    with source.open(after=cursor):
        until(lambda: numbers(source) == [0])
        frame(run.uid, "log", n=1)
        until(lambda: numbers(source) == [0, 1])
    for n in range(2, 500):
        frame(run.uid, "log", n=n)
    with source.open(after=cursor):
        until(lambda: len(source.frames) >= 500)
    assert numbers(source) == list(range(500))


def test_a_frame_arrives_at_once(server_url, run):
    source = follows(server_url, run)
    with source.open(after=live.cursor(run.uid)):
        until(lambda: source.status == 200)
        took = []
        for n in range(20):
            began = time.monotonic()
            frame(run.uid, "log", n=n)
            until(lambda n=n: numbers(source)[-1:] == [n])
            took.append(time.monotonic() - began)
    assert sorted(took)[10] < 0.5  # not at the next look of a timer


def test_a_page_whose_frames_were_trimmed_reads_all_again(server_url, run, redis_client):
    frame(run.uid, "log", n=0)
    cursor = live.cursor(run.uid)
    frame(run.uid, "log", n=1)
    redis_client.xtrim(names.live(run.uid), maxlen=0)
    frame(run.uid, "log", n=2)
    source = follows(server_url, run)
    with source.open(after=cursor):
        until(lambda: source.frames)
        frame(run.uid, "log", n=3)
        until(lambda: numbers(source) == [3])
    assert [found["kind"] for found in source.frames] == ["resync", "log"]


def test_an_emptied_redis_makes_a_page_read_all_again(server_url, run, redis_client):
    frame(run.uid, "log", n=0)
    source = follows(server_url, run)
    with source.open(after=live.cursor(run.uid)):
        until(lambda: source.status == 200)
    redis_client.flushall()
    frame(run.uid, "log", n=1)
    with source.open(after="1-1"):
        until(lambda: source.frames)
    assert source.frames[0] == {"kind": "resync"}


def test_an_open_stream_says_that_somebody_looks(server_url, run, redis_client):
    source = follows(server_url, run)
    with source.open(after="0-0"):
        until(lambda: source.status == 200)
        until(lambda: redis_client.exists(names.watched(run.uid)))
        redis_client.delete(names.watched(run.uid))  # as when Redis was emptied
        until(lambda: redis_client.exists(names.watched(run.uid)), 20)
    stranger = follows(server_url, builders.running_attempt().run, run.owner)
    with stranger.open():
        until(lambda: stranger.status == 404)
    assert redis_client.keys(names.watched("*")) == [names.watched(run.uid).encode()]


def test_strangers_and_the_logged_out_get_404(server_url, run, redis_client):
    import httpx

    stranger = follows(server_url, run, builders.user())
    with stranger.open():
        until(lambda: stranger.status)
    assert stranger.status == 404
    assert httpx.get(f"{server_url}/live/runs/{run.uid}").status_code == 404
    assert httpx.get(f"{server_url}/live/list").status_code == 404
    nobody = EventSource(f"{server_url}/live/runs/r-none", run.owner)
    with nobody.open():
        until(lambda: nobody.status)
    assert nobody.status == 404


def test_the_list_tells_each_person_only_of_their_projects(server_url, run):
    from webapp.live.publish import run_changed

    theirs = builders.running_attempt().run
    viewer = builders.user()
    Membership.objects.create(project=run.project, user=viewer, role=Role.VIEWER)
    source = EventSource(f"{server_url}/live/list", viewer)
    with source.open(after=live.list_cursor()):
        until(lambda: source.status == 200)
        run_changed(theirs)
        run_changed(run)
        until(lambda: source.frames)
    assert [found["run"] for found in source.frames] == [run.uid]


def test_pages_that_go_away_leave_nothing_behind(server_url, run, redis_client):
    """Also when they go in the very moment in which their stream is being opened."""
    source = follows(server_url, run)
    for _k in range(15):
        with source.open(after=live.cursor(run.uid)):
            until(lambda: source.status == 200)
    until(lambda: not [client for client in redis_client.client_list() if client["cmd"] == "xread"], 5)
