# Two commands do all: `make run` and `make test`. Both install what is missing first.

PYTHON := .venv/bin/python
SUDO := $(if $(filter 0,$(shell id -u)),,sudo -E)
PYTEST := env PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider
EXPERIMENT ?= incast-64

.PHONY: run test setup check unit bench schema dashboards clean help

run: ## install what is missing, run incast-64 (EXPERIMENT=incast-8 for another)
	@scripts/setup
	@$(SUDO) .venv/bin/testbed run $(EXPERIMENT)

test: setup check ## install what is missing, pass all checks and tests (those with a rack one by one)
	$(SUDO) $(PYTEST) -m "not root and not uml" -n 2 --dist loadfile
	$(SUDO) $(PYTEST) -m "root or uml"

setup: ## install what is missing, for running and for testing
	@scripts/setup --tests

check: ## ruff and mypy
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

unit: ## the tests that need no root, in about 20 s
	$(PYTEST) -m "not root and not slow and not uml" -n 2 --dist loadfile

bench: setup ## measure what docs/bench.md promises (root; ONLY="switch goodput" for a part, JSON=FILE)
	$(SUDO) $(PYTHON) -m bench $(if $(ONLY),--only $(ONLY)) $(if $(JSON),--json $(JSON))

schema: ## write testbed/experiment.schema.json, docs/experiment.md and docs/metrics.md
	$(PYTHON) -m testbed.schema
	$(PYTHON) -m testbed.telemetry.glossary

dashboards: ## write testbed/monitor's dashboards and provisioning
	$(PYTHON) -m testbed.monitor

clean: ## remove what was made here; results/ stays
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 12
