"""What every rank did against what is stored of it: steps, values, log lines, and the ledger's own numbers."""

import re
from dataclasses import dataclass, field
from typing import Any

from benchmarks.faults.asking import ask
from benchmarks.faults.books import Book
from benchmarks.product import Product

STEPS, VALUES = "phase/step", "truth"
WHOLE_LINE = re.compile(r"step \d+ of rank \d+ is \d+\.\d+")
LONGEST_LINE = 60  # bytes
GAP = re.compile(r"\[paceline: \d+ lines? \((\d+) bytes\) could not be kept")


@dataclass(slots=True)
class Account:
    """Sums over all ranks; all but the first two are 0 where everything holds."""

    steps_made: int = 0
    steps_stored: int = 0
    duplicates: int = 0
    values_wrong: int = 0
    lines_wrong: int = 0
    ledger_wrong: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Everything is there, and exactly once."""
        rest = (self.duplicates, self.values_wrong, self.lines_wrong, self.ledger_wrong)
        return self.steps_made == self.steps_stored and not any(rest)

    def note(self, book: Book, what: str) -> None:
        """Why it does not hold."""
        self.notes.append(f"{book.run} attempt {book.attempt} rank {book.rank}: {what}")


def account(product: Product, books: list[Book]) -> Account:
    """Read all of it through the API."""
    total = Account()
    for run, attempt in sorted({(book.run, book.attempt) for book in books}):
        mine = [book for book in books if (book.run, book.attempt) == (run, attempt)]
        stored = _points(product, run, attempt, STEPS)
        values = _points(product, run, attempt, VALUES)
        ledger = ask(product, "GET", f"runs/{run}/ledger", params={"attempt": attempt}).json()["ranks"]
        for book in mine:
            key = str(book.rank)
            made = _steps(total, book, [int(step) for step, _ in stored.get(key, [])])
            _values(total, book, values.get(key, []))
            _ledger(total, book, made, ledger.get(key, {}))
            _lines(total, book, _log(product, book), _log_bytes_told_lost(product, book))
        total.duplicates += _told_twice(product, run, attempt, stored)
    return total


def _steps(total: Account, book: Book, stored: list[int]) -> int:
    """How many the rank made: the unsure one counts when it is stored."""
    made = set(book.values) | ({book.unsure} & set(stored) if book.unsure is not None else set())
    total.steps_made += len(made)
    total.steps_stored += len(set(stored))
    total.duplicates += len(stored) - len(set(stored))
    if made != set(stored):
        missing, strange = sorted(made - set(stored)), sorted(set(stored) - made)
        total.note(book, f"{len(made)} steps made; not stored: {_some(missing)}; never made: {_some(strange)}")
    return len(made)


def _values(total: Account, book: Book, stored: list[list[Any]]) -> None:
    found = {int(step): value for step, value in stored if int(step) != book.unsure}
    wrong = sorted(step for step in found.keys() | book.values.keys() if found.get(step) != book.values.get(step))
    total.values_wrong += len(wrong)
    total.duplicates += len(stored) - len({step for step, _ in stored})
    if wrong:
        total.note(book, f"values differ at steps {_some(wrong)}")


def _lines(total: Account, book: Book, log: str, told_lost: int) -> None:
    """Every line exactly once and in order; other lines, from libraries, may stand between them.

    A full disk may cost lines, where the log says how many bytes; or, when the rank has ended before there was room for
    a word about it, the run's events do.
    """
    unsure = f"step {book.unsure} of rank"
    lines = [line for line in log.splitlines() if WHOLE_LINE.fullmatch(line) and not line.startswith(unsure)]
    kept = set(lines)
    twice = len(lines) - len(kept)
    missing = [line for line in book.lines if line not in kept]
    gaps = [int(size) for size in GAP.findall(log)]
    told = max(sum(gaps), told_lost)
    cut = (len(gaps) + bool(told_lost)) * 2 * LONGEST_LINE  # each gap may begin and end within a line
    in_order = [line for line in book.lines if line in kept] == list(dict.fromkeys(lines))
    total.duplicates += twice
    if not in_order or sum(map(len, missing)) > told + cut:
        total.lines_wrong += max(1, len(missing))
    if twice or not in_order or missing:
        total.note(book, f"log has {len(lines)} of {len(book.lines)} lines, {twice} twice, {told} bytes told lost")


def _ledger(total: Account, book: Book, made: int, row: dict[str, Any]) -> None:
    expected = {"made": made, "sent": made, "stored": made, "dropped": 0, "gaps": []}
    told = {name: row.get(name, 0 if name != "gaps" else []) for name in expected}
    if told != expected:
        total.ledger_wrong += 1
        total.note(book, f"the ledger says {told}")


def _told_twice(product: Product, run: str, attempt: int, stored: dict[str, list[Any]]) -> int:
    """How many more points the list of metrics counts than there are."""
    listed = ask(product, "GET", f"runs/{run}/metrics", params={"attempt": attempt}).json()
    counted = next((metric["points"] for metric in listed if metric["name"] == STEPS), 0)
    return max(0, counted - sum(len(points) for points in stored.values()))


def _points(product: Product, run: str, attempt: int, name: str) -> dict[str, list[list[Any]]]:
    reply = ask(product, "GET", f"runs/{run}/metrics", params={"attempt": attempt, "name": name})
    return {} if reply.status_code == 404 else dict(reply.json()["ranks"])


def _log_bytes_told_lost(product: Product, book: Book) -> int:
    events = ask(product, "GET", f"runs/{book.run}/events").json()
    mine = [event for event in events if (event["attempt"], event["rank"]) == (book.attempt, book.rank)]
    lost = [event["data"] for event in mine if event["kind"] == "dropped"]
    return sum(int(data["count"]) for data in lost if data.get("what") == "log bytes")


def _log(product: Product, book: Book) -> str:
    params = {"attempt": book.attempt, "rank": book.rank}
    return ask(product, "GET", f"runs/{book.run}/logs", params=params).text


def _some(things: Any) -> str:
    listed = list(things)
    return ", ".join(map(str, listed[:5])) + (f" … ({len(listed)})" if len(listed) > 5 else "") or "none"
