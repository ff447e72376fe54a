"""Which of the keys that a script logs is its training loss."""

from collections.abc import Iterable


def loss_key(names: Iterable[str]) -> str:
    """The key that is the training loss, by its name; "" when there is none."""
    known = list(names)
    for test in (lambda n: n == "loss", lambda n: n.split("/")[-1] == "loss", lambda n: "loss" in n):
        found = [name for name in known if test(name.lower())]
        if found:
            return min(found, key=lambda name: ("train" not in name.lower(), len(name), name))
    return ""
