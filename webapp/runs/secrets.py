"""Secret environment values: encrypted at rest with a key derived from SECRET_KEY, opened only to be sent to a node."""

import base64
import re
from functools import cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.translation import gettext as _

from webapp.runs.models import Run, Secret

HIDDEN = "•••"
_SHORTEST_HIDDEN = 4  # shorter values would hide parts of ordinary words


class SecretUnreadable(Exception):
    """SECRET_KEY has changed since the value was stored."""


def keep(run: Run, values: dict[str, str]) -> None:
    """Store a run's secrets, replacing those of the same name."""
    for name, value in values.items():
        Secret.objects.update_or_create(run=run, name=name, defaults={"ciphertext": encrypt(value)})


def copy(source: Run, target: Run, names: list[str]) -> None:
    """Give `target` the named secrets of `source` without showing them to anyone ("Run again")."""
    for secret in Secret.objects.filter(run=source, name__in=names):
        Secret.objects.update_or_create(run=target, name=secret.name, defaults={"ciphertext": bytes(secret.ciphertext)})


def values_of(run: Run) -> dict[str, str]:
    """Name to value, decrypted."""
    return {secret.name: decrypt(bytes(secret.ciphertext)) for secret in Secret.objects.filter(run=run)}


def redact(run: Run, text: str) -> str:
    """The text with every secret value of the run replaced."""
    values = [value for value in _readable_values(run) if len(value) >= _SHORTEST_HIDDEN]
    if not values:
        return text
    longest_first = sorted(values, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), HIDDEN, text)


def encrypt(value: str) -> bytes:
    return _fernet(settings.SECRET_KEY).encrypt(value.encode())


def decrypt(ciphertext: bytes) -> str:
    """SecretUnreadable when the key is another one."""
    try:
        return _fernet(settings.SECRET_KEY).decrypt(ciphertext).decode()
    except InvalidToken as error:
        raise SecretUnreadable(_("A secret cannot be read: SECRET_KEY has changed. Set the secret again.")) from error


def _readable_values(run: Run) -> list[str]:
    try:
        return list(values_of(run).values())
    except SecretUnreadable:
        return []


@cache
def _fernet(secret_key: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"paceline run secrets").derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
