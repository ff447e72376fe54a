"""The only writer of artifacts. A row is there as long as its content: made after it, removed after it."""

import hashlib
import secrets

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from webapp.accounts.models import User
from webapp.artifacts import store
from webapp.artifacts.models import Artifact, Kind
from webapp.artifacts.names import Refused, checked_name, checked_path, checked_sha256
from webapp.runs.models import Run

_BITE = 20  # contents removed at once


def keep(run: Run, name: str, sent: "File[bytes]", who: User, *, replace: bool = False) -> Artifact:
    """Put a file into the store. Refused when it is too large or its name is taken, StoreFailed."""
    name, size = checked_name(name or sent.name or ""), sent.size or 0
    limit = settings.ARTIFACT_LIMIT_MB
    if size > limit * 1024 * 1024:
        raise Refused("file", _("The file is larger than %(limit)s MB, the limit of this server.") % {"limit": limit})
    _refuse_taken(run, name, replace)
    sha256 = _hash_of(sent)
    content = store.put(f"{run.uid}/{secrets.token_hex(16)}", sent)
    try:
        made = Artifact(run=run, name=name, kind=Kind.KEPT, size=size, sha256=sha256, content=content, added_by=who)
        return _put(made, replace)
    except BaseException:
        store.forget(content)
        raise


def note_path(
    run: Run, name: str, *, path: str, node: str, size: int, sha256: str, who: User, replace: bool = False
) -> Artifact:
    """Write down a file that stays where it is; nothing of it is read."""
    name = checked_name(name)
    _refuse_taken(run, name, replace)
    made = Artifact(run=run, name=name, kind=Kind.PATH, size=size, sha256=checked_sha256(sha256), added_by=who)
    made.path, made.node = checked_path(path), "".join(filter(str.isprintable, node))[:120]
    return _put(made, replace)


def remove(artifact: Artifact) -> None:
    """The content, then its row, which stays with StoreFailed. A file that stays on its node is not touched."""
    if artifact.content:
        store.remove(artifact.content)
    artifact.delete()


def remove_some(run: Run) -> bool:
    """Some artifacts of a run that is being removed. Whether none is left."""
    rows = list(Artifact.objects.filter(run=run)[: _BITE + 1])
    for artifact in rows[:_BITE]:
        remove(artifact)
    return len(rows) <= _BITE


def _put(made: Artifact, replace: bool) -> Artifact:
    old = ""
    try:
        with transaction.atomic():
            before = Artifact.objects.filter(run=made.run, name=made.name).first() if replace else None
            if before is not None:
                old = before.content
                before.delete()
            made.save()
    except IntegrityError:
        raise _taken(made.name) from None
    if old:
        store.forget(old)
    return made


def _refuse_taken(run: Run, name: str, replace: bool) -> None:
    if not replace and Artifact.objects.filter(run=run, name=name).exists():
        raise _taken(name)


def _taken(name: str) -> Refused:
    sentence = _("The run has an artifact “%(name)s” already. Choose another name, or replace it.")
    return Refused("name", sentence % {"name": name})


def _hash_of(sent: "File[bytes]") -> str:
    digest = hashlib.sha256()
    for piece in sent.chunks():
        digest.update(piece)
    sent.seek(0)
    return digest.hexdigest()
