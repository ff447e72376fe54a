#!/usr/bin/env bash
# What needs no running program: lint, format, types, direction of imports, migrations that match the models.
set -euo pipefail
bin=.venv/bin
echo "ruff …" && "$bin/ruff" check . && "$bin/ruff" format --check .
echo "mypy …" && "$bin/mypy" webapp workers trainer_agent tests benchmarks
echo "import-linter …" && "$bin/lint-imports" --no-cache
echo "migrations …" && SECRET_KEY=for-the-check DATABASE_URL=sqlite://:memory: "$bin/python" manage.py makemigrations --check --dry-run
