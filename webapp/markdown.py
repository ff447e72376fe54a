"""Text that people write, as HTML: CommonMark with tables, strikethrough and bare links; never HTML of their own."""

import re
from collections.abc import Callable, Collection

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_TAGS = {
    "p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "pre", "blockquote",
    "ul", "ol", "li", "a", "span", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ALIGNED = {"class": {"t-left", "t-center", "t-right"}}
_BARE_LINK = re.compile(r"https?://[^\s<>\"]*[^\s<>\"'`.,:;!?*_~)\]}]")
NAMED = re.compile(r"(?<![\w@/.`])@([\w.@+-]{1,150})")  # somebody, as people type it


def render(text: str, people: Collection[str] = ()) -> SafeString:
    """Safe HTML. A heading is one level lower than written, for the page has its own; an image is a link to it.

    `people`: user names in lower case; `@name` of one of them stands out.
    """
    html = _MARKDOWN.render(text, {"people": people})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        allowed_classes={"th": _ALIGNED["class"], "td": _ALIGNED["class"], "span": {"mention"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener",
    )
    return mark_safe(clean)  # noqa: S308 - sanitised in the line above


def _link_bare_addresses(state: StateCore) -> None:
    """`https://…` in running text becomes a link; inside of a link or of code it stays text."""
    for block in state.tokens:
        if block.type == "inline" and block.children and "://" in block.content:
            block.children = _outside_links(block.children, _with_links)


def _mark_people(state: StateCore) -> None:
    """`@ana` stands out where `ana` is one of them; inside of a link or of code it stays text."""
    people = state.env.get("people", ())
    for block in state.tokens:
        if people and block.type == "inline" and block.children and "@" in block.content:
            block.children = _outside_links(block.children, lambda token: _with_people(token, people))


def _outside_links(tokens: list[Token], split: Callable[[Token], list[Token]]) -> list[Token]:
    found: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        found += split(token) if token.type == "text" and depth == 0 else [token]
    return found


def _with_people(token: Token, people: Collection[str]) -> list[Token]:
    parts: list[Token] = []
    at = 0
    for hit in NAMED.finditer(token.content):
        name = hit[1] if hit[1].lower() in people else without_end(hit[1])
        if name.lower() in people:
            mark = Token("mention_open", "span", 1, attrs={"class": "mention"})
            parts += [
                _text(token.content[at : hit.start()]),
                mark,
                _text(f"@{name}"),
                Token("mention_close", "span", -1),
            ]
            at = hit.start(1) + len(name)
    return [*parts, _text(token.content[at:])]


def without_end(name: str) -> str:
    """A name at the end of a sentence, without what is no part of it."""
    return name.rstrip(".-+@")


def _with_links(token: Token) -> list[Token]:
    parts: list[Token] = []
    at = 0
    for hit in _BARE_LINK.finditer(token.content):
        parts += [_text(token.content[at : hit.start()]), *_link(hit[0], _text(hit[0]))]
        at = hit.end()
    return [*parts, _text(token.content[at:])]


def _link(address: str, *inner: Token) -> list[Token]:
    return [Token("link_open", "a", 1, attrs={"href": address}), *inner, Token("link_close", "a", -1)]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _fit_the_page(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if token.type in ("th_open", "td_open") and "style" in token.attrs:
            # A style sheet knows the class; inline styles do not come through.
            token.attrSet("class", f"t-{str(token.attrs['style']).rpartition(':')[2]}")
        if token.type == "inline" and token.children:
            token.children = _without_images(token.children)


def _without_images(tokens: list[Token]) -> list[Token]:
    """An image would tell its server who reads; a link tells it who clicks."""
    found: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type != "image":
            found.append(token)
            continue
        address = str(token.attrs["src"])
        words = _text(RendererHTML().renderInlineAsText(token.children, _MARKDOWN.options, {}) or address)
        found += [words] if depth else _link(address, words)
    return found


def _made() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    made.core.ruler.push("bare_links", _link_bare_addresses)
    made.core.ruler.push("people", _mark_people)
    made.core.ruler.push("page", _fit_the_page)
    return made


_MARKDOWN = _made()
