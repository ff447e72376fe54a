"""Which language a page has, and how its numbers are written."""

import pytest
from django.test import Client
from django.utils import translation

from tests import builders
from tests.incidents.found import incident
from webapp.accounts.models import User
from webapp.incidents import words
from webapp.language.numerals import numeral
from webapp.notes import lifecycle as notes
from webapp.notes import mail
from webapp.notes.models import Mention
from webapp.projects.models import Role
from webapp.runs.models import RunEvent
from webapp.runs.templatetags.figures import bytes_, figure, ms
from webapp.runs.wording import event_text

pytestmark = pytest.mark.django_db


def _page(client: Client, asked: str, address: str = "/projects/") -> str:
    return client.get(address, headers={"Accept-Language": asked}).content.decode()


def _person() -> Client:
    client = Client()
    client.force_login(builders.user("ana"))
    return client


def test_the_browser_chooses_before_anybody_logs_in() -> None:
    assert '<html lang="pt-br"' in _page(Client(), "pt-BR,pt;q=0.9,en;q=0.5", "/accounts/login/")
    assert "Esqueceu a senha?" in _page(Client(), "pt-BR", "/accounts/login/")
    assert '<html lang="en"' in _page(Client(), "de", "/accounts/login/")


def test_a_persons_choice_goes_before_the_browsers_on_every_device() -> None:
    answer = _person().post("/accounts/language", {"language": "pt-br", "next": "/projects/"})
    assert answer.headers["Location"] == "/projects/"
    other = Client()
    other.force_login(User.objects.get(username="ana"))
    assert "Seus projetos" in _page(other, "en")


def test_a_choice_can_be_taken_back() -> None:
    client = _person()
    client.post("/accounts/language", {"language": "pt-br"})
    client.post("/accounts/language", {"language": ""})
    assert "Your projects" in _page(client, "en")
    assert "Seus projetos" in _page(client, "pt-br")


def test_an_unknown_language_changes_nothing() -> None:
    client = _person()
    client.post("/accounts/language", {"language": "xx"})
    assert User.objects.get(username="ana").language == ""
    assert "Your projects" in _page(client, "en")


def test_numbers_have_the_separators_of_the_language() -> None:
    with translation.override("en"):
        assert (numeral(1204.5, ",.1f"), figure(3.4125), bytes_(4.5e9), ms(0.0042)) == (
            "1,204.5",
            "3.413",
            "4.2 GB",
            "4.2 ms",
        )
    with translation.override("pt-br"):
        assert (numeral(1204.5, ",.1f"), figure(12345), bytes_(4.5e9), ms(0.0042)) == (
            "1.204,5",
            "12.345",
            "4,2 GB",
            "4,2 ms",
        )


def test_what_a_run_has_gone_through_is_told_in_the_readers_language() -> None:
    event = RunEvent(kind="retried", data={"attempt": 2})
    with translation.override("pt-br"):
        assert event_text(event) == "Tentada de novo automaticamente, como tentativa 2."
    with translation.override("en"):
        assert event_text(event) == "Tried again on its own, as attempt 2."


def test_a_mail_is_in_the_language_of_whom_it_goes_to() -> None:
    project = builders.project("demo", ana=Role.EDITOR, bia=Role.VIEWER)
    User.objects.filter(username="bia").update(language="pt-br")
    ana = User.objects.get(username="ana")
    notes.comment(builders.running_attempt(in_project=project).run, ana, "look, @bia")
    assert "ana menciona você" in mail.message(Mention.objects.get())["subject"]


def test_an_incident_in_a_runs_log_is_told_in_the_readers_language() -> None:
    row = incident(builders.running_attempt(), since=10)
    event = RunEvent(kind="incident_opened", data={"text": words.sentence(row), "incident": row.pk})
    with translation.override("pt-br"):
        assert event_text(event) == words.sentence(row)
        assert "desde o passo 10" in event_text(event)
    assert event_text(event) == words.sentence(row)
