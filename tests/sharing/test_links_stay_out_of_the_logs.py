"""What stands in the address of a link is a secret."""

import logging

from webapp.log_masks import MaskedFormatter


def line(message: str, *arguments: object) -> str:
    record = logging.LogRecord("django.request", logging.WARNING, "", 0, message, arguments, None)
    return MaskedFormatter("%(levelname)s %(message)s").format(record)


def test_the_secret_part_of_an_address_is_hidden():
    assert line("%s: %s", "Not Found", "/s/Xy3kd93kdls0aK/panels?id=3") == "WARNING Not Found: /s/•••/panels?id=3"
    assert line("Gone: /invitations/abcDEF123456_-/") == "WARNING Gone: /invitations/•••/"
    assert line("Bad: /accounts/password/reset/key/3-c5k1-abcdef/") == "WARNING Bad: /accounts/password/reset/key/•••/"


def test_other_addresses_are_told_whole():
    assert line("Not Found: /runs/r-abc123/panels") == "WARNING Not Found: /runs/r-abc123/panels"
    assert line("Gone: /invitations/12/revoke") == "WARNING Gone: /invitations/12/revoke"


def test_the_server_s_own_lines_go_through_it(settings):
    assert settings.LOGGING["formatters"]["line"]["()"] == "webapp.log_masks.MaskedFormatter"
