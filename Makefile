# Thin: every target is an invoke task. The first one makes the orchestrator's environment.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
INVOKE := .venv/bin/invoke

.PHONY: setup run report test check clean

setup run report test check clean: $(INVOKE)
	@$(INVOKE) $@ $(ARGS)

$(INVOKE): docker/locks/orchestrator.txt pyproject.toml
	@$(PYTHON) -m suite.environments orchestrator
	@touch $(INVOKE)
