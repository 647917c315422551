# The verbs of the project; `make` alone lists them. Everything happens in .venv.
PYTHON ?=
CLEANPIPE_SHARED ?= ../shared
ARGS ?=
SECONDS ?= 60

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT_FROM := pyproject.toml setup.py $(shell find cleanpipe/native -name '*.[ch]' 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test kenlm accept sanitize fuzz bench bench-peers bench-dedup bench-contamination bench-scale bench-instructions bench-parity bench-recipe bench-rules bench-languages bench-perplexity format clean

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-20s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  PYTHON=python3.12 picks the Python of a new $(VENV); ARGS=... goes to pytest or the benchmarks"

demo: $(INSTALLED) ## clean the sample in examples/, print the table, explain one drop
	@rm -rf demo-out
	$(BIN)/cleanpipe run examples/demo.yaml --output demo-out
	@echo; echo "Why was one of them dropped?"
	@id=$$($(BIN)/python examples/demo.py demo-out) && \
	echo "$(BIN)/cleanpipe explain demo-out '$$id'" && \
	$(BIN)/cleanpipe explain demo-out "$$id"

# -p cleanpipe sees filters, dedup and pipelines through the links, as the one import root they have.
test: $(INSTALLED) ## lint, types, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict -p cleanpipe -p tests -p benchmarks
	$(BIN)/pytest tests --ignore=tests/accept -n 2 --dist loadfile $(ARGS)

accept: $(INSTALLED) ## the long tests, on the data in CLEANPIPE_SHARED (default ../shared)
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/pytest tests/accept $(ARGS)

kenlm: $(INSTALLED) ## KenLM's lmplz, build_binary and query, into .venv/kenlm/bin; takes two minutes
	sh scripts/lmplz.sh $(VENV)/kenlm/bin

sanitize: $(INSTALLED) ## the kernels' tests under ASan and UBSan, on each instruction set
	sh scripts/sanitize.sh $(BIN)/python $(ARGS)

fuzz: ## search for inputs that break the kernels, for SECONDS=60; needs clang
	sh scripts/fuzz.sh $(SECONDS)

bench: $(INSTALLED) ## the benchmarks, on the texts in CLEANPIPE_SHARED, else on the sample
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks $(ARGS)

bench-peers: $(INSTALLED) ## other tools beside ours; fetches them the first time, takes minutes
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.peers

bench-dedup: $(INSTALLED) ## near-duplicates of real texts: ours and other tools, against the truth
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.dedup $(ARGS)

bench-contamination: $(INSTALLED) ## planted test items: what ours and two n-gram rules find, and find wrongly
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.contamination $(ARGS)

bench-parity: $(INSTALLED) ## Gopher's, FineWeb's and C4's rules, ours beside datatrove's; takes minutes
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.parity $(ARGS)

bench-recipe: $(INSTALLED) ## the whole recipe web-en: time by part beside wc -w, and datatrove's; takes minutes
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.recipe $(ARGS)

bench-rules: $(INSTALLED) ## recipes on clean text and on planted junk: what each rule drops, and wrongly
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.rules $(ARGS)

bench-languages: $(INSTALLED) ## which part of a text tells its language, how right that is, and at what cost
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.languages $(ARGS)

bench-perplexity: $(INSTALLED) ## how well perplexity tells good text from other text
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.perplexity $(ARGS)

bench-scale: $(INSTALLED) ## near-duplicates among 0.1 and 1 million documents: time, memory, disk
	CLEANPIPE_SHARED='$(abspath $(CLEANPIPE_SHARED))' $(BIN)/python -m benchmarks.scale $(ARGS)

bench-instructions: $(INSTALLED) ## the kernels' instructions a byte against those kept (needs valgrind)
	$(BIN)/python -m benchmarks.instructions $(ARGS)

format: $(INSTALLED) ## rewrite the sources as ruff wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove what make made
	rm -rf $(VENV) demo-out build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find cleanpipe -name '*.so' -exec rm -f {} + 2>/dev/null || true

# Another PYTHON than the one .venv was made with: make it anew.
ifneq ($(PYTHON),)
ifneq ($(PYTHON),$(shell cat $(VENV)/.python 2>/dev/null))
.PHONY: $(INSTALLED)
ANEW := --clear
endif
endif

# Made once; refreshed when what it was built from changes. A half-made .venv has no pip: start over.
$(INSTALLED): $(BUILT_FROM)
	@python=$$(PYTHON='$(PYTHON)' sh scripts/preflight.sh) || exit 1; \
	if [ -n "$(ANEW)" ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		echo "making $(VENV) with $$python" && "$$python" -m venv --clear $(VENV) && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --upgrade pip && \
		echo '$(PYTHON)' >$(VENV)/.python; \
	fi
	@echo "installing cleanpipe into $(VENV); the first time takes a minute"
	@$(BIN)/python -m pip install --disable-pip-version-check --no-input --editable '.[dev]' \
		>$(VENV)/install.log 2>&1 || { cat $(VENV)/install.log >&2; exit 1; }
	@touch $@
