"""The search syntax: text to typed terms, or a SearchError that says where. Pure.

`status:failed -tag:old (loss<0.3 OR config.lr>=1e-3) "two words"`: terms side by side must all hold.
"""

import re

from django.utils.translation import gettext as _
from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, UnexpectedToken

from webapp.history.terms import All, Not, Part, SearchError, Some, Term, Word
from webapp.language.numerals import numeral

LONGEST = 2_000
_DEEPEST = 50

_LARK = Lark(
    r"""
    start: some?
    some: all (_OR all)*
    all: one+
    ?one: _MINUS atom -> negated
        | _NOT atom -> negated
        | atom
    ?atom: "(" some ")" | term | word
    term: KEY OP VALUE
    word: WORD | QUOTED

    KEY.3: /("[^"]+"|(?!-)[^\s"():<>=!]+(\([^\s"()<>=]+\))?)(?=:|\s*([<>]=?|!=|=))/
    OP: /[<>]=?|!=|=|:/
    VALUE: /("[^"]*"|[^\s"(),]+)(,("[^"]*"|[^\s"(),]+))*/
    _MINUS.4: /-(?=[^\s-])/
    _OR.4: /OR(?=[\s(]|$)/
    _NOT.4: /NOT(?=[\s(])/
    WORD: /[^\s()"]+/
    QUOTED: /"[^"]*"/
    %ignore /\s+/
    """,
    parser="lalr",
    maybe_placeholders=False,
)


def parse(text: str) -> Part:
    """The whole search; no term at all is `All(())`, which everything fits."""
    if len(text) > LONGEST:
        raise SearchError(_("This search is longer than %s characters.") % numeral(LONGEST), LONGEST)
    if text.count("(") > _DEEPEST:
        raise SearchError(_("There are too many brackets."), text.index("(") + 1)
    try:
        tree = _LARK.parse(text)
    except UnexpectedInput as error:
        raise _explained(text, error) from None
    part: Part = _Typed().transform(tree)
    return part


def quoted(text: str) -> str:
    """A value as it has to be typed."""
    return text if re.fullmatch(r"[^\s\"(),:<>=!-][^\s\"(),]*", text) else '"' + text.replace('"', "") + '"'


class _Typed(Transformer[Token, Part]):
    def start(self, parts: list[Part]) -> Part:
        return parts[0] if parts else All(())

    def some(self, parts: list[Part]) -> Part:
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def all(self, parts: list[Part]) -> Part:
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def negated(self, parts: list[Part]) -> Part:
        return Not(parts[0])

    def word(self, parts: list[Token]) -> Part:
        return Word(parts[0].strip('"'), _at(parts[0]))

    def term(self, parts: list[Token]) -> Part:
        key, op, value = parts
        values = tuple(found.strip('"') for found in re.findall(r'"[^"]*"|[^",]+', value))
        return Term(key.strip('"'), str(op), values, _at(key), _at(value))


def _at(token: Token) -> int:
    return (token.start_pos or 0) + 1


def _explained(text: str, error: UnexpectedInput) -> SearchError:
    """A sentence instead of the parser's words."""
    told: int | None = getattr(error, "pos_in_stream", None)
    at = len(text) if told is None or told < 0 else told
    here = text[at : at + 1]
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        at, here = len(text), ""
    before = re.search(r'([^\s"()]+?)\s*([<>]=?|!=|=|:)\s*$', text[:at])
    if here == '"' and text[at + 1 :].count('"') == 0:
        return SearchError(_("The quote that opens at %s is never closed.") % (at + 1), at + 1)
    if before:
        named = {"key": before[1], "at": at + 1}
        return SearchError(_("Say what to look for after “%(key)s” at %(at)s.") % named, at + 1)
    if not here:
        return SearchError(_("Something is missing at the end."), len(text) + 1)
    named = {"text": here, "at": at + 1}
    return SearchError(_("“%(text)s” does not fit at %(at)s. Put text with signs in quotes.") % named, at + 1)
