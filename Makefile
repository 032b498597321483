# Thin: every target is an invoke task of the same name, `make run ARGS="--preset=ops"` passes options on.
# The first one makes the orchestrator's environment, which takes Python 3.11 and a package index.

# Asked to run, not only looked for: a version manager's python3.11 may stand for nothing.
PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)

.PHONY: setup run report test check clean build images base-image orchestrator
.DEFAULT_GOAL := run

setup run report test check clean build images base-image: orchestrator
	@.venv/bin/invoke $@ $(ARGS)

# Always asked, since only the lock's hash says whether .venv is whole and current (a tenth of a second).
orchestrator:
	@$(PYTHON) -m suite.environments orchestrator
