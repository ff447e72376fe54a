"""TensorBoard's event files: each folder that holds some is one run. Read with TensorBoard's own reader."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainer_agent.cli.errors import Refused
from trainer_agent.cli.import_sender import Point, Run

PATTERN = "*tfevents*"
_HPARAMS = "hparams"


def folders(root: Path) -> list[Path]:
    """Folders with event files, the root among them, by name."""
    return sorted({path.parent for path in root.rglob(PATTERN) if path.is_file()})


class LogFolder:
    """One folder's files, read on from where `cursor` says: name of a file to the number of its events read."""

    def __init__(self, root: Path, folder: Path, cursor: dict[str, int]) -> None:
        self._folder, self._root = folder, root
        self._skip = dict(cursor)
        self.cursor = dict(cursor)
        self.config: dict[str, str] = {}
        self._readers: dict[str, Any] = {}

    @property
    def run(self) -> Run:
        """The first file's name holds the time, the machine and the process: nobody else has it."""
        first = min(self._files())
        inside = self._folder.relative_to(self._root).as_posix()
        name = self._root.resolve().name if inside == "." else inside
        written = [_first_time(self._folder / file) for file in self._files()]
        started = min((at for at in written if at), default=None)
        ended = max((self._folder / file).stat().st_mtime for file in self._files())
        source = f"tensorboard:{inside}:{first}"[-300:]
        return Run("tensorboard", source, name, started_at=started, ended_at=max(ended, started or 0.0))

    def new(self) -> Iterator[Point]:
        """Scalars that came since the last call; `cursor` moves with each event."""
        for file in self._files():
            if file not in self._readers:
                self._readers[file] = _reader(self._folder / file)
                self._skip.setdefault(file, 0)
            for event in self._readers[file].Load():
                if self._skip[file] > 0:
                    self._skip[file] -= 1
                    continue
                yield from self._points(event)
                self.cursor[file] = self.cursor.get(file, 0) + 1

    def _files(self) -> list[str]:
        return sorted(path.name for path in self._folder.glob(PATTERN) if path.is_file())

    def _points(self, event: Any) -> Iterator[Point]:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.metadata.plugin_data.plugin_name == _HPARAMS:
                self.config |= _hparams(value.metadata.plugin_data.content)
            number = _scalar(value)
            if number is not None:
                yield Point(value.tag, int(event.step), float(event.wall_time), number)


def _scalar(value: Any) -> float | None:
    """The number, of either generation of summaries; None for text, pictures and histograms."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor"):
        return None
    from tensorboard.util import tensor_util

    found = tensor_util.make_ndarray(value.tensor)
    return float(found) if found.ndim == 0 and found.dtype.kind in "fiu" else None


def _hparams(content: bytes) -> dict[str, str]:
    """The settings of a session; what else the plugin writes has none."""
    from tensorboard.plugins.hparams import plugin_data_pb2

    told = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info.hparams
    return {name: _text(value) for name, value in told.items()}


def _text(value: Any) -> str:
    kind = value.WhichOneof("kind")
    return "" if kind is None else f"{getattr(value, kind):g}" if kind == "number_value" else str(getattr(value, kind))


def _first_time(path: Path) -> float | None:
    return next((float(event.wall_time) for event in _reader(path).Load()), None)


def _reader(path: Path) -> Any:
    """Goes on behind a record that is not whole yet when the file has grown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
    except ImportError:
        raise Refused("Event files are read by the package tensorboard: pip install tensorboard.") from None
    return LegacyEventFileLoader(str(path))
