"""The launch form: what a person types, turned into a RunSpec or into errors beside the fields."""

import json
import shlex
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import ValidationError

from webapp.accounts.models import User
from webapp.nodes.reach import total_slots
from webapp.projects.access import projects_where
from webapp.projects.models import Project, Role
from webapp.runs import placement, secrets
from webapp.runs.command_text import split
from webapp.runs.env_form import EnvRows, initial_rows
from webapp.runs.folder_field import FolderField
from webapp.runs.models import Run, Upload
from webapp.runs.spec import LONGEST_TIMEOUT_S, SIGNALS, RunSpec

SOURCES = [
    ("none", gettext_lazy("None")),
    ("path", gettext_lazy("Path on the node")),
    ("git", gettext_lazy("Git")),
    ("upload", gettext_lazy("Upload a folder")),
]
# Where a field of RunSpec is typed, when its name here is another.
_TYPED_IN = {"argv": "command", "timeout": "timeout_min", "upload_sha256": "folder"}


class LaunchForm(forms.Form):
    """One run. `env` holds the rows of the environment; `source_run` is the one that is run again."""

    project = forms.ModelChoiceField(
        Project.objects.none(), to_field_name="slug", empty_label=None, label=gettext_lazy("Project")
    )
    name = forms.CharField(max_length=120, label=gettext_lazy("Name"))
    command = forms.CharField(
        max_length=32_000,
        label=gettext_lazy("Script or command, with its arguments"),
        help_text=gettext_lazy("Only yours: the torchrun part is written for you."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono-in", "placeholder": "/srv/train.py --lr 3e-4"}),
    )
    source = forms.ChoiceField(
        choices=SOURCES, initial="none", label=gettext_lazy("Where the code is"), widget=forms.RadioSelect
    )
    workdir = forms.CharField(required=False, max_length=4096, label=gettext_lazy("Folder on each node"))
    git_url = forms.CharField(required=False, max_length=2000, label=gettext_lazy("Repository"))
    git_ref = forms.CharField(required=False, max_length=250, label=gettext_lazy("Branch, tag or commit"))
    folder = FolderField(required=False, label=gettext_lazy("Folder"))
    paths = forms.CharField(required=False, widget=forms.HiddenInput)
    kept_upload = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    nodes = forms.IntegerField(min_value=1, max_value=1024, initial=1, label=gettext_lazy("Nodes"))
    ranks_per_node = forms.IntegerField(min_value=1, max_value=64, initial=1, label=gettext_lazy("Ranks per node"))
    grace = forms.FloatField(
        min_value=0,
        max_value=3600,
        initial=20,
        label=gettext_lazy("Grace period, seconds"),
        help_text=gettext_lazy("Between the signal and the kill."),
    )
    stop_signal = forms.ChoiceField(
        choices=[(name, name) for name in SIGNALS],
        label=gettext_lazy("Stop signal"),
        help_text=gettext_lazy("Sent first when the run is stopped."),
    )
    retries = forms.IntegerField(
        min_value=0,
        max_value=100,
        initial=0,
        label=gettext_lazy("Retries"),
        help_text=gettext_lazy("New attempts after a failure."),
    )
    timeout_min = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=LONGEST_TIMEOUT_S / 60,
        label=gettext_lazy("Time limit, minutes"),
        help_text=gettext_lazy("Empty: no limit."),
    )
    total_steps = forms.IntegerField(
        required=False,
        min_value=1,
        label=gettext_lazy("Total steps"),
        help_text=gettext_lazy("For progress and time left; often guessed from the script."),
    )
    deep = forms.BooleanField(
        required=False,
        label=gettext_lazy("Deep mode"),
        help_text=gettext_lazy("Off by default: it adds a hook to DDP's communication."),
    )
    preflight = forms.BooleanField(
        required=False,
        label=gettext_lazy("Pre-flight"),
        help_text=gettext_lazy("Takes up to a minute. What is bad ends the run before it starts, and is named."),
    )

    spec: RunSpec

    def __init__(self, user: User, source_run: Run | None = None, data: Any = None, files: Any = None, **initial: Any):
        super().__init__(data, files, initial={**(_initial(source_run) if source_run else {}), **initial})
        self.source_run = source_run
        self.env = EnvRows(data, prefix="env", initial=initial_rows(source_run) if source_run else None)
        self.env.source_run = source_run
        self.projects = projects_where(user, Role.EDITOR)
        self.fields["project"].queryset = self.projects  # type: ignore[attr-defined]

    def is_valid(self) -> bool:
        """Form and rows both, so that every error is shown at once."""
        rows = self.env.is_valid()
        return super().is_valid() and rows

    def clean_command(self) -> str:
        command = str(self.cleaned_data["command"])
        try:
            split(command)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return command

    def clean_paths(self) -> list[str]:
        try:
            paths = json.loads(self.cleaned_data["paths"] or "[]")
        except ValueError:
            return []
        return [str(path) for path in paths] if isinstance(paths, list) else []

    def clean(self) -> dict[str, Any]:
        self._need_source()
        if not self.errors and self.env.is_valid():
            self._build()
        return self.cleaned_data

    def secret_values(self) -> dict[str, str]:
        """Name to value: what was typed now, and what is kept. SecretUnreadable when SECRET_KEY has changed."""
        names = self.env.kept_secrets()
        kept = secrets.values_of(self.source_run) if names and self.source_run else {}
        return {**{name: kept[name] for name in names}, **self.env.typed_secrets()}

    def _need_source(self) -> None:
        data = self.cleaned_data
        needed = {"path": ("workdir", _("Give the folder's absolute path.")), "git": ("git_url", _("Give the URL."))}
        field, sentence = needed.get(data.get("source", ""), ("", ""))
        if field and not data.get(field) and field not in self.errors:
            self.add_error(field, sentence)
        if data.get("source") == "upload" and not data.get("folder") and not self._kept_upload():
            self.add_error("folder", _("Choose a folder to upload."))

    def _kept_upload(self) -> Upload | None:
        data = self.cleaned_data
        return Upload.objects.filter(project=data.get("project"), sha256=data.get("kept_upload", "")).first()

    def _build(self) -> None:
        try:
            self.spec = RunSpec.model_validate(self._asked())
        except ValidationError as error:
            self._show(error)
            return
        refusal = placement.fits_anywhere(self.spec, total_slots())
        if refusal:
            self.add_error("nodes", refusal)

    def _asked(self) -> dict[str, Any]:
        data, source = self.cleaned_data, self.cleaned_data["source"]
        same = ("nodes", "ranks_per_node", "grace", "stop_signal", "retries", "deep", "preflight")
        plain = {key: data[key] for key in same}
        kept = self._kept_upload() if source == "upload" and not data["folder"] else None
        return plain | {
            "argv": split(data["command"]),
            "env": self.env.plain(),
            "workdir": data["workdir"] if source == "path" else "",
            "git_url": data["git_url"] if source == "git" else "",
            "git_ref": data["git_ref"] if source == "git" else "",
            "upload_sha256": kept.sha256 if kept else "",
            "timeout": data["timeout_min"] * 60 if data["timeout_min"] else None,
            "total_steps": data["total_steps"],
        }

    def _show(self, error: ValidationError) -> None:
        for one in error.errors(include_url=False):
            place = str(one["loc"][0]) if one["loc"] else "source"
            field = _TYPED_IN.get(place, place)
            self.add_error(field if field in self.fields else None, one["msg"].removeprefix("Value error, "))


def _initial(run: Run) -> dict[str, Any]:
    """The form of a run that is run again."""
    spec = RunSpec.stored(run.spec)
    source = "path" if spec.workdir else "git" if spec.git_url else "upload" if spec.upload_sha256 else "none"
    return spec.model_dump() | {
        "project": run.project,
        "name": run.name,
        "command": shlex.join(spec.argv),
        "source": source,
        "kept_upload": spec.upload_sha256,
        "grace": f"{spec.grace:g}",
        "timeout_min": f"{spec.timeout / 60:g}" if spec.timeout else None,
    }
