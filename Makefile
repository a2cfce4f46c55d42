# The two commands: `make demo` and `make check`. `make help` lists the rest.
#
# Nothing is installed into the system but the Debian packages of packages.txt. The extensions go into
# a private copy of the PostgreSQL installation (binaries copied, everything else symlinked) under
# .penumbra/, where the demo, the benchmarks and the tests start their servers.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.NOTPARALLEL:

# PG_CONFIG= names a PostgreSQL that is elsewhere; else it is Debian's of PG_MAJOR.
ifdef PG_CONFIG
PG_MAJOR := $(shell $(PG_CONFIG) --version 2>/dev/null | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
export PG_CONFIG
else
PG_MAJOR ?= $(shell . /etc/os-release; case "$$VERSION_CODENAME" in \
	(bookworm) echo 15;; (trixie) echo 17;; (forky) echo 18;; \
	(*) ls /usr/lib/postgresql 2>/dev/null | sort -n | tail -1;; esac)
endif
PYTHON ?= /usr/bin/python3
pg_config = $(shell $(or $(PG_CONFIG),/usr/lib/postgresql/$(PG_MAJOR)/bin/pg_config) --$(1))
PG_BIN = $(call pg_config,bindir)
INSTALLATION = $(shell readlink -f .penumbra)/postgresql-$(PG_MAJOR)
PENUMBRA := .venv/bin/penumbra
# Every folder of extensions/, or those that the caller names.
EXTENSIONS ?= $(notdir $(patsubst %/Makefile,%,$(wildcard extensions/*/Makefile)))
# Of packages.txt; a target adds what it needs besides.
SECTIONS := build

export PG_MAJOR

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 16

demo: SECTIONS += demo
demo: demo-begins install venv ## TPC-H at scale 1: stock PostgreSQL, Penumbra and DuckDB side by side; .penumbra/report.html
	$(PENUMBRA) demo $(DEMO_OPTIONS)

demo-begins:
	@[ -e .venv/ready ] || echo "The first demo takes about half an hour on 2 CPUs, 5 GB here, and 1.2 GB of packages." \
		"It compiles, generates and loads the rows, and measures; the next one only measures."

check: SECTIONS += demo tune tests check
check: packages build install venv-test ## what a change can break every day: ten minutes once it is built
	@.venv/bin/python test/check.py quick $(CHECK_OPTIONS)

check-full: SECTIONS += neighbours
check-full: check ## make check, then all other tests on this machine's PostgreSQL: an hour
	@.venv/bin/python test/check.py full $(CHECK_OPTIONS)

check-all: SECTIONS += check-all neighbours-large
check-all: check-full ## make check-full, then at length, with sanitizers, PostgreSQL 17, 18 and 19, arm64 and packages in chroots
	@.venv/bin/python test/check.py long $(CHECK_OPTIONS)
	@test/chroot/check_all && test/chroot/check_packages

tune: SECTIONS += demo tune
tune: install venv-tune ## what `penumbra tune` needs

packages: ## install the Debian packages of packages.txt that are missing
	@./packages.sh $(SECTIONS)

# A tree that user postgres cannot reach (a clone in /root) keeps its servers in /var/tmp.
.penumbra:
	@reachable=yes; dir=$(CURDIR); \
	while [ "$$dir" != / ]; do \
		case $$(stat -c %A "$$dir") in *x|*t) ;; *) reachable=no;; esac; dir=$$(dirname "$$dir"); done; \
	if [ $$reachable = yes ] || [ "$$(id -u)" != 0 ]; then mkdir -p .penumbra; \
	else away=/var/tmp/penumbra-$$(echo "$(CURDIR)" | cksum | cut -d' ' -f1); \
		mkdir -p $$away && ln -s $$away .penumbra; fi

# An installation that does not answer is no network: better told soon than tried for minutes.
PIP_INSTALL := .venv/bin/pip install -q --disable-pip-version-check --root-user-action=ignore --retries 2 --timeout 20
requirements = $(PIP_INSTALL) --require-hashes -r $(1) || \
	{ echo "pip could not get the packages of $(1) (above): this needs the network once."; exit 1; }

venv: packages .venv/ready ## the Python side in .venv
venv-tune venv-watch venv-test: venv-%: packages .venv/ready-%
.venv/ready: lab/requirements.txt lab/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) has to be Python 3.11 or later: say PYTHON=/path/to/python3."; exit 1; }
	@echo "Python packages into .venv: 0.5 GB"
	@$(PYTHON) -m venv .venv
	@$(call requirements,lab/requirements.txt)
	@$(PIP_INSTALL) --no-deps --no-build-isolation -e lab
	@touch $@
.venv/ready-test: .venv/ready-tune .venv/ready-watch
.venv/ready-%: lab/requirements-%.txt .venv/ready
	@$(call requirements,$<)
	@touch $@

# uv, because pip sees the machine's own version of Python only.
lock: ## lab/requirements*.txt from lab/pyproject.toml
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install -q uv==0.13.9
	build/lock/bin/python lab/lock.py

configure: packages
	@mkdir -p build && cmake -G Ninja -B build -S . >build/configure.log 2>&1 \
		|| { cat build/configure.log; exit 1; }

build: SECTIONS += tests
build: configure ## kernels, engine and their tests in build/
	@cmake -B build -DPENUMBRA_TESTS=ON >build/configure.log || { cat build/configure.log; exit 1; }
	ninja -C build

# Programs are copied, because a server finds its other files from where it is; they may be in /usr/bin. A directory
# within another one comes with that. Other extensions may be installed later: links to what is new are added each time.
installation: packages .penumbra ## the private copy of the PostgreSQL installation
	@if ! cmp -s $(PG_BIN)/postgres $(INSTALLATION)$(PG_BIN)/postgres || [ ! -e $(INSTALLATION)/programs ]; then \
		rm -rf $(INSTALLATION) $(CHECKED) && mkdir -p $(INSTALLATION)$(PG_BIN) && \
		cp -a $(PG_BIN)/{postgres,psql,pg*,*db,*user} $(INSTALLATION)$(PG_BIN) && \
		for dir in $(call pg_config,pkglibdir) $(call pg_config,sharedir) $(call pg_config,includedir) \
			$(call pg_config,includedir-server); do \
			[ -e $(INSTALLATION)$$dir ] || { mkdir -p $(INSTALLATION)$$dir && \
				cp -rs $$dir/. $(INSTALLATION)$$dir; } || exit; done && \
		ln -s .$(PG_BIN) $(INSTALLATION)/programs; \
	fi || exit; \
	for dir in $(call pg_config,pkglibdir) $(call pg_config,sharedir); do \
		cp -rs $$dir/. $(INSTALLATION)$$dir 2>/dev/null; done; \
	for program in $(PG_BIN)/pg*; do [ -e $(INSTALLATION)$$program ] || cp -a $$program $(INSTALLATION)$(PG_BIN); done

# $(call extensions_make,TARGETS): in the folder of every extension; further arguments: where another copy of the tree
# has its extensions and its installation, flags
extensions_make = set -e; for extension in $(EXTENSIONS); do \
	$(MAKE) --no-print-directory -C $(if $(2),$(2)/)extensions/$$extension \
	PG_CONFIG=$(if $(2),$(2)/postgresql-$(PG_MAJOR),$(INSTALLATION))$(PG_BIN)/pg_config \
	ENGINE_BUILD=$(CURDIR)/build TEST_DIR=$(shell readlink -f .penumbra)/$$extension-test COPT=$(3) $(1); done

extension: installation configure ## the extensions, against this PostgreSQL
	@$(call extensions_make,all)

install: extension ## the extensions into the private installation
	@$(call extensions_make,install-for-tests >/dev/null)

# With assertions, which what is installed and measured has not: copies of the sources, since PGXS compiles beside
# them, in a copy of the installation.
CHECKED = $(shell readlink -f .penumbra)/assertions
extension-check: SECTIONS += check
extension-check: installation configure ## the extensions' own tests, with assertions (EXTENSIONS=columnar: of that one)
	@mkdir -p $(CHECKED) && find $(CHECKED)/common $(CHECKED)/extensions -name '*.[ch]' -delete 2>/dev/null; \
	cp -au --remove-destination $(INSTALLATION) $(CHECKED)/ && tar -c --exclude='*.o' --exclude='*.so' common extensions | tar -x -C $(CHECKED) && \
	ln -sfn $(CURDIR)/engine $(CURDIR)/kernels $(CURDIR)/VERSION $(CHECKED)/
	@$(call extensions_make,install-for-tests test,$(CHECKED),-DUSE_ASSERT_CHECKING)

vectors-page: build ## docs/vectors.md and what penumbra advise knows, from the engine's tables
	$(PYTHON) test/vectors_page.py

goldens: installation venv-test ## the engine's golden files, written anew by this machine's PostgreSQL
	.venv/bin/python engine/test/goldens.py

dist: ## the newest commit's archives in dist/: PGXN's (.zip), and the source of packages (.tar.gz)
	@packaging/dist

deb: SECTIONS += package
deb: packages ## Debian packages for PostgreSQL PG_MAJOR and of the lab in dist/, from the newest commit
	packaging/deb $(PG_MAJOR)

wheel: .venv/ready ## the lab's wheel in dist/
	.venv/bin/pip wheel -q --no-deps --no-build-isolation -w dist ./lab
	rm -rf lab/build

sbom: ## bills of materials (CycloneDX) in dist/: of its Debian packages, and of the lab
	$(PYTHON) -m venv build/sbom && build/sbom/bin/pip install -q cyclonedx-bom==7.5.0
	build/sbom/bin/cyclonedx-py requirements --pyproject lab/pyproject.toml --output-reproducible \
		-o dist/penumbra_lab-$$(cat VERSION).cdx.json lab/requirements.txt
	build/sbom/bin/python packaging/sbom.py dist

docs: ## these pages as a site in build/docs/
	$(PYTHON) -m venv build/sphinx && build/sphinx/bin/pip install -q sphinx==9.0.4 myst-parser==5.2.0 furo==2025.12.19
	build/sphinx/bin/sphinx-build -q -E -W --keep-going -b html -c docs/site . build/docs
	@echo '<meta http-equiv="refresh" content="0; url=docs/site/index.html">' >build/docs/index.html && echo build/docs/index.html

clean: ## what was built; .penumbra and .venv stay
	rm -rf build build-asan build-tsan dist
	-@$(call extensions_make,clean)

distclean: clean ## everything that is not in git
	rm -rf .venv $(shell readlink -f .penumbra) .penumbra

.PHONY: help docs demo demo-begins check check-full check-all tune packages venv venv-tune venv-watch venv-test lock configure build installation extension install extension-check vectors-page goldens dist deb wheel sbom clean distclean
