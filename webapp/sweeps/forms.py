"""The form of a sweep: a launch form, what is tried, and what counts as better."""

from typing import Any, cast

from django import forms
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.accounts.models import User
from webapp.runs.forms import LaunchForm
from webapp.runs.models import Run
from webapp.runs.spec import check_text
from webapp.sweeps.models import Direction, Method
from webapp.sweeps.space import Choices, grid_size, read

MOST_ARGUMENTS = 30
MOST_RUNS = 10_000
LONGEST_NAME = 100


class SpaceRow(forms.Form):
    """One argument and what it may be."""

    name = forms.CharField(required=False, max_length=200, label=gettext_lazy("Argument"))
    values = forms.CharField(required=False, max_length=10_000, label=gettext_lazy("Values"))

    def clean(self) -> dict[str, Any]:
        row = self.cleaned_data
        name, values = row.get("name", ""), row.get("values", "")
        if not name and not values:
            return row
        if not name or any(letter.isspace() for letter in name):
            self.add_error("name", _("Name the argument as on the command line, such as --lr."))
        try:
            check_text(name + values, _("This"))
            row["choices"] = read(values)
        except ValueError as error:
            self.add_error("values", str(error))
        return row


class _SpaceRows(forms.BaseFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        names = [row["name"] for row in self.named()]
        for name in {name for name in names if names.count(name) > 1}:
            raise forms.ValidationError(_("%(name)s is given twice.") % {"name": name})
        if not names and not any(form.errors for form in self.forms):
            raise forms.ValidationError(_("Name at least one argument to try."))

    def named(self) -> list[dict[str, Any]]:
        """The rows that were filled in."""
        return [row for form in self.forms if (row := getattr(form, "cleaned_data", {})).get("name")]

    def typed(self) -> list[list[str]]:
        """[[argument, what was typed], …]"""
        return [[row["name"], row["values"]] for row in self.named()]

    def choices(self) -> dict[str, Choices]:
        return {row["name"]: row["choices"] for row in self.named()}


SpaceRows = cast(
    "type[_SpaceRows]",
    forms.formset_factory(
        SpaceRow, formset=_SpaceRows, extra=2, max_num=MOST_ARGUMENTS, absolute_max=MOST_ARGUMENTS, validate_max=True
    ),
)


class SweepForm(LaunchForm):
    """One sweep; `space` holds the rows of what is tried."""

    method = forms.ChoiceField(choices=Method.choices, initial=Method.OPTUNA, label=gettext_lazy("How to choose"))
    goal = forms.CharField(
        max_length=500,
        initial="loss",
        label=gettext_lazy("Metric that decides"),
        help_text=gettext_lazy("As your script logs it. The last value of each run counts."),
    )
    direction = forms.ChoiceField(choices=Direction.choices, label=gettext_lazy("Best is"))
    most_runs = forms.IntegerField(min_value=1, max_value=MOST_RUNS, initial=20, label=gettext_lazy("Runs at most"))
    parallel = forms.IntegerField(min_value=1, max_value=1_000, initial=2, label=gettext_lazy("At the same time"))
    early = forms.BooleanField(required=False, label=gettext_lazy("Early stopping"))
    not_before = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=20, label=gettext_lazy("Not before step"))

    def __init__(self, user: User, source_run: Run | None = None, data: Any = None, files: Any = None, **initial: Any):
        super().__init__(user, source_run, data, files, **initial)
        self.space = SpaceRows(data, prefix="space")
        self.initial["name"] = self.initial.get("name", "")[:LONGEST_NAME]
        self.fields["name"].widget.attrs["maxlength"] = LONGEST_NAME
        self.fields["name"].max_length = LONGEST_NAME  # type: ignore[attr-defined]
        self.fields["name"].validators.append(MaxLengthValidator(LONGEST_NAME))

    def is_valid(self) -> bool:
        """Form and all rows, so that every error is shown at once."""
        rows = self.space.is_valid()
        return super().is_valid() and rows

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("method") == Method.GRID and self.space.is_valid():
            try:
                data["most_runs"] = min(data.get("most_runs", MOST_RUNS), grid_size(self.space.choices()))
            except ValueError as error:
                self.add_error("method", str(error))
        return data

    def asked(self) -> dict[str, Any]:
        """What `lifecycle.create` takes beside the launch."""
        names = ("name", "method", "goal", "direction", "most_runs", "parallel", "early", "not_before")
        return {**{name: self.cleaned_data[name] for name in names}, "space": self.space.typed()}
