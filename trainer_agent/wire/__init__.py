"""What crosses a process border: messages, codec, Redis names and the rank record. Imports no one."""
