#!/bin/sh
# The cases that take longer at one commit than at another, by how much, the worst first. Every number is a file of the mount.
#
#     examples/slower.sh MOUNT/SOLVER BEFORE AFTER [FACTOR]
#
# `solverfs compare` says which of these are no noise.
set -eu
[ $# -ge 3 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
solver=$1 before=$2 after=$3 factor=${4:-1.2}
for folder in "$solver/head/cases"/[0-9]*; do
	case=${folder##*/}
	for commit in "$before" "$after"; do
		printf '%s\t%s\t' "$(tail -n 1 "$solver/commits/$commit/cases/$case/result")" "$(cat "$solver/commits/$commit/cases/$case/time")"
	done
	cat "$solver/../cases/$case/name"
done | awk -F '\t' -v factor="$factor" '$4 > factor * $2 { printf "%.2f\t%s %s\t%s %s\t%s\n", $4 / $2, $1, $2, $3, $4, $5 }' | sort -rn
