"""The environment rows of the launch form. A secret's value never goes back to the page."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.runs.models import Run
from webapp.runs.spec import check_env_name

MOST_ROWS = 200


class EnvRow(forms.Form):
    """One variable. `kept`: the value of the run that is run again, unless a new one is typed."""

    name = forms.CharField(required=False, max_length=200, strip=True, label=gettext_lazy("Name"))
    value = forms.CharField(required=False, max_length=32_000, strip=False, label=gettext_lazy("Value"))
    secret = forms.BooleanField(required=False, label=gettext_lazy("Secret"))
    kept = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name:
            try:
                check_env_name(name)
            except ValueError as error:
                raise forms.ValidationError(str(error)) from error
        return name

    def clean(self) -> dict[str, Any]:
        row = self.cleaned_data
        if row.get("value") and row.get("name") == "":
            self.add_error("name", _("This value has no name. Name it, or clear the value."))
        if "\0" in row.get("value", ""):
            self.add_error("value", _("A value cannot hold a NUL byte."))
        return row

    @property
    def shown_value(self) -> str:
        """What the page may show in the value box."""
        return "" if self["secret"].value() else self["value"].value() or ""


class _EnvRows(forms.BaseFormSet):  # type: ignore[type-arg]
    """All rows: names are given once, kept secrets exist."""

    source_run: Run | None = None

    def clean(self) -> None:
        seen: set[str] = set()
        have = set(self.source_run.secrets.values_list("name", flat=True)) if self.source_run else set()
        for form in self.forms:
            row = getattr(form, "cleaned_data", {})
            name = row.get("name")
            if not name:
                continue
            if name in seen:
                form.add_error("name", _("%s is given twice.") % name)
            seen.add(name)
            if row["secret"] and row["kept"] and not row["value"] and name not in have:
                form.add_error("value", _("There is no earlier value to keep. Type one."))

    def plain(self) -> dict[str, str]:
        """Variables that are no secrets."""
        return {row["name"]: row["value"] for row in self._named() if not row["secret"]}

    def typed_secrets(self) -> dict[str, str]:
        """Secrets whose value was typed now."""
        return {row["name"]: row["value"] for row in self._named() if row["secret"] and not self._is_kept(row)}

    def kept_secrets(self) -> list[str]:
        """Names of secrets whose value comes from the run that is run again."""
        return [row["name"] for row in self._named() if row["secret"] and self._is_kept(row)]

    def _named(self) -> list[dict[str, Any]]:
        return [form.cleaned_data for form in self.forms if form.cleaned_data.get("name")]

    @staticmethod
    def _is_kept(row: dict[str, Any]) -> bool:
        return bool(row["kept"]) and not row["value"]


EnvRows = cast(
    "type[_EnvRows]",
    forms.formset_factory(
        EnvRow, formset=_EnvRows, extra=1, max_num=MOST_ROWS, absolute_max=MOST_ROWS, validate_max=True
    ),
)


def initial_rows(run: Run) -> list[dict[str, Any]]:
    """The rows of a run that is run again; its secrets by name only."""
    plain = [{"name": name, "value": value} for name, value in run.spec.get("env", {}).items()]
    names = run.secrets.order_by("name").values_list("name", flat=True)
    return plain + [{"name": name, "secret": True, "kept": True} for name in names]
