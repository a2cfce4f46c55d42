# The two commands: `make demo` and `make check`. `make help` lists the rest.
#
# Nothing is installed into the system but the Debian packages of packages.txt. The extension goes into
# a private copy of the PostgreSQL installation (binaries copied, everything else symlinked) under
# .penumbra/, where the demo, the benchmarks and the tests start their servers.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.NOTPARALLEL:

PG_MAJOR ?= $(shell . /etc/os-release; case "$$VERSION_CODENAME" in \
	(bookworm) echo 15;; (trixie) echo 17;; (forky) echo 18;; \
	(*) ls /usr/lib/postgresql 2>/dev/null | sort -n | tail -1;; esac)
PYTHON ?= /usr/bin/python3
ROOT := $(if $(filter 0,$(shell id -u)),,sudo )
PG_BIN := /usr/lib/postgresql/$(PG_MAJOR)/bin
INSTALLATION = $(shell readlink -f .penumbra)/postgresql-$(PG_MAJOR)
PENUMBRA := .venv/bin/penumbra
# Every folder of extensions/, or those that the caller names.
EXTENSIONS ?= $(notdir $(patsubst %/Makefile,%,$(wildcard extensions/*/Makefile)))

export PG_MAJOR

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 16

demo: install venv ## TPC-H at scale 1: stock PostgreSQL, Penumbra and DuckDB side by side; .penumbra/report.html
	$(PENUMBRA) demo $(DEMO_OPTIONS)

check: build install venv ## what a change can break every day, in ten minutes
	@.venv/bin/python test/check.py quick $(CHECK_OPTIONS)

check-full: check ## make check, then all other tests on this machine's PostgreSQL
	@.venv/bin/python test/check.py full $(CHECK_OPTIONS)

check-all: CHECK_PACKAGES := check-all
check-all: check-full ## make check-full, then at length, with sanitizers, PostgreSQL 17, 18 and 19 and arm64 in chroots
	@.venv/bin/python test/check.py long $(CHECK_OPTIONS)
	@test/chroot/check_all

packages: ## install the Debian packages of packages.txt that are missing
	@wanted=$$(awk -v extra="$(CHECK_PACKAGES)" '/^#/ || !NF {next} \
		/^\[/ {section = substr($$1, 2, length($$1) - 2); next} \
		section == "" || section == extra {print $$1}' packages.txt | sed 's/@/$(PG_MAJOR)/'); \
	missing=$$(for p in $$wanted; do \
		[ "$$(dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null)" = installed ] || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		echo "installing" $$missing; \
		$(ROOT)apt-get update -q && $(ROOT)env DEBIAN_FRONTEND=noninteractive \
			apt-get install -q -y --no-install-recommends $$missing; \
	fi

# A tree that user postgres cannot reach (a clone in /root) keeps its servers in /var/tmp.
.penumbra:
	@reachable=yes; dir=$(CURDIR); \
	while [ "$$dir" != / ]; do \
		case $$(stat -c %A "$$dir") in *x|*t) ;; *) reachable=no;; esac; dir=$$(dirname "$$dir"); done; \
	if [ $$reachable = yes ] || [ "$$(id -u)" != 0 ]; then mkdir -p .penumbra; \
	else away=/var/tmp/penumbra-$$(echo "$(CURDIR)" | cksum | cut -d' ' -f1); \
		mkdir -p $$away && ln -s $$away .penumbra; fi

venv: packages .venv/ready ## the Python side in .venv
.venv/ready: lab/pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -q --disable-pip-version-check --root-user-action=ignore -e 'lab[test]'
	touch $@

configure: packages
	@mkdir -p build && cmake -G Ninja -B build -S . >build/configure.log 2>&1 \
		|| { cat build/configure.log; exit 1; }

build: configure ## kernels, engine and their tests in build/
	ninja -C build

installation: packages .penumbra ## the private copy of the PostgreSQL installation
	@if [ ! -x $(INSTALLATION)$(PG_BIN)/postgres ] || \
		! cmp -s $(PG_BIN)/postgres $(INSTALLATION)$(PG_BIN)/postgres; then \
		rm -rf $(INSTALLATION) && \
		for dir in $(PG_BIN) /usr/lib/postgresql/$(PG_MAJOR)/lib /usr/share/postgresql/$(PG_MAJOR); do \
			mkdir -p $(INSTALLATION)$$dir; done && \
		cp -a $(PG_BIN)/. $(INSTALLATION)$(PG_BIN) && \
		cp -rs /usr/lib/postgresql/$(PG_MAJOR)/lib/. $(INSTALLATION)/usr/lib/postgresql/$(PG_MAJOR)/lib && \
		cp -rs /usr/share/postgresql/$(PG_MAJOR)/. $(INSTALLATION)/usr/share/postgresql/$(PG_MAJOR) && \
		ln -s /usr/include $(INSTALLATION)/usr/include; \
	fi

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
extension-check: installation configure ## the extensions' own tests, with assertions (EXTENSIONS=columnar: of that one)
	@mkdir -p $(CHECKED) && find $(CHECKED)/common $(CHECKED)/extensions -name '*.[ch]' -delete 2>/dev/null; \
	cp -au --remove-destination $(INSTALLATION) $(CHECKED)/ && tar -c --exclude='*.o' --exclude='*.so' common extensions | tar -x -C $(CHECKED) && \
	ln -sfn $(CURDIR)/engine $(CURDIR)/kernels $(CHECKED)/
	@$(call extensions_make,install-for-tests test,$(CHECKED),-DUSE_ASSERT_CHECKING)

vectors-page: build ## docs/vectors.md from the engine's tables
	$(PYTHON) test/vectors_page.py

goldens: installation venv ## the engine's golden files, written anew by this machine's PostgreSQL
	.venv/bin/python engine/test/goldens.py

clean: ## what was built; .penumbra and .venv stay
	rm -rf build build-asan
	-@$(call extensions_make,clean)

distclean: clean ## everything that is not in git
	rm -rf .venv $(shell readlink -f .penumbra) .penumbra

.PHONY: help demo check check-full check-all packages venv configure build installation extension install extension-check vectors-page goldens clean distclean
