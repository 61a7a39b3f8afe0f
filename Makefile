# Each target builds the virtual environment when it is missing or older than pyproject.toml, then does its job.
#   make demo     train the family on embedded data and print one table
#   make test     all tests and doctests but the exhaustive ones   (make test ARGS="-k novikoff")
#   make test-exhaustive   the others, and more draws: further cases and processes for the same promises
#   make lint     ruff, mypy, import contracts, docstrings, the picture of the imports
#   make fuzz     every target of tests/fuzz     (make fuzz ARGS="--seconds 60")
#   make bench    ratios against the peers
#   make lock     rewrite requirements-dev.lock from pyproject.toml
#   make test-lowest   some tests with the lowest versions that pyproject.toml allows
#   make test-browser   the lab in a Chromium, which make test needs not: Debian's package chromium, or Chrome
#   make pictures       the screenshots of the lab in docs/img, by the same browser
#   make docs     the manual, in build/docs: its code run, its pages built, its links and search words tested
#   make linkcheck   the manual's links to other sites, which need the network
#   make page     build the page of the lab from page/ (needs node, which users do not)
#   make page-check   its types, its tests, and whether the stored build is what page/ gives
#   make clean    remove everything that was built

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
STAMP := .venv/.stamp

# Bytecode is kept, whatever the environment says: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-exhaustive check lint fuzz bench lock test-lowest page page-check test-browser pictures docs linkcheck clean
.DELETE_ON_ERROR:

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/python -m perceptrons.demo $(ARGS)

# SCIPY_ARRAY_API: scikit-learn skips its array-API checks without it
test: export SCIPY_ARRAY_API = 1
test: $(STAMP)
	@$(BIN)/python -c "from importlib.util import find_spec; print('torch path:', 'run' if find_spec('torch') else 'NOT RUN (torch is not installed)')"
	@echo "browser tests: NOT RUN (make test-browser runs them)"
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not exhaustive" $(ARGS)

test-exhaustive: export SCIPY_ARRAY_API = 1
test-exhaustive: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal -m exhaustive --hypothesis-profile=exhaustive $(ARGS)

# Chromium is a package of the system; the rest is pinned as for the other tests.
BROWSER_STAMP := .venv/.browser
$(BROWSER_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[browser]'
	@touch $@

test-browser: $(BROWSER_STAMP)
	$(BIN)/python -m pytest -p no:xdist tests/browser $(ARGS)

pictures: $(BROWSER_STAMP)
	$(BIN)/python tools/lab_pictures.py $(ARGS)

DOCS_STAMP := .venv/.docs
$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

# Pages are doctests, each in a namespace of its own; docs/_ext/lectures.py runs those of the lectures. Warnings are
# errors; the network is not used. -a: the search index of a build that writes some pages only would lack entries.
SPHINX := $(BIN)/python -m sphinx -W --keep-going -a -j auto
docs: $(DOCS_STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal --doctest-glob='*.md' $(filter-out docs/lectures/%,$(wildcard docs/*.md docs/*/*.md))
	$(SPHINX) --quiet -b html docs build/docs $(ARGS)
	$(BIN)/python -m pytest -p no:xdist tests/docs
	@echo "the manual: build/docs/index.html"

linkcheck: $(DOCS_STAMP)
	$(SPHINX) -b linkcheck docs build/linkcheck $(ARGS)

# ARGS names what else to run: the tests of the package that changed
check: lint
	$(BIN)/python -m pytest -n auto --dist worksteal tests/golden $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/docstrings.py
	$(BIN)/python tools/architecture.py --check

# Bounds checking is on, and memory limited, in the processes that the targets start.
fuzz: export PYTHONPATH = src:tests
fuzz: $(STAMP)
	@$(BIN)/python -m fuzz $(ARGS)

# Peers are installed one by one, pinned to the versions the tests ran with; one that does not install is reported.
bench: $(STAMP)
	@$(BIN)/python -m pip freeze --exclude-editable > .venv/.pins
	@$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['bench'], sep='\n')" \
	| while read -r peer; do \
	    $(BIN)/python -m pip install --quiet --constraint .venv/.pins "$$peer" >.venv/.peer.log 2>&1 \
	    || echo "peer $$peer: NOT INSTALLED ($$(grep -m 1 -i error .venv/.peer.log || tail -n 1 .venv/.peer.log))"; \
	done
	$(BIN)/python benchmarks/linear.py $(ARGS)

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet --dry-run --ignore-installed --report .venv/.report '.[dev]'
	$(BIN)/python tools/lock.py .venv/.report > .venv/.lock
	mv .venv/.lock requirements-dev.lock

# what the bounds are about: compiled loops, estimators, files, readers, the command line, the lab
LOWEST_TESTS := tests/unit/estimators/test_estimators.py tests/unit/models/test_models.py tests/unit/engine/test_compiler.py \
	tests/unit/io/test_parquet.py tests/unit/text/test_text.py tests/unit/cli/test_cli.py tests/unit/lab/test_notebook.py \
	tests/faults/test_lab_server.py
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tools/lowest.py > .venv-lowest/pins
	.venv-lowest/bin/python -m pip install --quiet -r .venv-lowest/pins pytest pytest-xdist hypothesis array-api-strict httpx pandas
	.venv-lowest/bin/python -m pip install --quiet --no-deps --editable .
	.venv-lowest/bin/python -m pytest -n auto --dist worksteal $(LOWEST_TESTS) $(ARGS)

# Node modules are pinned by page/package-lock.json; no script of theirs is run.
page/node_modules/.stamp: page/package-lock.json
	cd page && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

page: page/node_modules/.stamp
	node page/build.mjs

page-check: page/node_modules/.stamp
	node page/build.mjs --check

clean:
	rm -rf .venv .venv-lowest build dist docs/gallery docs/reference docs/lectures/*.md docs/sg_execution_times.rst page/node_modules .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
