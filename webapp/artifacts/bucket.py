"""A bucket that speaks S3. What goes wrong with it is an OSError, as it is with a folder."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from django.core.files.base import File
from storages.backends.s3 import S3Storage

from webapp.byte_range import Part

# Somebody waits for the answer. Checksums of botocore's own kind are left out: many that speak S3 refuse them, and an
# artifact has its SHA-256.
_CLIENT = Config(
    connect_timeout=4,
    read_timeout=30,
    retries={"mode": "standard", "total_max_attempts": 3},
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)


class Bucket(S3Storage):  # type: ignore[misc]
    """Needs to put, get and delete objects, no more: names are never used twice, so nothing is looked up first."""

    def get_default_settings(self) -> dict[str, Any]:
        """Of a storage whose options do not say otherwise."""
        return {**super().get_default_settings(), "client_config": _CLIENT, "file_overwrite": True}

    def open_at(self, name: str, part: Part | None) -> "File[bytes]":
        """Read as it comes: the file object of django-storages would fetch the whole before the first byte."""
        asked = {"Range": f"bytes={part.first}-{part.last}"} if part else {}
        with _os_errors():
            answer = self.bucket.Object(self._normalize_name(name)).get(**asked)
        if part and answer["ContentLength"] != part.length:
            raise OSError(f"the bucket sent {answer['ContentLength']} bytes of {name}, not the {part.length} asked for")
        return File(answer["Body"], name)

    def _save(self, name: str, content: File) -> str:  # type: ignore[type-arg]
        with _os_errors():
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        """One that is not there is no error; django-storages takes a bucket that is not there for one too."""
        with suppress(FileNotFoundError), _os_errors():
            self.bucket.Object(self._normalize_name(name)).delete()


@contextmanager
def _os_errors() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code, status = error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
        if code == "NoSuchKey":
            raise FileNotFoundError(str(error)) from error
        raise (PermissionError if status in {401, 403} or code == "NoSuchBucket" else OSError)(str(error)) from error
    except NoCredentialsError as error:
        raise PermissionError(str(error)) from error
    except (BotoCoreError, Boto3Error) as error:
        raise OSError(str(error)) from error
