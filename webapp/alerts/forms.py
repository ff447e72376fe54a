"""Forms of rules, channels and silences."""

import math
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.alerts.models import Channel, Comparison, Over, Rule
from webapp.incidents.listing import KINDS
from webapp.incidents.models import Severity

_LONGEST_S = 86_400
_MOST_ADDRESSES = 20


class MetricRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """A rule on a metric. Numbers are in the metric's own unit."""

    metric = forms.CharField(
        label=_("Metric"),
        max_length=500,
        widget=forms.TextInput(attrs={"list": "metric-names", "autocomplete": "off", "spellcheck": "false"}),
        help_text=_("A built-in one such as phase/step, or a name that your script logs."),
    )
    threshold = forms.FloatField(
        label=_("Limit"),
        required=False,
        help_text=_("In the metric's unit: seconds for phases, % for gpu/util. “No data” and “NaN” need none."),
        error_messages={"invalid": _("Give a number, such as 0.5.")},
    )
    window_s = forms.IntegerField(
        label=_("Over so many seconds"),
        min_value=0,
        max_value=_LONGEST_S,
        initial=0,
        help_text=_("The mean of this time is compared; 0: each value. For “has no data”: how long none came."),
    )
    hold_s = forms.IntegerField(
        label=_("Holds for so many seconds"),
        min_value=0,
        max_value=_LONGEST_S,
        initial=0,
        help_text=_("It must be so for this long without a break."),
    )

    class Meta:
        model = Rule
        fields = ["name", "metric", "over", "comparison", "threshold", "window_s", "hold_s", "severity"]
        labels = {
            "name": _("Name"),
            "over": _("Of"),
            "comparison": _("Fires when it"),
            "severity": _("Severity"),
        }

    def clean_threshold(self) -> float | None:
        value: float | None = self.cleaned_data["threshold"]
        if value is not None and not math.isfinite(value):
            raise ValidationError(_("Give a number, such as 0.5."))
        return value

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if found.get("comparison") == Comparison.SILENT:
            if found.get("window_s") == 0:
                self.add_error("window_s", _("Say how long no data may come, such as 60."))
            found["threshold"], found["hold_s"] = None, 0
        elif found.get("comparison") == Comparison.NOT_FINITE:
            found["threshold"], found["window_s"], found["over"] = None, 0, Over.ANY
        elif "threshold" in found and found["threshold"] is None:
            self.add_error("threshold", _("Give the limit to compare with."))
        return found


class IncidentRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """A rule on what the detectors find."""

    kinds = forms.MultipleChoiceField(
        label=_("Kinds"),
        choices=list(KINDS.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: all kinds."),
    )
    least_percent = forms.FloatField(
        label=_("Steps at least so many percent longer"),
        min_value=0,
        max_value=10_000,
        initial=0,
        required=False,
        help_text=_("0: whatever it costs. A job that hangs always counts."),
    )

    class Meta:
        model = Rule
        fields = ["name", "kinds", "least_severity"]
        labels = {"name": _("Name"), "least_severity": _("Least severity")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["least_percent"].initial = f"{100 * self.instance.least_slowdown:g}"
        least = forms.ChoiceField(label=_("Least severity"), choices=Severity.choices, initial=Severity.WARNING)
        self.fields["least_severity"] = least

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        self.instance.least_slowdown = (found.get("least_percent") or 0.0) / 100
        return found


class ChannelForm(forms.Form):
    """A place to send alerts to."""

    kind = forms.ChoiceField(label=_("Kind"), choices=Channel.Kind.choices)
    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=_("Such as “On call”. Empty: the address is shown."),
    )
    address = forms.CharField(
        label=_("Address"),
        max_length=2000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("E-mail addresses with commas between them, or the webhook's URL."),
    )
    secret = forms.CharField(
        label=_("Secret"),
        max_length=200,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("Of a webhook: signs each message. It is kept encrypted and never shown again."),
    )

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if found.get("address") and "kind" in found:
            check = _emails if found["kind"] == Channel.Kind.EMAIL else _url
            try:
                found["address"] = check(found["address"])
            except ValidationError as error:
                self.add_error("address", error)
        return found


class ChannelChangeForm(ChannelForm):
    """A channel that is there. What it holds in secret is written, never read: an empty field leaves it as it is."""

    drop_secret = forms.BooleanField(label=_("Sign no more: forget the secret"), required=False)

    def __init__(self, channel: Channel, data: Any = None) -> None:
        super().__init__(data, initial={"name": channel.name})
        self._kind = channel.kind
        del self.fields["kind"]
        address = self.fields["address"]
        address.required = False
        address.widget.attrs["placeholder"] = channel.shown
        address.help_text = _("Where it sends to from now on. Empty: as it is.")
        self.fields["secret"].help_text = _("Signs each message. Empty: as it is.")
        if channel.kind != Channel.Kind.WEBHOOK:
            del self.fields["secret"]
        if not channel.secret:
            del self.fields["drop_secret"]

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["kind"] = self._kind
        return super().clean()


class SilenceForm(forms.Form):
    """From when to when nothing is sent. Times are UTC, as everywhere on the pages."""

    _attrs = {"type": "datetime-local"}
    since = forms.DateTimeField(
        label=_("From (UTC)"),
        required=False,
        widget=forms.DateTimeInput(attrs=_attrs, format="%Y-%m-%dT%H:%M"),
        help_text=_("Empty: now."),
    )
    until = forms.DateTimeField(
        label=_("Until (UTC)"),
        widget=forms.DateTimeInput(attrs=_attrs, format="%Y-%m-%dT%H:%M"),
    )
    reason = forms.CharField(label=_("Reason"), max_length=200)
    site = forms.BooleanField(label=_("For all projects of this site"), required=False)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        now = timezone.now()
        found["since"] = found.get("since") or now
        until: datetime | None = found.get("until")
        if until is not None and until <= max(found["since"], now):
            self.add_error("until", _("The end must lie in the future and after the beginning."))
        return found


def _emails(text: str) -> str:
    addresses = [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]
    if len(addresses) > _MOST_ADDRESSES:
        raise ValidationError(_("Give at most 20 addresses."))
    for address in addresses:
        try:
            validate_email(address)
        except ValidationError as error:
            raise ValidationError(_("“%(address)s” is no e-mail address.") % {"address": address}) from error
    return ",".join(addresses)


def _url(text: str) -> str:
    wrong = ValidationError(_("Give an address that begins with https:// or http://."))
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise wrong from error
    plain = text.isascii() and text.isprintable() and " " not in text
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None or port == 0:
        raise wrong
    if not plain:
        raise ValidationError(_("The address has characters that an address cannot have."))
    return text
