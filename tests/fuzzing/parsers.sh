#!/bin/sh
# Do z3 and cvc5 read what the generator and the mutators make? tests/fuzzing/parsers.sh DUMP [INPUTS [SEED]]
#
# DUMP is build/tests/fuzzing/dump. The checks are left out, so that nothing is solved. Prints each solver's complaints, and fails when there are any.
[ $# -gt 0 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
inputs=$(mktemp) bad=0 read=0
trap 'rm -f "$inputs" "$inputs.all" "$inputs.said"' EXIT
"$1" "${2:-20000}" "${3:-1}" >"$inputs.all" || exit 1
grep -vE '^\((check-sat|get-model|exit)' "$inputs.all" >"$inputs"
n=$(grep -c '^; input' "$inputs")
for solver in "z3" "cvc5 --lang=smt2.6 --incremental --strings-exp --parse-only"; do
	command -v "${solver%% *}" >/dev/null || { echo "${solver%% *}: not there"; continue; }
	$solver "$inputs" >"$inputs.said" 2>&1
	read=$n
	echo "${solver%% *}: $n inputs, $(grep -c error "$inputs.said") complaints"
	grep error "$inputs.said" | sed 's/line [0-9]* column [0-9]*: //' | sort | uniq -c | sort -rn | head -20
	! grep -q error "$inputs.said" || bad=1
done
[ "$read" -gt 0 ] || { echo "no solver read anything" >&2; bad=1; }
exit $bad
