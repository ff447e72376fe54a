"""The e-mail that carries an invitation's link."""

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.urls import reverse
from django.utils.translation import gettext as _

from webapp.invitations.models import Invitation

log = logging.getLogger(__name__)


def link(secret: str) -> str:
    """The whole address."""
    return str(settings.PUBLIC_URL).rstrip("/") + reverse("invitations:show", args=[secret])


def send(invitation: Invitation, secret: str) -> bool:
    """Whether the message went out; it does not where no mail server is set."""
    if not settings.EMAIL_URL:
        return False
    words = {"name": invitation.invited_by.username, "link": link(secret)}
    if invitation.project:
        words["project"] = invitation.project.name
        subject = _("%(name)s invites you to the project %(project)s") % words
    else:
        subject = _("%(name)s invites you to Paceline") % words
    text = _("Open this link within seven days; it works once:\n\n%(link)s\n\nIf you do not know why, ignore it.")
    try:
        return bool(send_mail(subject, text % words, settings.EMAIL_FROM, [invitation.email]))
    except (SMTPException, OSError) as error:
        log.warning("invitation %s not sent: %s", invitation.pk, error)
        return False
