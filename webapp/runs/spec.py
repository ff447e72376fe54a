"""RunSpec: what a person asks for, validated once for page, API and command line alike."""

import re
from typing import Annotated, Any

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from webapp.language.numerals import numeral

ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
SIGNALS = ("SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2")
# Names that Paceline or the launcher sets itself; a user's value would break the run.
RESERVED_ENV = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK", "PYTHONPATH"})
LONGEST_TEXT = 100_000  # bytes; Linux starts no process with an argument or variable of 131,072
LONGEST_TIMEOUT_S = 10 * 365 * 86_400.0


class RunSpec(BaseModel):
    """One run as asked for. Secrets are not part of it (`runs.Secret`), only their names."""

    model_config = ConfigDict(extra="forbid")

    attached: bool = False  # launched elsewhere: argv is the whole command that was typed there
    argv: Annotated[list[str], Field(min_length=1)]  # script or command, then its arguments
    env: dict[str, str] = {}
    secret_names: list[str] = []
    workdir: str = ""  # absolute path on the node
    git_url: str = ""
    git_ref: str = ""
    upload_sha256: str = ""
    nodes: Annotated[int, Field(ge=1, le=1024)] = 1
    ranks_per_node: Annotated[int, Field(ge=1, le=64)] = 1
    grace: Annotated[float, Field(ge=0, le=3600)] = 20.0
    stop_signal: str = "SIGTERM"
    retries: Annotated[int, Field(ge=0, le=100)] = 0
    timeout: Annotated[float | None, Field(gt=0, le=LONGEST_TIMEOUT_S)] = None  # seconds of running
    total_steps: Annotated[int | None, Field(gt=0, le=10**15)] = None
    deep: bool = False  # per-bucket communication hook
    preflight: bool = False  # the nodes and their links are checked first; what is bad ends the attempt

    @classmethod
    def stored(cls, fields: dict[str, Any]) -> "RunSpec":
        """What was accepted once. Later rules judge new runs; they must not make an old one unreadable."""
        return cls.model_construct(**{name: value for name, value in fields.items() if name in cls.model_fields})

    @property
    def world_size(self) -> int:
        return self.nodes * self.ranks_per_node

    @field_validator("argv")
    @classmethod
    def _argv_is_a_script(cls, argv: list[str], info: ValidationInfo) -> list[str]:
        first = argv[0].rsplit("/", 1)[-1]
        if not argv[0].strip():
            raise ValueError(_("Name a script or command."))
        attached = bool(info.data.get("attached"))
        for part in argv:
            check_text(part, _("An argument"), longest=None if attached else LONGEST_TEXT)
        if attached:
            return argv
        if first in ("torchrun", "accelerate", "deepspeed") or "torch.distributed.run" in argv[:3]:
            raise ValueError(_("Give only your script and its arguments: Paceline writes the torchrun part itself."))
        return argv

    @field_validator("env")
    @classmethod
    def _env_names_are_names(cls, env: dict[str, str]) -> dict[str, str]:
        for name, value in env.items():
            check_env_name(name)
            check_text(value, name)
        return env

    @field_validator("workdir", "git_url", "git_ref", "upload_sha256")
    @classmethod
    def _place_is_text(cls, place: str) -> str:
        check_text(place, _("This"))
        return place

    @field_validator("stop_signal")
    @classmethod
    def _signal_is_known(cls, name: str) -> str:
        if name not in SIGNALS:
            raise ValueError(_("Choose one of %(names)s.") % {"names": ", ".join(SIGNALS)})
        return name

    @field_validator("workdir")
    @classmethod
    def _workdir_is_absolute(cls, path: str) -> str:
        if path and not path.startswith("/"):
            raise ValueError(_("Give an absolute path: it is looked up on each node."))
        return path

    @field_validator("git_url")
    @classmethod
    def _git_url_is_a_url(cls, url: str) -> str:
        # `ext::` and option-like URLs run commands on the node.
        if url and not re.match(r"(https?|ssh|git|file)://|[\w.-]+@[\w.-]+:", url):
            raise ValueError(_("Give an https, ssh, git or file URL."))
        return url

    @field_validator("git_ref")
    @classmethod
    def _git_ref_is_a_ref(cls, ref: str) -> str:
        if ref.startswith("-") or re.search(r"[\s~^:?*\[\\]|\.\.", ref):
            raise ValueError(_("This is no branch, tag or commit."))
        return ref

    @model_validator(mode="after")
    def _one_source_of_code(self) -> "RunSpec":
        if sum(map(bool, (self.workdir, self.git_url, self.upload_sha256))) > 1:
            raise ValueError(_("Choose one source of code: a path on the node, a git URL, or an upload."))
        return self


def check_env_name(name: str) -> None:
    """ValueError with a sentence when `name` cannot be a variable of the user's."""
    if not ENV_NAME.match(name):
        raise ValueError(
            _("“%(name)s” is no name for a variable: letters, digits and underscores only.") % {"name": name}
        )
    if name in RESERVED_ENV or name.startswith("PACELINE_"):
        raise ValueError(_("%(name)s is set by Paceline itself.") % {"name": name})


def check_text(text: str, what: str, longest: int | None = LONGEST_TEXT) -> None:
    """ValueError with a sentence about `what` when no process or database could take this text."""
    if "\0" in text:
        raise ValueError(_("%(name)s holds a NUL byte.") % {"name": what})
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(_("%(name)s holds half of a character (a lone surrogate).") % {"name": what}) from None
    if longest is not None and size > longest:
        told = {"name": what, "most": numeral(longest)}
        raise ValueError(_("%(name)s is longer than %(most)s bytes. Put it in a file.") % told)
