# Two commands do everything on a fresh machine: `make check` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
export PYTEST_DISABLE_PLUGIN_AUTOLOAD = 1

.PHONY: readers redteam corpus check test suite lint types bench jail setup clean picture figures table docs site release

check: jail setup  ## install, then the main job: six right submissions, then a wrong one with its message
	@set -e; for n in 1 2 3 4 5 6; do \
	  $(BIN)/attngrade check $$n --file solutions/exercise0$${n}_*.py || [ $$? -eq 4 ]; echo; done
	@echo "== a wrong submission, and what its author is told =="
	@$(BIN)/attngrade check exercise03 --file tests/examples/top_left_mask.py; [ $$? -eq 1 ]

test: check suite release  ## the same, then the whole suite: lint, types, tests, wheel and sdist

suite: lint types
	$(BIN)/python -m pytest -q -p xdist -n 2 --dist loadgroup -p rerunfailures --reruns 1  # pseudo-terminals and kills depend on the machine's load

lint:
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

bench: setup  ## speed and memory, written to benchmarks/
	$(BIN)/python -m benchmarks

setup: jail $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed: install python3.11 (with venv), or set PYTHON=..."; exit 1; }
	[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

jail:  ## bubblewrap for the jail and Chromium for the page tests, where we may install them
	@PYTHON=$(PYTHON) sh scripts/system_packages.sh

clean:
	rm -rf $(VENV) build dist *.egg-info

redteam: setup  ## every hostile submission behind every kind of walls
	ATTNGRADE_WHOLE_REDTEAM=1 $(BIN)/python -m pytest -q tests/redteam

corpus: setup  ## every wrong submission there is, the slow ones too, and the whole pack verified
	ATTNGRADE_WHOLE_CORPUS=1 $(BIN)/python -m pytest -q tests/engine/test_corpora.py -p xdist -n 2
	$(BIN)/attngrade pack verify

picture: setup  ## the README's picture, recorded anew from the command that it shows
	$(BIN)/python -m scripts.picture

figures: setup  ## what was recorded by `make bench` and `make table`, and the marker measured now, into README.md and docs/checks.md
	$(BIN)/python -m scripts.figures --mark

table: setup  ## every exercise verified (minutes), then the table misconception by check in docs/checks.md
	$(BIN)/python -m scripts.figures --verify

readers: setup  ## the marker's second reader, learned anew from the labelled answers
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[readers]'
	$(BIN)/python -m scripts.train_readers

docs: setup  ## docs/reference and docs/licences.md, written from what they describe
	$(BIN)/python -m scripts.reference

site: setup  ## the pages as a site, in build/site (installs the docs extra)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	$(BIN)/mkdocs build --strict

release: setup  ## wheel and sdist built, installed into clean environments and used outside the repository
	bash scripts/release_check.sh
