import gzip
import json

from django.test import RequestFactory

from webapp.numbers_json import numbers_json

ANSWER = {"z": [[1.5, None, 3.0] * 4_000], "text": "é"}


def asked(**headers):
    return numbers_json(RequestFactory().get("/", headers=headers), ANSWER)


def test_many_numbers_are_packed_for_who_understands_it():
    packed, plain = asked(accept_encoding="br, gzip"), asked()
    assert packed["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed.content)) == json.loads(plain.content) == ANSWER
    assert len(packed.content) < len(plain.content) / 10
    assert packed["Vary"] == plain["Vary"] == "Accept-Encoding"


def test_what_is_no_number_is_null():
    request = RequestFactory().get("/")
    assert json.loads(numbers_json(request, {"x": [float("nan"), float("inf")]}).content) == {"x": [None, None]}
