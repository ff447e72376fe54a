"""The only writer of reports: made, changed, linked, removed."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User, hash_token
from webapp.projects.models import Project
from webapp.reports.models import Block, Report


def make(project: Project, author: User, title: str, blocks: Sequence[dict[str, Any]]) -> Report:
    """A new report. `blocks`: fields of Block in their order."""
    with transaction.atomic():
        report = Report.objects.create(project=project, author=author, title=title)
        _put(report, blocks)
    return report


def change(report: Report, title: str, blocks: Sequence[dict[str, Any]]) -> None:
    """Another title and other blocks in the place of the old ones."""
    with transaction.atomic():
        Report.objects.filter(pk=report.pk).update(title=title, changed_at=timezone.now())
        report.blocks.all().delete()
        _put(report, blocks)


def link(report: Report, days: int) -> str:
    """A new secret for its address without an account, shown once; an older link opens nothing from now on."""
    secret = secrets.token_urlsafe(32)
    until = timezone.now() + timedelta(days=days)
    Report.objects.filter(pk=report.pk).update(link_hash=hash_token(secret), link_until=until)
    return secret


def unlink(report: Report) -> None:
    """Its link opens nothing from now on."""
    Report.objects.filter(pk=report.pk).update(link_hash=None, link_until=None)


def remove(report: Report) -> None:
    """No run changes by it."""
    report.delete()


def _put(report: Report, blocks: Sequence[dict[str, Any]]) -> None:
    Block.objects.bulk_create(Block(report=report, place=place, **fields) for place, fields in enumerate(blocks))
