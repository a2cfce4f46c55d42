#!/bin/sh
# Compares NUMERIC with a real server on random cases: starts a private PostgreSQL in a scratch directory,
# generates cases and their results there, and runs numeric_golden_test on them.
#   numeric_differential.sh ENGINE_TEST [ROUNDS [CASES_PER_ROUND]]
# ENGINE_TEST is the built test program; PG_BINDIR the server's programs (default: those of pg_config).
# As root the server runs as user postgres, which initdb demands.
set -eu

engine_test=$1
rounds=${2:-4}
cases=${3:-20000}
bindir=${PG_BINDIR:-$(pg_config --bindir)}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
as_server=
if [ "$(id -u)" = 0 ]; then
  chown postgres "$scratch"
  as_server="runuser -u postgres --"
fi
stop_server() {
  $as_server "$bindir/pg_ctl" -D "$scratch/data" -m immediate -w stop > /dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap stop_server EXIT

cd "$scratch"
$as_server "$bindir/initdb" -D "$scratch/data" -U postgres -A trust -E UTF8 --locale=C > /dev/null
$as_server "$bindir/pg_ctl" -D "$scratch/data" -l "$scratch/log" -w start \
  -o "-c listen_addresses='' -c unix_socket_directories=$scratch -c fsync=off" > /dev/null
round=1
while [ "$round" -le "$rounds" ]; do
  psql -h "$scratch" -U postgres -X -q -d postgres -c 'drop database if exists cases' -c 'create database cases' 2> /dev/null
  seed=$(awk -v r="$round" 'BEGIN { srand(); printf "%.6f", (rand() + r * 0.618034) % 1 }')
  psql -h "$scratch" -U postgres -X -q -d cases -v ON_ERROR_STOP=1 -v seed="$seed" -v count="$cases" -v longest=100000 \
    -f "$here/numeric_cases.sql" > "$scratch/cases.tsv"
  echo "round $round, seed $seed: $(wc -l < "$scratch/cases.tsv") cases"
  PENUMBRA_NUMERIC_CASES=$scratch/cases.tsv "$engine_test" --gtest_brief=1 --gtest_filter='NumericGoldenTest.*'
  round=$((round + 1))
done
