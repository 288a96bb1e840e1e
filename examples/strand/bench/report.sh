#!/bin/bash
# Tables (Markdown, standard output) and cactus plots (cactus-sat.svg, cactus-unsat.svg in a folder) of what bench.sh measured.
#
#   bench/report.sh FOLDER RESULTS.tsv...      (TIMEOUT: the limit of the runs, default 5)
set -u
out=${1:?usage: report.sh FOLDER RESULTS.tsv...}
shift
limit=${TIMEOUT:-5}
results=$(mktemp) && trap 'rm -f "$results"' EXIT
cat "$@" > "$results"
solvers=$(cut -f4 "$results" | awk '!seen[$0]++' | tr '\n' ' ')

# The tables. "Time in common" sums over the cases that every solver of the table solved; the last column compares each with the
# first: its time and the first one's on the cases that both solved, and how many these are.
awk -F'\t' -v solvers="$solvers" '
{ key = $1 SUBSEP $2; want[key] = $3; if (!(key in seen)) { seen[key] = 1; n[$1]++; cases[$1, n[$1]] = key; if (n[$1] == 1) families[++nf] = $1 }
  r[key, $4] = $5; t[key, $4] = $6; total++ }
function table(name, nc, list,    i, s, k, c, ok, common) {
        printf "\n%s (%d cases)\n\n| solver | solved | sat | unsat | wrong | unknown | timeout | time in common (s) | on what %s solved, too (s) |\n|---|---|---|---|---|---|---|---|---|\n", name, nc, sv[1]
        for (i = 1; i <= nc; i++) { ok[i] = 1; for (s = 1; s <= ns; s++) if (r[list[i], sv[s]] != "solved") ok[i] = 0; common += ok[i] }
        for (s = 1; s <= ns; s++) {
                delete c; sum = both = own = first = 0
                for (i = 1; i <= nc; i++) { c[r[list[i], sv[s]]]++; if (r[list[i], sv[s]] == "solved") c[want[list[i]]]++; if (ok[i]) sum += t[list[i], sv[s]]
                        if (r[list[i], sv[s]] == "solved" && r[list[i], sv[1]] == "solved") { both++; own += t[list[i], sv[s]]; first += t[list[i], sv[1]] } }
                printf "| %s | %d | %d | %d | %d | %d | %d | %.2f | %.2f : %.2f (%d) |\n", sv[s], c["solved"], c["sat"], c["unsat"], c["wrong"], c["unknown"], c["timeout"], sum / 1000, own / 1000, first / 1000, both
        }
        printf "\n%d cases in common.\n", common
}
END { ns = split(solvers, sv, " "); na = 0
        for (f = 1; f <= nf; f++) { delete list; for (i = 1; i <= n[families[f]]; i++) { list[i] = cases[families[f], i]; all[++na] = list[i] } table(families[f], n[families[f]], list) }
        table("all families", na, all) }' "$results"

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
        }' "$results" > "$out/cactus-$want.svg"
done
