# `make demo` shows the product, `make test` proves it. Everything lies in .venv and .paceline.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo check test clean

help:
	@echo "make setup   virtual environment and packages"
	@echo "make demo    everything started, two runs launched, URL and login printed; Ctrl-C stops all of it"
	@echo "make check   lint, format, types, import contracts, fast tests"
	@echo "make test    every test, with the real services that it needs"

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@bash .ci/make_venv.sh $(PYTHON)
	@echo "Installing packages, a few minutes the first time …"
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -c constraints.txt -e '.[dev,export]'
	@touch $@
	@echo "Packages are ready in .venv."

demo: setup
	@exec $(BIN)/python manage.py demo --home .paceline

check: setup
	@bash .ci/static_checks.sh
	@$(BIN)/python -m pytest -q -m "not e2e and not torch and not lab"

test: setup
	@bash .ci/test_all.sh

clean:
	rm -rf .venv build dist *.egg-info
