"""No text is left untranslated, and none is translated wrongly in what a program can see."""

from pathlib import Path

import pytest
from babel.messages.mofile import read_mo

from tests.language.catalogue import FOLDER, holes, in_the_source, pairs, texts, translated


@pytest.mark.gettext
def test_every_text_of_the_source_has_a_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = {(one.context, one.id) for one in texts(translated()) if not one.fuzzy and all(to for _, to in pairs(one))}
    wanted = list(texts(in_the_source(tmp_path, monkeypatch)))
    missing = [str(one.id) for one in wanted if (one.context, one.id) not in done]
    assert len(wanted) > 1500
    assert not missing, "Run `make messages`, translate these, and run it once more:\n" + "\n".join(missing)


def test_translations_fill_in_what_their_texts_do() -> None:
    wrong = [f"{text!r} {to!r}" for one in texts(translated()) for text, to in pairs(one) if holes(text) != holes(to)]
    assert not wrong, "\n".join(wrong)


def test_translations_begin_and_end_with_a_space_or_a_line_where_their_texts_do() -> None:
    wrong = [
        f"{text!r} {to!r}"
        for one in texts(translated())
        for text, to in pairs(one)
        if (text[:1].isspace(), text[-1:].isspace()) != (to[:1].isspace(), to[-1:].isspace())
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_compiled_is_what_is_translated() -> None:
    with (FOLDER / "django.mo").open("rb") as file:
        compiled = [(one.context, pairs(one)) for one in texts(read_mo(file))]
    written = [(one.context, pairs(one)) for one in texts(translated()) if one.string and not one.fuzzy]
    assert sorted(compiled, key=str) == sorted(written, key=str), "Run `make messages`."
