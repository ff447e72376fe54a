"""A real HTTP service that speaks S3 and checks signatures and rights, in a process of its own: moto's server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3

from tests.settings import free_port
from tests.waiting import answers, until

BUCKET = "runs"
NO_BUCKET = "nowhere"  # the key may use it too, but there is none
REGION = "eu-central-1"
_NEEDED = ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
_WITHOUT_LOGIN = 7  # the calls below that make people and the bucket


@dataclass(frozen=True)
class Service:
    """`key` and `secret` may do what docs/settings.md says that they need, and nothing else."""

    url: str
    key: str
    secret: str
    root: Any  # a client that may do everything

    def keys(self) -> list[str]:
        """Names of all objects."""
        return [one["Key"] for one in self.root.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def unfinished(self) -> list[Any]:
        """Uploads in parts that were neither completed nor given up."""
        return list(self.root.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []))


@contextmanager
def s3_service() -> Iterator[Service]:
    """One with an empty bucket."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(_WITHOUT_LOGIN)}
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: process.poll() is not None or answers(f"{url}/moto-api/"), 60)
        assert process.poll() is None, "the S3 service did not start"
        yield _with_people(url)
    finally:
        process.terminate()
        process.wait(15)


def _with_people(url: str) -> Service:
    nobody = _client("s3", url, "nobody", "-")  # whom the first calls need not know
    nobody.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    iam = _client("iam", url, "nobody", "-")
    root = _person(iam, "root", {"*": ["s3:*"]})
    buckets = [f"arn:aws:s3:::{name}" for name in (BUCKET, NO_BUCKET)]
    may = {f"{bucket}/*": _NEEDED for bucket in buckets} | {bucket: ["s3:ListBucket"] for bucket in buckets}
    paceline = _person(iam, "paceline", may)
    return Service(url, *paceline, _client("s3", url, *root))


def _client(service: str, url: str, key: str, secret: str) -> Any:
    told = {"endpoint_url": url, "region_name": REGION, "aws_access_key_id": key, "aws_secret_access_key": secret}
    return boto3.client(service, **told)


def _person(iam: Any, name: str, may: dict[str, list[str]]) -> tuple[str, str]:
    """`may`: actions by what they are done to."""
    iam.create_user(UserName=name)
    statements = [{"Effect": "Allow", "Action": actions, "Resource": what} for what, actions in may.items()]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName=name, PolicyName="may", PolicyDocument=policy)
    made = iam.create_access_key(UserName=name)["AccessKey"]
    return made["AccessKeyId"], made["SecretAccessKey"]
