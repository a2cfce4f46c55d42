#!/bin/bash
# packages.sh SECTION...: installs the Debian packages of these sections of packages.txt that are missing. What the
# machine has not ends it here, with one sentence. From the Makefile: PG_MAJOR, PG_CONFIG (of a PostgreSQL that is
# there), SKIP_PACKAGES.
set -eu
cd "$(dirname "$0")"

fail() { echo "$*" >&2; exit 1; }

need_space() { # GIGABYTES DIRECTORY WHAT
	local free
	free=$(df -P -B1000000 "$2" | awk 'NR == 2 {print $4}')
	[ "$free" -ge $(($1 * 1000)) ] || fail "$3 needs $1 GB in $(realpath "$2"), and $free MB are free."
}

# Once: afterwards the space is taken.
[ -e .venv/ready ] || need_space 6 . "This tree with what it builds and measures"

if [ -n "${PG_CONFIG:-}" ]; then
	[ -x "$PG_CONFIG" ] || fail "PG_CONFIG is $PG_CONFIG, which is not a program."
	PG_MAJOR=$("$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
	[ -e "$("$PG_CONFIG" --pgxs)" ] ||
		fail "$PG_CONFIG has no headers of the server: install the server's development package."
	[ "$(id -u)" != 0 ] || id -u postgres >/dev/null 2>&1 ||
		fail "PostgreSQL does not run as root, and there is no user postgres: useradd --system postgres."
fi
case ${PG_MAJOR:-} in
	15 | 17 | 18 | 19) ;;
	16) echo "PostgreSQL 16: Penumbra compiles against it, and is not tested with it." >&2 ;;
	"") fail "No PostgreSQL found: say which one, PG_MAJOR=17, or where it is, PG_CONFIG=/path/to/pg_config." ;;
	*) fail "PostgreSQL $PG_MAJOR is not supported: it is one of 15, 17, 18, 19 (PG_MAJOR=, PG_CONFIG=)." ;;
esac
if [ -n "${SKIP_PACKAGES:-}" ]; then
	[ -n "${PG_CONFIG:-}" ] || [ -x "/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" ] ||
		fail "SKIP_PACKAGES: there is no PostgreSQL $PG_MAJOR in /usr/lib/postgresql; say PG_CONFIG=/path/to/pg_config."
	for program in g++ cmake ninja pkg-config; do
		command -v $program >/dev/null || fail "SKIP_PACKAGES: $program is missing; packages.txt names the rest."
	done
	exit
fi
command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
	fail "Only Debian's packages are installed from here. On another distribution install what packages.txt names," \
		"then add SKIP_PACKAGES=1 PG_CONFIG=/path/to/pg_config to the command."

missing() { # SECTION...: the packages of these that are not installed
	awk -v sections=" $* " '/^#/ || !NF {next}
		/^\[/ {wanted = index(sections, " " substr($1, 2, length($1) - 2) " "); next}
		wanted {print $1}' packages.txt | sed "s/@/$PG_MAJOR/" | while read -r package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
	done
}

install() { # PACKAGE...
	local as_root=()
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null ||
			fail "Packages are missing, and installing needs root or sudo. As root: apt-get install --no-install-recommends" "$@"
		as_root=(sudo)
	fi
	need_space 2 /usr "Installing packages"
	echo "Installing" "$@"
	"${as_root[@]}" apt-get update -q &&
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

# Packages of neighbours are for Debian's PostgreSQL, and their tests are skipped without them.
required=() neighbours=()
for section; do
	case $section in neighbours*) neighbours+=("$section") ;; *) required+=("$section") ;; esac
done
[ -n "${PG_CONFIG:-}" ] && neighbours=() || required+=(postgresql)

packages=$(missing "${required[@]}")
[ -z "$packages" ] || install $packages ||
	fail "apt-get could not get the packages (above): this needs the network once, and a release that has PostgreSQL $PG_MAJOR."
packages=$(for package in $(missing "${neighbours[@]}"); do
	[ -z "$(apt-cache show "$package" 2>/dev/null)" ] || echo "$package"
done)
[ -z "$packages" ] || (install $packages) || echo "Tests beside these packages are skipped." >&2
