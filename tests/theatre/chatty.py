"""Bytes that are no text, and one line of ten million bytes."""

import os

os.write(1, b"\xff\xfe not utf-8 \x00\n")
os.write(2, b"to stderr\n")
line = b"x" * 10_000_000 + b"\n"
while line:
    line = line[os.write(1, line) :]
os.write(1, b"the end")
