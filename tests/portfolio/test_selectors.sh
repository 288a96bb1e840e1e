#!/bin/bash
# The benchmark of selectors from outside: tables, bad ones, how their answers are judged. Prints TAP. Usage: test_selectors.sh BENCH_SELECTORS
. "$(dirname "$0")/../tools/command.sh"

printf 'query\tf\ta_result\ta_seconds\tb_result\tb_seconds\n' >heading.tsv
{ cat heading.tsv; for i in $(seq 60); do printf 'q%d\t%d\tsat\t%d\tsat\t%d\n' "$i" $((i % 2)) $((1 + 8 * (i % 2))) $((9 - 8 * (i % 2))); done; } >t.tsv
test_that "a replay, and what it is measured against" 'run 0 t.tsv --limit 20 && has out "^survival	schedule	" && has out "^only a	-	300.0" && has out "^virtual best	-	60.0"'
test_that "its JSON" 'run 0 t.tsv --limit 20 --json && has out "\"par2\":" && has out "\"solved\": 60,"'
test_that "the same seeds, the same numbers" 'run 0 t.tsv --limit 20 --selector 10nn && cp out once && run 0 t.tsv --limit 20 --selector 10nn && cmp out once && has out "^10nn	expo	"'
test_that "no table" 'run 1 && has err "no table to replay"'
test_that "an empty one" ': >e.tsv; run 1 e.tsv && has err "e.tsv: the table is empty"'
test_that "one without queries" 'run 1 heading.tsv && has err "a heading and no query"'
test_that "a row that is cut off" '{ cat t.tsv; printf "x\t1\tsat\n"; } >c.tsv; run 1 c.tsv && has err "c.tsv:62: 3 columns, where the heading has 6"'
test_that "a number that is none" 'sed "5s/sat/maybe/" t.tsv >m.tsv; run 1 m.tsv && has err "m.tsv:5: .maybe. is no result"'
test_that "features that are not known are taken" 'sed "s/^\(q[0-9]*\)	1	/\1	nan	/" t.tsv >n.tsv; run 0 n.tsv --limit 20'
test_that "a selector that is none" 'run 1 t.tsv --selector best && has err "no selector .best."'
test_that "arms that disagree are told" '{ cat t.tsv; printf "x\t1\tsat\t1\tunsat\t2\n"; } >d.tsv; run 0 d.tsv --limit 20 && has err "d.tsv:62: one arm says sat and another one unsat"'

# -- answers are judged as a portfolio does --

row() { printf '%s\t%s\t1\t%s\t%s\t%s\t%s\n' "$@"; }
printf 'query\tstatus\tf\tliar_result\tliar_seconds\thonest_result\thonest_seconds\n' >t.tsv
for i in $(seq 50); do row "q$i" unsat sat 0.1 unsat 2; done >>t.tsv
test_that "a replay judges by the status: a lie solves nothing, and is asked for once" '
	run 0 t.tsv --limit 20 && [ "$(head -1 out | cut -f 5)" = 50.0 ] && has out "^only honest	-	100.0	0.0	50.0" &&
	awk -F"\t" "NR == 1 && \$3 > 100.2 { exit 1 }" out'
cut -f 1,3- t.tsv >open.tsv
test_that "without a status, answers that contradict each other solve nothing" 'run 0 open.tsv --limit 20 && has out "^virtual best	-	2000.0	0.0	0.0"'

printf 'query\tstatus\tf\ta_result\ta_seconds\tb_result\tb_seconds\n' >doubted.tsv
row q0 unsat sat 0.1 sat 2 >>doubted.tsv
for i in $(seq 49); do row "q$i" sat sat 0.1 sat 2; done >>doubted.tsv
test_that "a replay doubts a status that two solvers contradict: it solves nothing, and nobody is left out" '
	run 0 doubted.tsv --limit 20 && has out "^only a	-	44.9	0.0	49.0" && [ "$(head -1 out | cut -f 5)" = 49.0 ]'

echo "1..$n"
