"""The form of a report: a title, a project while it is new, and a list of blocks."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.accounts.models import User
from webapp.compare.chosen import MOST_METRICS, MOST_RUNS, words
from webapp.compare.smoothing import STRONGEST
from webapp.projects.access import projects_where
from webapp.projects.models import Project, Role
from webapp.reports.models import LONGEST_TEXT, LONGEST_TITLE, Axis, Block, Kind

MOST_BLOCKS = 60
_UID = re.compile(r"\br-[a-z0-9]{6,14}\b")


class ReportForm(forms.Form):
    """`project` is asked for only of a new report."""

    title = forms.CharField(label=gettext_lazy("Title"), max_length=LONGEST_TITLE)
    project = forms.ModelChoiceField(
        Project.objects.none(), label=gettext_lazy("Project"), to_field_name="slug", empty_label=None
    )

    def __init__(self, user: User, *args: Any, new: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if new:
            self.fields["project"].queryset = projects_where(user, Role.EDITOR).order_by("name")  # type: ignore[attr-defined]
        else:
            del self.fields["project"]


class BlockForm(forms.Form):
    """One block. What its kind does not need is left out when it is kept."""

    kind = forms.ChoiceField(label=gettext_lazy("What it is"), choices=Kind.choices)
    text = forms.CharField(
        label=gettext_lazy("Text"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=gettext_lazy("Markdown. Of a chart it stands below it."),
    )
    runs = forms.CharField(
        label=gettext_lazy("Runs"),
        required=False,
        help_text=gettext_lazy("Their ids, or the address of a comparison."),
        widget=forms.TextInput(attrs={"class": "mono-in"}),
    )
    metrics = forms.CharField(
        label=gettext_lazy("Metrics"),
        required=False,
        help_text=gettext_lazy("One for curves, several with commas for a table."),
        widget=forms.TextInput(attrs={"class": "mono-in"}),
    )
    axis = forms.ChoiceField(label=gettext_lazy("Axis"), choices=Axis.choices, required=False)
    smooth = forms.FloatField(
        label=gettext_lazy("Smoothing"), required=False, min_value=0, max_value=STRONGEST, initial=0
    )

    def clean_runs(self) -> list[str]:
        found = list(dict.fromkeys(_UID.findall(self.cleaned_data["runs"])))
        if len(found) > MOST_RUNS:
            raise forms.ValidationError(_("A chart shows at most %(most)d runs.") % {"most": MOST_RUNS})
        return found

    def clean_metrics(self) -> list[str]:
        return [name.strip() for name in words(self.cleaned_data["metrics"]) if name.strip()][:MOST_METRICS]

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        kind = asked.get("kind")
        if kind and kind != Kind.TEXT and not asked.get("runs") and "runs" not in self.errors:
            self.add_error("runs", _("Name the runs, such as r-abc234, or paste the address of a comparison."))
        if kind == Kind.CURVES and not asked.get("metrics"):
            self.add_error("metrics", _("Name the metric, such as loss."))
        return asked

    def fields_of_block(self) -> dict[str, Any]:
        """For `lifecycle`."""
        asked = self.cleaned_data
        plain = {"kind": asked["kind"], "text": asked["text"]}
        if asked["kind"] == Kind.TEXT:
            return plain
        return plain | {
            "runs": asked["runs"],
            "metrics": asked["metrics"],
            "axis": asked["axis"] or Axis.STEP,
            "smooth": asked["smooth"] or 0.0,
        }


Blocks = forms.formset_factory(
    BlockForm,
    extra=0,
    can_order=True,
    can_delete=True,
    max_num=MOST_BLOCKS,
    validate_max=True,
    absolute_max=MOST_BLOCKS,
)


def initial_of(block: Block) -> dict[str, Any]:
    """A stored block as the form shows it."""
    return {
        "kind": block.kind,
        "text": block.text,
        "runs": ", ".join(block.runs),
        "metrics": ",".join(name.replace("%", "%25").replace(",", "%2C") for name in block.metrics),
        "axis": block.axis,
        "smooth": block.smooth,
    }
