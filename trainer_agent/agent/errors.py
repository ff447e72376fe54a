"""
AgentError
├── CannotPrepare   theirs: the node has not what the run asks for; told to the person as `refused`
├── JoinRefused     theirs: the server did not admit this node
└── NoIdentity      theirs: this home was never enrolled
"""


class AgentError(Exception):
    """Base of the agent's own errors."""


class CannotPrepare(AgentError):
    """`reason` is a fixed word of messages.Event's `refused`, the text says what was looked for."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class JoinRefused(AgentError):
    """The server said no, in a sentence."""


class NoIdentity(AgentError):
    """There is no node.json."""
