# What every extension's Makefile shares: flags, C++ libraries, tests. Include it last.
#
# The extension sets EXTENSION, MODULE_big, OBJS, PGFILEDESC, its scripts and, where it links them, CXX_LIBS: the
# folders of C++ (engine, kernels), whose static libraries go in. Scripts are DATA; but the install script of one
# with a schema of its own is DATA_built, from sql/ and own_schema.sql. Its tests are test/sql with test/expected,
# test/specs and test/t; test/postgresql.conf configures their servers.

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/..)
# Where cmake builds kernels/ and engine/; one build serves every PostgreSQL version.
ENGINE_BUILD ?= $(ROOT)/build

EXTENSION_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(EXTENSION).control)

PG_CPPFLAGS += '-DMODULE_NAME="$(EXTENSION)"' '-DMODULE_VERSION="$(EXTENSION_VERSION)"'
PG_CPPFLAGS += -I$(ROOT)/common '-DPGDLLEXPORT=__attribute__((visibility("default")))'
PG_CFLAGS += -fvisibility=hidden -Wno-declaration-after-statement

ifdef CXX_LIBS
SHLIB_LINK += -Wl,--exclude-libs,ALL $(foreach lib,$(CXX_LIBS),$(ENGINE_BUILD)/$(lib)/libpenumbra_$(lib).a) \
	-lhwy_contrib -lhwy -llz4 -lstdc++ -lpthread -lm
endif

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)

# bitcode would need clang and gains nothing: our functions are not inlined into queries
override with_llvm = no
include $(PGXS)

$(OBJS): $(wildcard src/*.h src/*/*.h src/*/*/*.h) $(wildcard $(ROOT)/common/*.h) $(wildcard $(ROOT)/*/include/penumbra/*.h)

ifdef DATA_built
$(DATA_built): %.sql: $(ROOT)/extensions/own_schema.sql sql/%.sql
	sed 's/@extension@/$(EXTENSION)/' $< | cat - sql/$@ > $@
endif

ifdef CXX_LIBS
$(MODULE_big).so: cxx-libs
.PHONY: cxx-libs
cxx-libs:
	@test -f $(ENGINE_BUILD)/build.ninja || cmake -G Ninja -B $(ENGINE_BUILD) -S $(ROOT)
	cmake --build $(ENGINE_BUILD) --target $(addprefix penumbra_,$(CXX_LIBS))
endif

# Tests run as user postgres when root calls (a server refuses root), on copies in TEST_DIR, which that
# user must be able to reach; servers are of the installation that PG_CONFIG names, after `make install`.
TEST_DIR ?= /var/tmp/$(EXTENSION)-test
as_postgres = $(if $(filter 0,$(shell id -u)),runuser -u postgres --)
pgxs_test = $(dir $(PGXS))../test
regress_options = --bindir=$(shell $(PG_CONFIG) --bindir) --temp-config=$(TEST_DIR)/test/postgresql.conf \
	--no-locale --encoding=UTF8 --inputdir=$(TEST_DIR)/test
# 18 gives data checksums by default: VACUUM then moves the LSNs of pages, and answers that show what proves a page
# are others.  Tests in test/t have the default.
without_checksums = env PG_TEST_INITDB_EXTRA_OPTS="`$(shell $(PG_CONFIG) --bindir)/initdb --help \
	| grep -o -e --no-data-checksums`"

# All, unless the caller names some.
SQL_TESTS ?= $(patsubst test/sql/%.sql,%,$(sort $(wildcard test/sql/*.sql)))
SPECS ?= $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
TAP_TESTS ?= $(sort $(wildcard test/t/*.pl))

# An extension of functions that only tests call: no package has it, nor what `make install` puts into a server.
.PHONY: install-for-tests
install-for-tests: install
	$(if $(wildcard test/extension),$(INSTALL_DATA) test/extension/* '$(DESTDIR)$(datadir)/extension/')

.PHONY: test test-files test-regress test-isolation test-tap
test: $(if $(SQL_TESTS),test-regress) $(if $(SPECS),test-isolation) $(if $(TAP_TESTS),test-tap)

test-files:
	rm -rf $(TEST_DIR) && mkdir -p $(TEST_DIR)/regress $(TEST_DIR)/isolation && cp -r test $(TEST_DIR)/test
	$(if $(as_postgres),chown -R postgres $(TEST_DIR))

test-regress: test-files
	cd $(TEST_DIR) && $(as_postgres) $(without_checksums) $(pgxs_test)/regress/pg_regress $(regress_options) \
	  --temp-instance=$(TEST_DIR)/regress/server --outputdir=$(TEST_DIR)/regress \
	  $(SQL_TESTS) \
	  || { cat $(TEST_DIR)/regress/regression.diffs; exit 1; }

test-isolation: test-files
	cd $(TEST_DIR) && $(as_postgres) $(without_checksums) $(pgxs_test)/isolation/pg_isolation_regress $(regress_options) \
	  --temp-instance=$(TEST_DIR)/isolation/server --outputdir=$(TEST_DIR)/isolation \
	  $(SPECS) \
	  || { cat $(TEST_DIR)/isolation/regression.diffs; exit 1; }

test-tap: test-files
	cd $(TEST_DIR) && $(as_postgres) env PATH="$(shell $(PG_CONFIG) --bindir):$$PATH" \
	  PERL5LIB=$(pgxs_test)/perl PG_REGRESS=$(pgxs_test)/regress/pg_regress \
	  TESTDATADIR=$(TEST_DIR)/tap TESTLOGDIR=$(TEST_DIR)/tap/log TESTDIR=$(TEST_DIR) \
	  prove --timer $(TAP_TESTS)
