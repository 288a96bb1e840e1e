#!/bin/bash
# Runs the benchmarks and prints one table. Every row is a ratio (or a difference) of one run: both sides take turns.
#
#   run.sh BENCH [--growth] [OPTION...] [GROUP...]
#
# BENCH is the program (build/tests/bench/bench); its --help lists options and groups. --growth measures everything a second time with
# ten times as many commits, cells and facts, and shows that result in a column of its own.
set -u
[ $# -gt 0 ] && [ "$1" != --help ] || {
	sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
	exit 2
}
bench=$1
growth=
shift
if [ "${1:-}" = --growth ]; then
	growth=1
	shift
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

SOLVERFS_EXEC=${SOLVERFS_EXEC:-$(dirname "$bench")/../../core/sandbox/solverfs-exec}
SOLVERFS_EXEC=$(realpath "$SOLVERFS_EXEC") || exit 1
export SOLVERFS_EXEC
SOLVERFS_SHIM=${SOLVERFS_SHIM:-$(dirname "$bench")/../../core/build/solverfs-shim}
SOLVERFS_SHIM=$(realpath "$SOLVERFS_SHIM") || exit 1
export SOLVERFS_SHIM
SOLVERFS=${SOLVERFS:-$(dirname "$bench")/../../tools/solverfs}
SOLVERFS=$(realpath "$SOLVERFS") || exit 1
export SOLVERFS

columns() { if command -v column >/dev/null; then column -t -s "$(printf '\t')"; else cat; fi; }

status=0
"$bench" "$@" >"$tmp/rows" || status=1
if [ -n "$growth" ]; then
	"$bench" "$@" --scale 10 >"$tmp/more" || status=1
fi

echo "$(date -u +%F), $(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo), $(nproc) cores, Linux $(uname -r), load $(cut -d ' ' -f 1 /proc/loadavg)"
{
	printf 'what\tours\ttheirs\tagainst\tresult\tat most\t\n'
	cat "$tmp/rows"
} | if [ -n "$growth" ]; then
	# rows come in the same order; the names of some have numbers in them that differ
	paste - <(printf 'ten times as many\n' && cut -f 5 "$tmp/more")
else
	cat
fi | columns
exit $status
