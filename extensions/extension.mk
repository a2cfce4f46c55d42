# What every extension's Makefile shares: flags, C++ libraries, tests. Include it last.
#
# The extension sets EXTENSION, MODULE_big, OBJS, PGFILEDESC and, where it links them, LIBRARIES (by pkg-config's names)
# and CXX_LIBS: the folders of C++ (engine, kernels), whose static libraries go in. Its scripts are in sql/; the install
# scripts of one with a schema of its own begin with own_schema.sql. Its tests are test/sql with test/expected,
# test/specs and test/t; test/postgresql.conf configures their servers.
#
# LTO=yes optimises at link time, as packages are built.

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/..)
# Where cmake builds kernels/ and engine/; one build serves every PostgreSQL version.
ENGINE_BUILD ?= $(ROOT)/build

# The library's version is the release's, that of the SQL objects stands in the control file.
PG_CPPFLAGS += '-DMODULE_NAME="$(EXTENSION)"' '-DMODULE_VERSION="$(shell cat $(ROOT)/VERSION)"'
PG_CPPFLAGS += -I$(ROOT)/common '-DPGDLLEXPORT=__attribute__((visibility("default")))'
PG_CFLAGS += -fvisibility=hidden -Wno-declaration-after-statement

ifdef CXX_LIBS
LIBRARIES += libhwy-contrib libhwy liblz4
SHLIB_LINK += -Wl,--exclude-libs,ALL $(foreach lib,$(CXX_LIBS),$(ENGINE_BUILD)/$(lib)/libpenumbra_$(lib).a)
endif
ifdef LIBRARIES
PG_CPPFLAGS += $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
SHLIB_LINK += $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null)
endif
ifdef CXX_LIBS
SHLIB_LINK += -lstdc++ -lpthread -lm
endif

ifdef LTO
override COPT += -flto=auto
CMAKE_OPTIONS += -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
endif

update_scripts := $(wildcard sql/*--*--*.sql)
install_scripts := $(filter-out $(update_scripts),$(wildcard sql/*.sql))
DATA = $(update_scripts)
ifneq ($(shell grep '^schema' $(EXTENSION).control),)
DATA_built = $(notdir $(install_scripts))
else
DATA += $(install_scripts)
endif

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifeq ($(wildcard $(PGXS)),)
$(error PG_CONFIG=$(PG_CONFIG) finds no headers of a server: name the pg_config of a PostgreSQL with its development files)
endif

# bitcode would need clang and gains nothing: our functions are not inlined into queries
override with_llvm = no
EXTRA_CLEAN += compiled_for
include $(PGXS)

# Another PostgreSQL, of whatever version or options, compiles the objects anew.
pg_build = $(PG_CONFIG) --version --configure
$(shell $(pg_build) | cmp -s - compiled_for || $(pg_build) >compiled_for)
$(OBJS): compiled_for

$(OBJS): $(wildcard src/*.h src/*/*.h src/*/*/*.h) $(wildcard $(ROOT)/common/*.h) $(wildcard $(ROOT)/*/include/penumbra/*.h)

# One sentence about what is missing, instead of a compiler's.
need_programs = for program in $(1); do command -v $$program >/dev/null || \
	{ echo "$(EXTENSION) is built with $$program, which is not installed."; exit 1; }; done
$(OBJS): | requirements
.PHONY: requirements
requirements:
	@$(if $(LIBRARIES),$(call need_programs,pkg-config))
	@for library in $(LIBRARIES); do pkg-config --exists $$library || \
	{ echo "$(EXTENSION) is built with $$library, which pkg-config does not find."; exit 1; }; done

ifdef DATA_built
$(DATA_built): %.sql: $(ROOT)/extensions/own_schema.sql sql/%.sql
	sed 's/@extension@/$(EXTENSION)/' $< | cat - sql/$@ > $@
endif

# $(call cmake_build,TARGETS): with flags of its own. PGXS would hand on the server's under the names of the environment's.
unexport CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
define cmake_build
@$(call need_programs,cmake ninja pkg-config)
@test -f $(ENGINE_BUILD)/build.ninja || cmake -G Ninja -B $(ENGINE_BUILD) -S $(ROOT) $(CMAKE_OPTIONS)
cmake --build $(ENGINE_BUILD) --target $(1)
endef

ifdef CXX_LIBS
$(MODULE_big).so: cxx-libs
.PHONY: cxx-libs
cxx-libs: requirements
	$(call cmake_build,$(addprefix penumbra_,$(CXX_LIBS)))
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
