#!/bin/bash
# Runs strand, its ablations, z3 (both string solvers) and cvc5 on a folder of cases, side by side.
#
#   ./bench.sh FOLDER [OUTPUT-FOLDER]
#
# FOLDER has cases *.smt2, perhaps in folders of their own (the families), whose names begin with sat- or unsat-.
# Prints a table for each family, writes results.tsv and the cactus plots cactus-sat.svg and cactus-unsat.svg into
# OUTPUT-FOLDER (default: bench). Every solver runs a case before the next case begins, so that noise meets all.
# TIMEOUT (seconds, default 5) limits each run; JUST="strand cvc5" restricts the solvers; STRAND is the program to run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cases=${1:?usage: bench.sh FOLDER [OUTPUT-FOLDER]}
out=${2:-$here/bench}
limit=${TIMEOUT:-5}
mkdir -p "$out"
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT

solvers=${JUST:-"strand strand-no-length strand-no-overlap strand-neither strand-propagator z3str3 z3seq cvc5"}
strand=${STRAND:-$here/strand}
run() {
        case $1 in
        strand) "$strand" "$2" ;;
        strand-no-length) "$strand" --no-length "$2" ;;
        strand-no-overlap) "$strand" --no-overlap "$2" ;;
        strand-neither) "$strand" --no-length --no-overlap "$2" ;;
        strand-propagator) "$strand" --propagator "$2" ;;
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

# The tables. "Time in common" sums over the cases that every solver of the table solved.
awk -F'\t' -v solvers="$solvers" '
{ key = $1 SUBSEP $2; if (!(key in seen)) { seen[key] = 1; n[$1]++; cases[$1, n[$1]] = key; if (n[$1] == 1) families[++nf] = $1 }
  r[key, $4] = $5; t[key, $4] = $6; total++ }
function table(name, nc, list,    i, s, k, c, ok, common) {
        printf "\n%s (%d cases)\n\n| solver | solved | wrong | unknown | timeout | time in common (s) |\n|---|---|---|---|---|---|\n", name, nc
        for (i = 1; i <= nc; i++) { ok[i] = 1; for (s = 1; s <= ns; s++) if (r[list[i], sv[s]] != "solved") ok[i] = 0; common += ok[i] }
        for (s = 1; s <= ns; s++) {
                delete c; sum = 0
                for (i = 1; i <= nc; i++) { c[r[list[i], sv[s]]]++; if (ok[i]) sum += t[list[i], sv[s]] }
                printf "| %s | %d | %d | %d | %d | %.2f |\n", sv[s], c["solved"], c["wrong"], c["unknown"], c["timeout"], sum / 1000
        }
        printf "\n%d cases in common.\n", common
}
END { ns = split(solvers, sv, " "); na = 0
        for (f = 1; f <= nf; f++) { delete list; for (i = 1; i <= n[families[f]]; i++) { list[i] = cases[families[f], i]; all[++na] = list[i] } table(families[f], n[families[f]], list) }
        table("all families", na, all) }' "$out/results.tsv"

# Cactus plots: solved cases over the time each took, ascending; a logarithmic time axis.
for want in sat unsat; do
        awk -F'\t' -v want=$want -v solvers="$solvers" -v limit="$limit" '
        $3 == want { if ($4 == first || first == "") { first = $4; total++ } }
        $3 == want && $5 == "solved" { k = ++n[$4]; t[$4, k] = $6 < 1 ? 1 : $6 }
        function x(i) { return 60 + i * 520 / (total > 0 ? total : 1) }
        function y(ms) { return 380 - log(ms) / log(limit * 1000) * 350 }
        END {
                split("#c00000 #e08000 #a0a000 #808080 #c060a0 #00a060 #0060c0 #8000c0", color, " ")
                print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"430\" font-family=\"sans-serif\" font-size=\"12\">"
                print "<rect width=\"760\" height=\"430\" fill=\"white\"/>"
                printf "<text x=\"60\" y=\"18\" font-size=\"14\">%s cases solved (of %d) within a time, each</text>\n", want, total
                for (ms = 1; ms <= limit * 1000; ms *= 10)
                        printf "<line x1=\"60\" x2=\"580\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"8\" y=\"%.1f\">%g s</text>\n", y(ms), y(ms), y(ms) + 4, ms / 1000
                for (i = 0; i <= total; i += (total > 40 ? 10 : 5))
                        printf "<text x=\"%.1f\" y=\"398\" text-anchor=\"middle\">%d</text>\n", x(i), i
                ns = split(solvers, sv, " ")
                for (s = 1; s <= ns; s++) {
                        m = n[sv[s]]; line = ""
                        for (i = 1; i <= m; i++) v[i] = t[sv[s], i]
                        for (i = 2; i <= m; i++) { w = v[i]; for (j = i - 1; j > 0 && v[j] > w; j--) v[j + 1] = v[j]; v[j + 1] = w }
                        for (i = 1; i <= m; i++) line = line sprintf("%.1f,%.1f ", x(i), y(v[i]))
                        printf "<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" points=\"%s\"/>\n", color[s], line
                        printf "<text x=\"600\" y=\"%d\" fill=\"%s\">%s: %d</text>\n", 40 + 18 * s, color[s], sv[s], m
                }
                print "</svg>"
        }' "$out/results.tsv" > "$out/cactus-$want.svg"
done
