"""Reads the books of `train.py`: what each rank of each attempt really did."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Book:
    """One rank of one attempt."""

    run: str
    attempt: int
    rank: int
    values: dict[int, float] = field(default_factory=dict)  # of each step that is done for sure
    unsure: int | None = None  # a step that was killed between its beginning and its note
    code: int | None = None  # None: it did not come to its end

    @property
    def lines(self) -> list[str]:
        """What it printed to standard output, without the line of an unsure step."""
        return [self.line(step, value) for step, value in self.values.items()]

    def line(self, step: int, value: float) -> str:
        """What it prints after a step."""
        return f"step {step} of rank {self.rank} is {value!r}"


def read_books(folder: Path, run: str = "*") -> list[Book]:
    """All books, or those of one run, in the order of attempts and ranks."""
    books = [_read(path) for path in folder.glob(f"{run}.*.rank*")]
    return sorted(books, key=lambda book: (book.run, book.attempt, book.rank))


def _read(path: Path) -> Book:
    run, attempt, rank = path.name.split(".")
    book = Book(run, int(attempt), int(rank.removeprefix("rank")))
    for line in path.read_text().splitlines():
        kind, *words = line.split()
        if kind == "i":
            book.unsure = int(words[0])
        elif kind == "s":
            book.values[int(words[0])], book.unsure = float(words[1]), None
        else:
            book.code = int(words[0])
    if book.code is not None:
        book.unsure = None  # the step failed, because others were gone
    return book
