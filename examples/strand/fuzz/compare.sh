#!/bin/bash
# Asks strand, z3 (seq) and cvc5 about every case of a folder, whatever is known of it, and says where they differ.
#
#   fuzz/compare.sh FOLDER > results.tsv      (lines: case, then answer and milliseconds of each)
#
# TIMEOUT (seconds, default 5) limits each run. Ends with the cases strand did not decide though another did, and with
# status 1 if two answers contradict each other.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
limit=${TIMEOUT:-5}
strand=${STRAND:-$here/strand}
ask() { # COMMAND…: answer and milliseconds
        local begin got
        begin=$(date +%s%N)
        got=$(timeout "$limit" "$@" 2> /dev/null | grep -E -m1 '^(sat|unsat|unknown)$')
        printf '\t%s\t%d' "${got:-none}" $((($(date +%s%N) - begin) / 1000000))
}
find "${1:?usage: compare.sh FOLDER}" -name '*.smt2' | LC_ALL=C sort | while read -r f; do
        printf '%s' "${f#"$1"/}"
        ask "$strand" "$f"
        ask z3 smt.string_solver=seq "$f"
        ask cvc5 --strings-exp "$f"
        echo
done | awk -F'\t' '
function decided(a) { return a == "sat" || a == "unsat" }
{ print; n++
  for (i = 2; i <= 6; i += 2) { solved[i] += decided($i)
          for (j = i + 2; j <= 6; j += 2) if (decided($i) && decided($j) && $i != $j) differ = differ "# differ: " $0 "\n" }
  if (!decided($2) && (decided($4) || decided($6))) open = open "# open: " $0 "\n"
  if (decided($2) && decided($4)) { common++; mine += $3; seq += $5 } }
END { printf "%s%s# %d cases: strand %d, z3seq %d, cvc5 %d; strand %.2f s, z3seq %.2f s on %d in common\n", open, differ, n,
             solved[2], solved[4], solved[6], mine / 1000, seq / 1000, common
      exit differ != "" }'
