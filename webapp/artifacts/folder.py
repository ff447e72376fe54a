"""A folder of this server."""

from django.core.files import File
from django.core.files.storage import FileSystemStorage

from webapp.byte_range import Part


class Folder(FileSystemStorage):
    """Files by name."""

    def open_at(self, name: str, part: Part | None) -> "File[bytes]":
        """An open file whose next byte is the first of the part, or of the whole."""
        file = self.open(name)
        file.seek(part.first if part else 0)
        return file
