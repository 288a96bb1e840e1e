#!/bin/bash
# Runs strand, its ablations, z3 (both string solvers) and cvc5 on a folder of cases, side by side.
#
#   ./bench.sh FOLDER [OUTPUT-FOLDER]
#
# FOLDER has cases *.smt2, perhaps in folders of their own (the families), whose names begin with sat- or unsat-.
# Writes results.tsv into OUTPUT-FOLDER (default: bench), then the tables and plots of bench/report.sh. Every solver runs a case before the next case begins, so that noise meets all.
# TIMEOUT (seconds, default 5) limits each run; JUST="strand cvc5" restricts the solvers; STRAND is the program to run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cases=${1:?usage: bench.sh FOLDER [OUTPUT-FOLDER]}
out=${2:-$here/bench}
limit=${TIMEOUT:-5}
mkdir -p "$out"
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT

solvers=${JUST:-"strand strand-no-length strand-no-overlap strand-neither strand-loop z3str3 z3seq cvc5"}
strand=${STRAND:-$here/strand}
run() {
        case $1 in
        strand) "$strand" "$2" ;;
        strand-no-length) "$strand" --no-length "$2" ;;
        strand-no-overlap) "$strand" --no-overlap "$2" ;;
        strand-neither) "$strand" --no-length --no-overlap "$2" ;;
        strand-loop) "$strand" --loop "$2" ;;
        z3str3) z3 smt.string_solver=z3str3 "$2" ;;
        z3seq) z3 smt.string_solver=seq "$2" ;;
        cvc5) cvc5 --strings-exp "$2" ;;
        esac
}
export -f run
export strand

: > "$out/results.tsv"
find "$cases" -name '*.smt2' | LC_ALL=C sort | while read -r f; do
        family=$(basename "$(dirname "$f")")
        name=$(basename "$f")
        want=${name%%-*}
        for s in $solvers; do
                begin=$(date +%s%N)
                timeout "$limit" bash -c 'run "$0" "$1"' "$s" "$f" > "$tmp/o" 2> /dev/null
                status=$?
                end=$(date +%s%N)
                got=$(grep -E -m1 '^(sat|unsat|unknown)$' "$tmp/o")
                if [ "$status" = 124 ] || [ "$status" = 137 ]; then result=timeout
                elif [ "$got" = "$want" ]; then result=solved
                elif [ "$got" = sat ] || [ "$got" = unsat ]; then result=wrong
                else result=unknown; fi
                printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$family" "$name" "$want" "$s" "$result" $(((end - begin) / 1000000)) \
                        >> "$out/results.tsv"
        done
done

TIMEOUT=$limit "$here/bench/report.sh" "$out" "$out/results.tsv"
