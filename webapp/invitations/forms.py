"""Forms of invitations."""

from django import forms
from django.utils.translation import gettext_lazy as _

from webapp.projects.models import Role


class InviteForm(forms.Form):
    """To whom. Onto the server alone there is no role."""

    email = forms.EmailField(label=_("E-mail address"))
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.EDITOR)

    def __init__(self, *args: object, with_role: bool, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if not with_role:
            del self.fields["role"]
