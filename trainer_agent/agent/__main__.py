"""`python -m trainer_agent.agent --home DIR [--join URL]`: what `paceline join` becomes, and what supervisors start.

The token comes by --token, PACELINE_JOIN_TOKEN or the file that PACELINE_JOIN_TOKEN_FILE names.
"""

import argparse
import os
import sys
from pathlib import Path

from trainer_agent.agent.errors import AgentError
from trainer_agent.agent.serve import enrol_once, serve


def main() -> int:
    """Enrol if asked to, then run."""
    options = _options()
    home = Path(options.home).resolve()
    try:
        if options.join:
            node, is_new = enrol_once(
                home, options.join, _token(options.token), name=options.name, slots=options.slots, python=options.python
            )
            sys.stdout.write(f"{'Joined' if is_new else 'Welcome back'}: this machine is node {node.name}.\n")
            sys.stdout.write(f"Its files are in {home}. Ctrl-C ends the agent; running ranks live on.\n")
            sys.stdout.flush()
        serve(home)
    except AgentError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="trainer_agent.agent")
    parser.add_argument("--home", required=True, help="folder of this node's identity, spool and run folders")
    parser.add_argument("--join", default="", metavar="URL", help="enrol at this server if the home has no node yet")
    parser.add_argument("--token", default="", help="one-time token")
    parser.add_argument("--name", default="", help="name of the node, default the host's")
    parser.add_argument("--slots", type=int, help="CPU slots instead of one slot per GPU")
    parser.add_argument("--python", default="", help="interpreter that trains, default this one")
    return parser.parse_args()


def _token(given: str) -> str:
    if given:
        return given
    if os.environ.get("PACELINE_JOIN_TOKEN"):
        return os.environ["PACELINE_JOIN_TOKEN"]
    path = os.environ.get("PACELINE_JOIN_TOKEN_FILE")
    if path and Path(path).exists():
        return Path(path).read_text(encoding="utf-8").strip()
    return ""


if __name__ == "__main__":
    sys.exit(main())
