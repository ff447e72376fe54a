"""How many steps a run will have, if its command line or environment says so. Pure."""

from collections.abc import Mapping, Sequence

STEP_FLAGS = ("--max-steps", "--max_steps", "--steps", "--total-steps", "--total_steps", "--num-steps", "--num_steps")
EPOCH_FLAGS = ("--epochs", "--num-epochs", "--num_epochs", "--max-epochs", "--max_epochs")


def total_steps(
    argv: Sequence[str], env: Mapping[str, str], batches_per_epoch: int | None, batches_per_step: int
) -> int | None:
    """The total, from a number of steps, else from epochs x batches. None when nothing says so."""
    steps = _number(argv, STEP_FLAGS) or _positive(env.get("MAX_STEPS"))
    if steps:
        return steps
    epochs = _number(argv, EPOCH_FLAGS) or _positive(env.get("EPOCHS"))
    if not epochs or not batches_per_epoch:
        return None
    return epochs * -(-batches_per_epoch // batches_per_step)


def _number(argv: Sequence[str], flags: Sequence[str]) -> int | None:
    for i, word in enumerate(argv):
        flag, _, value = word.partition("=")
        if flag in flags:
            return _positive(value or (argv[i + 1] if i + 1 < len(argv) else None))
    return None


def _positive(text: str | None) -> int | None:
    try:
        number = int(text or "")
    except ValueError:
        return None
    return number if number > 0 else None
