# `make demo` shows the product, `make test` proves it. Everything lies in .venv and .paceline.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo check test messages clean

help:
	@echo "make setup   virtual environment and packages"
	@echo "make demo    everything started, two runs launched, URL and login printed; Ctrl-C stops all of it"
	@echo "make check   lint, format, types, import contracts, fast tests"
	@echo "make test    every test, with the real services that it needs"
	@echo "make messages  collect the texts for translation and compile what is translated (needs gettext)"

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@bash .ci/make_venv.sh $(PYTHON)
	@echo "Installing packages, a few minutes the first time …"
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -c constraints.txt -e '.[dev]'
	@touch $@
	@echo "Packages are ready in .venv."

demo: setup
	@exec $(BIN)/python manage.py demo --home .paceline

check: setup
	@bash .ci/static_checks.sh
	@$(BIN)/python -m pytest -q -m "not e2e and not torch and not lab and not gettext"

test: setup
	@bash .ci/test_all.sh

messages:
	@SECRET_KEY=for-the-texts $(BIN)/python manage.py makemessages --all --no-obsolete --no-wrap --add-location file \
	  $(foreach folder,.venv .paceline trainer_agent tests docs benchmarks examples build,--ignore=$(folder))
	@for po in webapp/locale/*/LC_MESSAGES/django.po; do msgfmt --check-format --statistics -o "$${po%.po}.mo" "$$po"; done

clean:
	rm -rf .venv build dist *.egg-info
