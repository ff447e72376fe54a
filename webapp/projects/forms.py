"""Forms of projects."""

from django import forms
from django.conf import settings
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from webapp.accounts.forms import LifetimeForm
from webapp.language.numerals import numeral
from webapp.projects.models import Project, Role

LOST_NODE_LIMIT_S = (30, 7 * 86_400)  # least and most


class ProjectForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new project. Its short name is made from the name when left empty."""

    class Meta:
        model = Project
        fields = ["name", "slug"]
        labels = {"name": _("Name"), "slug": _("Short name")}
        help_texts = {"slug": _("For addresses and the command line. Made from the name when empty.")}
        error_messages = {"slug": {"unique": _("Another project has this short name. Choose a different one.")}}

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["slug"].required = False

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("name", ""))[:60]
        if not slug:
            raise forms.ValidationError(_("Give a short name of letters, digits and hyphens."))
        return str(slug)


class MemberForm(forms.Form):
    """Add a person by user name."""

    username = forms.CharField(label=_("User name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.EDITOR)


class ServiceTokenForm(LifetimeForm):
    """A new token of the project."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What uses it, so that you know which one to revoke.")
    )
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.EDITOR)
    field_order = ("name", "role", "lifetime")


class RoleForm(forms.Form):
    """Change one person's role."""

    role = forms.ChoiceField(choices=Role.choices)


class LostNodeForm(forms.ModelForm):  # type: ignore[type-arg]
    """How long a silent node's part of a run is waited for."""

    lost_node_limit_s = forms.IntegerField(
        label=_("Seconds until a silent node is given up"),
        min_value=LOST_NODE_LIMIT_S[0],
        max_value=LOST_NODE_LIMIT_S[1],
        required=False,
        error_messages={
            "min_value": _("Give at least 30 seconds: a network may be away that long."),
            "max_value": _("Give at most 604,800 seconds, which is 7 days."),
            "invalid": _("Give a whole number of seconds."),
        },
    )

    class Meta:
        model = Project
        fields = ["lost_node_limit_s"]

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        seconds = numeral(settings.LOST_NODE_LIMIT_S, ",g")
        self.fields["lost_node_limit_s"].help_text = _(
            "From 30 seconds to 7 days. Empty: this server's %(seconds)s seconds."
        ) % {"seconds": seconds}


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a slot costs for an hour, so that incidents say what they cost in money."""

    slot_hour_price = forms.DecimalField(
        label=_("Price of a slot for an hour"),
        min_value=0,
        max_digits=10,
        decimal_places=4,
        required=False,
        help_text=_("A slot is a GPU, or a processor slot. Empty: no money is shown."),
        error_messages={"invalid": _("Give a number, such as 2.50."), "min_value": _("A price is not below zero.")},
    )
    currency = forms.RegexField(
        label=_("Currency"),
        regex=r"^[A-Za-z]{3}$",
        max_length=3,
        help_text=_("Three letters, such as USD or EUR."),
        error_messages={"invalid": _("Give three letters, such as USD.")},
    )

    class Meta:
        model = Project
        fields = ["slot_hour_price", "currency"]

    def clean_currency(self) -> str:
        return str(self.cleaned_data["currency"]).upper()
