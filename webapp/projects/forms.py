"""Forms of projects."""

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from webapp.projects.models import Project, Role


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


class RoleForm(forms.Form):
    """Change one person's role."""

    role = forms.ChoiceField(choices=Role.choices)
