"""Markdown: what people may write, and that nothing hostile comes through."""

import re

import pytest

from webapp.markdown import render

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox)",
    "![x](javascript:alert(1))",
    "![x](https://spy.example/pixel.png)",
    '[x](https://a.example "t\\" onmouseover=alert(1)")',
    "<svg/onload=alert(1)>",
    "<style>*{display:none}</style>",
    "<iframe src=//evil.example></iframe>",
    "<form action=//evil.example><input name=p></form>",
    '<p style="position:fixed">x</p>',
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '```" onmouseover="alert(1)\nx\n```',
    "| <b onclick=alert(1)> |\n| --- |\n| <script> |",
    'https://a.example/"onmouseover=alert(1)',
    "<https://a.example/<script>>",
    "[a]: javascript:alert(1)\n\n[a]",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_brings_no_script_no_handler_and_no_foreign_content(text: str) -> None:
    tags = re.findall(r"<[^>]*>", render(text))
    names = {re.sub(r"[</>]", "", tag).split()[0] for tag in tags}
    assert names <= {"p", "a", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}
    for tag in tags:
        inner = re.sub(r'"[^"]*"', '""', tag)
        assert not re.search(r"\son\w+=|style=", inner, re.IGNORECASE), tag
        schemes = re.findall(r'href="\s*([a-z][a-z0-9+.-]*):', tag, re.IGNORECASE)
        assert set(schemes) <= {"http", "https", "mailto"}, tag


def test_a_link_gives_no_credit_and_no_handle() -> None:
    html = render("[docs](https://a.example/x) and https://b.example/y.")
    assert html.count('rel="nofollow noopener"') == 2
    assert 'href="https://b.example/y"' in html


def test_an_address_in_code_or_in_a_link_stays_as_it_is() -> None:
    assert "<a" not in render("`https://a.example`")
    assert render("[https://a.example](https://b.example)").count("<a ") == 1


def test_an_image_is_a_link_to_it() -> None:
    html = render("![the loss](https://a.example/loss.png)")
    assert "<img" not in html
    assert 'href="https://a.example/loss.png"' in html
    assert ">the loss</a>" in html


def test_tables_lists_strikethrough_and_code_are_drawn() -> None:
    html = render("# Plan\n\n- ~~old~~ **new**\n\n| a | b |\n| :-- | --: |\n| 1 | 2 |\n\n```\nx < 1\n```")
    assert "<h2>Plan</h2>" in html
    assert "<s>old</s> <strong>new</strong>" in html
    assert '<td class="t-right">2</td>' in html
    assert "x &lt; 1" in html


def test_deep_nesting_ends_in_an_answer() -> None:
    assert render("> " * 2_000 + "deep").startswith("<blockquote>")
    assert "deep" in render("[" * 2_000 + "deep")
