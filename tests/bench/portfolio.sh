#!/bin/sh
# A portfolio against each of its arms, live and side by side: tests/bench/portfolio.sh SOLVERFS TIMEOUT FOLDER... -- ARM...
#
# Cases in random (fixed) order, ten at a time: first the portfolio, which knows nothing of them, then each arm alone, so that what else the
# machine does meets both. Prints score.tsv. SOLVER='NAME REPOSITORY' adds a solver whose versions can be arms.
set -e
solverfs=$1 timeout=$2
shift 2
folders=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	folders="$folders $1"
	shift
done
[ $# -gt 1 ] || { sed -n 's/^# A portfolio.*: //p' "$0" >&2; exit 2; }
shift
SOLVERFS_STORE=$(mktemp -d "${TMPDIR:-/tmp}/portfolio-bench-XXXXXX")/store
export SOLVERFS_STORE
trap 'rm -rf "${SOLVERFS_STORE%/store}"' EXIT
"$solverfs" -q init
# shellcheck disable=SC2086 # words of 'solver add', for arms of a history
[ -z "$SOLVER" ] || "$solverfs" -q solver add $SOLVER
# shellcheck disable=SC2086 # a list of folders
"$solverfs" -q case add $folders >/dev/null
"$solverfs" portfolio add bench "$@" --timeout "$timeout"
ids=$("$solverfs" case list | cut -f 1 | sort --random-source=/bin/sh -R | sed -n "0~${EVERY:-1}p")
set --
for id in $ids end; do
	if [ "$id" != end ]; then
		set -- "$@" "$id"
		[ $# -lt 10 ] && continue
	fi
	[ $# -gt 0 ] || continue
	"$solverfs" -q portfolio run bench "$@" >/dev/null || true
	"$solverfs" -q portfolio run bench "$@" --alone >/dev/null || true
	set --
done
"$solverfs" portfolio show bench
[ -z "$KEEP_SCORE" ] || "$solverfs" portfolio show bench >"$KEEP_SCORE"
