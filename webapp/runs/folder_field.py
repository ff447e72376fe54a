"""A form field for a whole folder, as the browser's folder chooser sends it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files import File
from django.utils.datastructures import MultiValueDict


class FolderInput(forms.ClearableFileInput):
    """`<input type="file" webkitdirectory>`."""

    allow_multiple_selected = True
    template_name = "django/forms/widgets/file.html"

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[File[bytes]]:
        return list(files.getlist(name)) if isinstance(files, MultiValueDict) else []


class FolderField(forms.Field):
    """A list of uploaded files, empty when none was chosen."""

    widget = FolderInput(attrs={"webkitdirectory": True, "multiple": True})

    def clean(self, value: list[File[bytes]]) -> list[File[bytes]]:
        return value or []
