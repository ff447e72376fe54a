#!/usr/bin/env bash
# Every test: static checks, the whole suite on SQLite, then what touches the database again on PostgreSQL.
# On a laptop, what is missing is named and left out; with CI=true it is an error.
set -euo pipefail
python=.venv/bin/python
[ "${CI:-}" = true ] && needed=1 || needed=0
export PYTEST_TIMEOUT=300  # for a test that hangs; two halves run side by side, perhaps on a busy machine

chromium_there() { command -v chromium >/dev/null; }
postgres_there() { ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null; }
gettext_there() { command -v xgettext >/dev/null && command -v msgfmt >/dev/null; }
lab_there() { command -v ip >/dev/null && command -v tc >/dev/null && command -v nft >/dev/null; }

missing=()
chromium_there || missing+=(chromium)
postgres_there || missing+=(postgresql)
gettext_there || missing+=(gettext)
lab_there || missing+=(iproute2 nftables)
if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing ${missing[*]} …"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

left_out=""
if ! chromium_there; then
  [ "$needed" = 1 ] && { echo "Chromium is missing, and CI skips nothing." >&2; exit 1; }
  echo "Chromium is missing (apt-get install chromium): the tests with a browser are left out."
  left_out="not browser"
fi
if ! postgres_there; then
  [ "$needed" = 1 ] && { echo "PostgreSQL is missing, and CI skips nothing." >&2; exit 1; }
  echo "PostgreSQL is missing (apt-get install postgresql): the tests run on SQLite only."
  left_out="${left_out:+$left_out and }not postgres"
fi
if ! gettext_there; then
  [ "$needed" = 1 ] && { echo "gettext is missing, and CI skips nothing." >&2; exit 1; }
  echo "gettext is missing (apt-get install gettext): the test that every text is translated is left out."
  left_out="${left_out:+$left_out and }not gettext"
fi
if ! lab_there || [ "$(id -u)" != 0 ]; then
  [ "$needed" = 1 ] && { echo "The lab needs root, iproute2 and nftables, and CI skips nothing." >&2; exit 1; }
  echo "Not root, or iproute2 or nftables is missing: the tests in network namespaces are left out."
  left_out="${left_out:+$left_out and }not lab"
fi

bash .ci/static_checks.sh

# Two halves side by side, since much of each is waiting for processes to start: everything else in the background, and
# here most of what starts agents, launchers and the whole product, then the lab, then on PostgreSQL what uses the
# database. Which folder is in which half is so chosen that both take equally long.
with_processes=(tests/agent tests/e2e tests/faults tests/ops tests/upgrade)
with_database=(tests/control tests/telemetry tests/ingest tests/live tests/pages tests/runpage tests/incidents tests/alerts tests/api tests/cli)
with_database+=(tests/artifacts tests/compare tests/exports tests/history tests/notes tests/provenance tests/reports tests/sharing tests/sweeps)

# Runs a command line of pytest. Up to 15 tests that fail are run once more by themselves, since a machine that is
# busy with the other half can upset a test that waits; they are named, so that somebody mends them. Twice is a failure.
tested() {
  local name=$1 status=0 lasting
  shift
  lasting=.pytest_cache/$name
  "$@" -o cache_dir="$lasting" || status=$?
  [ "$status" = 1 ] || return "$status"
  [ "$("$python" -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' "$lasting/v/cache/lastfailed")" -le 15 ] || return 1
  echo "Once more what failed of $name …"
  "$@" -o cache_dir="$lasting" --last-failed --last-failed-no-failures=none || return 1
  echo "FLAKY: a test of $name failed once and passed when it was run again; its first failure stands above."
}

the_rest() {
  tested rest "$python" -m pytest -q -m "$left_out" tests "${with_processes[@]/#/--ignore=}" --ignore=tests/lab
}

on_postgres() {
  echo "What uses the database, on PostgreSQL …"
  tested postgres "$python" -m tests.postgres -q -m "not e2e and not torch and not browser" "${with_database[@]}"
}

# The lab's interfaces come and go in a network of its own: a browser ends its requests when the machine's change.
in_own_network() {
  if [ "$(id -u)" = 0 ] && lab_there; then
    unshare --net bash -c 'ip link set lo up && exec "$@"' sh "$@"
  else
    "$@"
  fi
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
the_rest >"$log" 2>&1 &
rest=$!
echo "What starts processes …"
tested processes "$python" -m pytest -q -m "$left_out" "${with_processes[@]}" || failed=1
tested lab in_own_network "$python" -m pytest -q -m "$left_out" tests/lab || failed=1
if postgres_there; then on_postgres || failed=1; fi
wait "$rest" || failed=1
echo "Everything else, on SQLite …"
cat "$log"
exit "$failed"
