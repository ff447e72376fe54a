"""What each launch was made of, as its nodes told. Written by `record.py` only."""

from django.db import models
from django.utils import timezone

from webapp.runs.models import AttemptNode


class PackageList(models.Model):
    """Packages of an interpreter. Thousands of launches share a few lists."""

    sha256 = models.CharField(max_length=64, unique=True)
    packages = models.JSONField()  # {name: version}

    def __str__(self) -> str:
        return self.sha256[:12]


class Provenance(models.Model):
    """One node's part of one attempt. Empty: the node did not say."""

    part = models.OneToOneField(AttemptNode, on_delete=models.CASCADE, related_name="provenance")
    told_at = models.DateTimeField(default=timezone.now)
    folder = models.CharField(max_length=1000, blank=True)
    python = models.CharField(max_length=40, blank=True)
    executable = models.CharField(max_length=1000, blank=True)
    packages = models.ForeignKey(PackageList, on_delete=models.PROTECT, null=True, related_name="told_by")
    environment = models.JSONField(default=dict)  # name to value, without secrets
    # ---- the repository that holds the script; an empty commit: there is none
    commit = models.CharField(max_length=64, blank=True)
    branch = models.CharField(max_length=300, blank=True)  # empty: a commit was checked out
    remote = models.CharField(max_length=1000, blank=True)  # without a login
    dirty = models.BooleanField(null=True)
    diff = models.BinaryField(default=bytes)  # zlib of the text against the commit
    diff_bytes = models.PositiveIntegerField(default=0)
    diff_cut = models.BooleanField(default=False)  # it was longer than what is kept
    untracked = models.JSONField(default=list)  # names of files that git does not know

    def __str__(self) -> str:
        return f"{self.part} {self.commit[:12]}"
