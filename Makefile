# Two commands do everything on a fresh machine with Python, pip and make:
#   make run     the first run: a hypernetwork and adapters learn sixty-four small tasks side by side, in five minutes on two cores
#                PAGE=eight: eight large tasks instead; scores, the map of tasks, cost
#   make test    lint, types, every notebook and every test; make test FAST=1 only what is quick
# and one opens the page on which tasks are mixed and adapters looked at:
#   make dashboard    of the shipped model; make dashboard SOURCE=runs RUNS=runs for one's own
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# The models here are small and two workers run at a time: a thread each is fastest, and stays so on a busy machine
export OMP_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM ?= false
WORKERS = python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder $(if $(FAST),-m "not slow")
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: run test suite lint notebooks pytest margins check export outputs docs lab dashboard clean help

PAGE := many
RUN_many = run
RUN_eight = run-eight

run: $(READY)
	$(if $(RUN_$(PAGE)),,$(error PAGE: expected many or eight, received '$(PAGE)'))
	python -m hyperlab.command $(RUN_$(PAGE))

# Notebooks and tests share two workers to the end, lint runs beside them; FAST=1 leaves out what takes long
test: $(READY)
	$(MAKE) --no-print-directory -j2 lint suite

$(READY): settings.ini setup.py constraints.txt tools/install.py
	@echo "Setting up $(VENV), once: hyperlab with torch, transformers and JupyterLab, about 3 GB and two to four minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python tools/install.py '.[dev]'
	@touch $(READY) && echo "$(VENV) is ready."

lint: $(READY)
	ruff check hyperlab tests tools benchmarks setup.py
	mypy hyperlab

notebooks: $(READY)
	$(WORKERS) tests/project/test_notebooks.py

pytest: $(READY)
	$(WORKERS) tests --ignore=tests/project/test_notebooks.py

suite: $(READY)
	$(WORKERS) tests

# The share that tests which train or compare rounded sums leave of their bounds, for five seeds and other arithmetic
margins: $(READY)
	python tools/margins.py -n 2 --dist loadgroup

# A notebook and its module must say the same, it must be clean and its outputs fresh, the README made from its index; changes nothing
check: $(READY)
	python tools/check_notebooks.py
	python tools/make_stubs.py --check
	python tools/make_readme.py --check

export: $(READY)
	nbdev_export
	nbdev_clean
	python tools/make_stubs.py
	python tools/make_readme.py

# Executes notebooks and keeps what they show; NB=nbs/core/02_sites.ipynb for one, or for several in quotes, or for a folder
outputs: $(READY)
	python tools/outputs.py $(NB)

# The site: book, methods, reference and gallery, without a network; open _docs/index.html
docs: $(READY)
	python tools/docs/build.py

lab: $(READY)
	jupyter lab nbs

# SOURCE and RUNS as in the notebook's parameters; how it is served, and which kernels it keeps, is told in nbs/widgets/08_server
dashboard: $(READY)
	JUPYTER_PATH=$(CURDIR)/hyperlab/widgets/front/jupyter $(if $(SOURCE),HYPERLAB_SOURCE=$(abspath $(SOURCE))) $(if $(RUNS),HYPERLAB_RUNS=$(abspath $(RUNS))) HYPERLAB_FOLDER=$(abspath $(or $(RUNS),runs)) \
		python -m hyperlab.widgets.server nbs/dashboard.ipynb $(VOILA)

clean:
	rm -rf $(VENV) _docs build *.egg-info .mypy_cache .ruff_cache .pytest_cache
