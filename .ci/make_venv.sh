#!/usr/bin/env bash
# Make .venv with the Python that is named; says what is missing where it cannot.
set -euo pipefail
python=${1:-python3}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "Paceline needs Python 3.11 or newer; '$python' is not. Try: make setup PYTHON=python3.11" >&2
  exit 1
fi
[ -x .venv/bin/pip ] && exit 0
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing python3-venv …"
    apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
  else
    echo "Python's venv module is missing. On Debian or Ubuntu: sudo apt-get install python3-venv" >&2
    exit 1
  fi
fi
echo "Making .venv …"
"$python" -m venv .venv
