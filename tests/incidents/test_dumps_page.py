import pickle

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests import builders
from tests.incidents.dumps import case, content

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(builders.user("viewer"))
    return client


def give(page: Client, files: dict[str, bytes]):
    return page.post("/dumps/", {"dumps": [SimpleUploadedFile(name, data) for name, data in files.items()]})


def test_who_is_not_logged_in_is_asked_to() -> None:
    assert Client().get("/dumps/").status_code == 302


def test_a_set_of_dumps_gives_one_sentence_and_its_evidence(page: Client) -> None:
    text = give(page, case("lock_gil_1st")).content.decode()
    assert "Ranks 9 and 14 did not come to the collective in which the others wait." in text
    assert "TENSOR_MODEL_PARALLEL_GROUP" in text
    assert "Read from 16 dumps." in text


def test_what_is_refused_is_said_beside_the_field(page: Client) -> None:
    answer = give(page, {"rank_0": pickle.dumps(content(enqueued=1, completed=1)), "rank_1": b"no dump"})
    assert answer.status_code == 422
    assert "rank_1 is not a flight-recorder dump." in answer.content.decode()


def test_two_dumps_of_one_rank_are_an_error(page: Client) -> None:
    one = pickle.dumps(content(enqueued=1, completed=1))
    assert "There are two dumps of rank 0." in give(page, {"a_0": one, "b_0": one}).content.decode()


def test_no_file_is_an_error(page: Client) -> None:
    assert "Choose the dump files of all ranks." in page.post("/dumps/").content.decode()
