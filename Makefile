# Two commands do all: `make run` and `make test`. Both install what is missing first.

PYTHON := .venv/bin/python
SUDO := $(if $(filter 0,$(shell id -u)),,sudo -E)
PYTEST := env PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 $(PYTHON) -m pytest -p no:cacheprovider
EXPERIMENT ?= incast-64
HOSTS_PYTHON ?= $(PYTHON)
DEGRADED := make run: the run is complete, its verdict is 'degraded'; the table says why and what to do. \
'testbed run' itself ends with 3 then, make with 0.

WITH_C := $(addprefix tests/,agent dataplane/test_port_reader.py engines/fluid/test_fluid.py engines/virtual/test_traffic.py \
	engines/virtual/test_pool.py engines/virtual/test_classes.py engines/virtual/test_credits.py results/test_trace.py)

.PHONY: run test setup check lint types c links playbooks unit coverage sanitize fuzz bench history lab dist deb where image wheelhouse docs gallery notebooks findings pictures schema cache clean help

run: ## install what is missing, run incast-64 (EXPERIMENT=incast-8 for another)
	@scripts/setup
	@$(SUDO) .venv/bin/testbed run $(EXPERIMENT) || { status=$$?; test $$status -eq 3 && echo "$(DEGRADED)" >&2 || exit $$status; }

test: setup ## install what is missing, pass all checks and tests
	@$(MAKE) --no-print-directory -j 2 --output-sync types lint c playbooks # tests/test_site.py has the links
	$(SUDO) scripts/test

setup: ## install what is missing, for running and for testing
	@scripts/setup --tests

check: ## ruff, mypy, import contracts, cppcheck, links of pages, and ansible-lint
	@$(MAKE) --no-print-directory -j 2 --output-sync types lint c links playbooks

types:
	MYPY_NUM_WORKERS=2 .venv/bin/mypy

lint:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports --no-logo

c: # warnings are errors whenever it is compiled; eBPF and what a card runs have tests of their own
	cppcheck -q --error-exitcode=1 --std=c11 --enable=warning,portability -Itestbed/compiled -Itestbed/agent -Itestbed/dataplane \
		$(addprefix testbed/,agent compiled live results sdk/conformance sdk/export/compare.c engines/apps engines/fluid dataplane/port_reader.c)

links: # and anchors: the site is made as it is published
	$(PYTHON) scripts/site.py build/checked

playbooks:
	cd ansible && ../.venv/bin/ansible-lint

unit: ## the tests that need no root, without the slow ones
	$(PYTEST) -m "not root and not slow and not uml" -n 2 --dist loadfile

coverage: ## which lines of Python and C the tests without root run, by folder (TESTS=FILES adds some to build/coverage; gcc)
	$(if $(TESTS),,rm -rf build/coverage)
	$(PYTHON) -m tests.coverage $(TESTS)

sanitize: ## the tests of the agent's, the engines' and the data plane's C under address and undefined-behaviour sanitizers (gcc)
	mkdir -p build
	TESTBED_CACHE=$(CURDIR)/build/sanitized CC="gcc -w -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all" \
		LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so.6)" ASAN_OPTIONS=detect_leaks=0 \
		$(PYTEST) -m "not root and not slow and not uml" $(or $(TESTS),$(WITH_C))

fuzz: ## damaged files for whatever reads files of others (MINUTES=10 each, TARGETS="rack goal" for some)
	$(PYTHON) -m tests.fuzz $(if $(MINUTES),--minutes $(MINUTES)) $(TARGETS)

bench: setup ## measure what docs/findings/bench.md promises (root; ONLY="switch goodput" for a part, OTHER=FOLDER, JSON=FILE)
	$(SUDO) $(PYTHON) -m bench $(if $(ONLY),--only $(ONLY)) $(if $(OTHER),--other $(OTHER)) $(if $(JSON),--json $(JSON))

history: ## put what a bench has measured into the history of docs/findings/bench.md (JSON="FILE ...")
	$(PYTHON) -m bench.history $(JSON)

cache: ## compile all controllers and the engines' C into the cache ($$TESTBED_CACHE), so that the first run is as quick as the next
	$(PYTHON) -m release.cache

dist: setup ## dist/: the source archive, and wheels with everything compiled (MACHINES=x86_64 for one of them)
	.venv/bin/uv pip install --quiet --python $(PYTHON) --group release
	$(PYTHON) -m release.wheels $(MACHINES)

deb: dist ## dist/testbed_*.deb: the wheel and its Python packages, for this machine's Debian
	$(PYTHON) -m release.deb

where: ## as root: dist/'s wheel in Debian 12 and 13, Ubuntu 24.04 and 26.04 (mmdebstrap; SYSTEMS="noble trixie" for some)
	$(SUDO) $(PYTHON) -m release.distributions $(SYSTEMS)

image: ## an image of the wheel in dist/, which runs experiments on the virtual engine (BUILDER=docker, BASE=...)
	$(or $(BUILDER),buildah) build $(if $(BASE),--build-arg BASE=$(BASE)) --file release/Containerfile --tag testbed .

wheelhouse: setup ## dist/wheelhouse.tar: what lab hosts without a network need (HOSTS_PYTHON=python3.12, EXTRAS=learned)
	rm -rf build && mkdir -p build/wheels dist
	$(HOSTS_PYTHON) -m pip wheel --quiet --wheel-dir build/wheels '.[compile$(EXTRAS:%=,%)]' pip
	mv build/wheels/pip-*.whl build/wheels/pip.whl
	echo 'cc-testbed[compile$(EXTRAS:%=,%)]' > build/wheels/install.txt
	tar -C build/wheels -cf dist/wheelhouse.tar .

lab: setup ## an emulated lab of hosts with ssh to try playbooks in, until Ctrl-C (CARDS=bf3,cx7 SWITCHES=sonic,nvue,testbed)
	@$(SUDO) $(PYTHON) -m tests.emulated_lab $(if $(CARDS),--cards $(CARDS)) $(if $(SWITCHES),--switches $(SWITCHES))

docs: setup ## build/site: the documentation as a site, every link checked
	$(PYTHON) scripts/site.py

notebooks: setup ## build/notebooks: each tutorial as a marimo notebook
	$(PYTHON) scripts/notebooks.py

gallery: setup ## docs/gallery.md and its pictures, from twenty small runs
	$(PYTHON) scripts/gallery.py

pictures: setup ## docs/pictures: the diagrams, and live page and report as they are now (chromium)
	$(PYTHON) scripts/diagrams.py
	$(PYTHON) scripts/pictures.py

findings: setup ## the tables of docs/findings from the results that are kept there (FROM=FOLDER of `testbed reproduce all`: keep these)
	$(PYTHON) scripts/findings.py $(FROM)

schema: ## write testbed/experiment/experiment.schema.json, and the generated pages of docs/reference
	$(PYTHON) -m scripts.reference

clean: ## remove what was made here; results/ stays
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 12
