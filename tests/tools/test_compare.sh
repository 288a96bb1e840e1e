#!/bin/bash
# Comparisons of two versions: the command, its files and exit statuses, and compare/ of a mount.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
mnt=$top/mnt
clean_up() { for dir in "$mnt" "$top/done"; do "$solverfs" unmount "$dir" >/dev/null 2>&1 || true; done; }
tell_time

# It takes eight milliseconds, half as much again for cases "slow" from v2 on, one run a twentieth longer than another. Cases "chaos" take as long as each
# version draws for each seed, within a factor of four up and down; "even" are slow and take as long as the seed says; "effort" says a count, half as much
# again from v2 on; "large" takes as many megabytes.
make_repository toy
version() { # version TAG PERCENT-OF-SLOW ANSWER-OF-FLIP
	cat >toy/toy.c <<'END2'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv)
{
	char line[100], kind[100] = "plain";
	double ms = 8;
	int seed = 0;
	FILE *f = fopen(argv[argc - 1], "r");
	struct timespec t;
	static volatile char version[] = TAG;
	static char *volatile room;
	unsigned hash = 5381;
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-s")) seed = atoi(argv[i + 1]);
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "(set-info :kind %99[a-z]", kind);
	if (!strcmp(kind, "long")) ms = 15000;
	if (!strcmp(kind, "slow") || !strcmp(kind, "even")) ms = ms * PERCENT / 100;
	snprintf(line, sizeof(line), "%s %d", (char *)version, seed);
	for (char *p = line; *p; p++) hash = (hash ^ *p) * 2654435761u, hash ^= hash >> 15;
	if (!strcmp(kind, "chaos")) ms = ms / 4 * (1 << hash % 5);
	clock_gettime(CLOCK_REALTIME, &t);
	if (!strcmp(kind, "even")) t.tv_nsec = 0, ms *= 1 + seed % 7;
	fprintf(stderr, "lasts %.9f\n", ms / 1e3 * (1 + t.tv_nsec / 1000 % 1000 * 5e-5));
	if (!strcmp(kind, "effort")) fprintf(stderr, "conflicts: %d\n", (1000 + seed) * PERCENT / 100);
	if (!strcmp(kind, "large")) room = memset(malloc(PERCENT << 20), 1, PERCENT << 20);
	if (!strcmp(kind, "idle")) fprintf(stderr, "conflicts: 7\n");
	if (!strcmp(kind, "flip") && !strcmp(FLIP, "crash")) abort();
	puts(!strcmp(kind, "flip") || !strcmp(kind, "long") ? FLIP : "sat");
	return version[0] == 'x';
}
END2
	echo "cc -O1 -DTAG='\"$1\"' -DPERCENT=$2 -DFLIP='\"$3\"' -o toy toy.c" >toy/build.sh
	[ "$1" != broken ] || echo 'exit 7' >toy/build.sh
	git -C toy add -A && git -C toy commit -q -m "$1" && git -C toy tag "$1"
}
version v1 100 sat && version v1-again 100 sat && version v2 150 sat && version lost 100 unknown && version crash 100 crash && version wrong 100 unsat && version broken 100 sat
toy_recipe toy 'timeout = 10s' 'effort = conflicts: ([0-9]+)' 'run = {bin} {seed} {case}' 'seed = -s {n}'
printf '[variant "other"]\n\targuments = -x\n' >>toy.recipe
formula() { printf '(set-info :kind %s)\n(declare-const %s Bool)\n(assert (or %s true))\n(check-sat)\n' "$1" "$2" "$2"; }
for kind in plain slow effort flip chaos idle; do formula $kind a >$kind.smt2; done
printf '(set-info :kind flip)\n(set-info :status sat)\n(check-sat)\n' >status.smt2
printf 'p cnf 1 1\n1 0\n' >a.cnf
run 0 init && run 0 solver add --recipe toy.recipe toy toy && run 0 case add plain.smt2 slow.smt2 effort.smt2 flip.smt2 status.smt2 chaos.smt2 a.cnf idle.smt2 || { cat err; exit 1; }
c="compare toy@v1 toy@v2"
value() { grep "^$1	" out | cut -f "$2"; }

test_that "--known measures nothing" 'run 0 $c --known && [ "$(value compared 2)" = 0 ] && ! has out "^regression"'
test_that "... and then there is nothing to say" '
	run 0 $c --known --markdown && has out "^## toy v2 against toy v1: nothing compared$" && run 1 $c --known --fail-on-regression 1.2 && has err "nothing was compared"'
test_that "... or little, as of one pair" '
	run 0 $c flip.smt2 --one-seed && run 0 $c flip.smt2 --known --fail-on-regression 1.2 && has err "1 case is open: more pairs of runs might show a regression" &&
	run 0 $c flip.smt2 --known --markdown && has out "^## .*: not finished, 1 of 1 cases are open$" &&
	run 0 $c flip.smt2 --markdown && has out "^## .*: no change$"'
hold_cores
waits_for_core() { terminal timeout -s INT "$1" "$solverfs" $c; has out "compare: first runs; waits for a core"; }
test_that "a comparison that waits for a core says so" 'waits_for_core 4 || waits_for_core 50'
let_cores_go
sed 's/build = .*/build = sleep 30/; /variant/,$d' toy.recipe >slow.recipe
run 0 solver add --recipe slow.recipe slowly toy
waits_for_build() { terminal timeout -s INT "$1" "$solverfs" compare slowly@v1 slowly@v2 plain.smt2; has out "compare: first runs; build slowly "; }
test_that "one that waits for a build names it" 'waits_for_build 4 || waits_for_build 25'
test_that "interrupted before anything is compared it prints nothing, and writes no picture" '
	timeout -s INT 3 "$solverfs" compare slowly@v1 slowly@v2 plain.smt2 --scatter none.svg >out 2>err </dev/null; [ $? = 124 ] && has err "stopping" && [ ! -s out ] && [ ! -e none.svg ]'
run 0 solver remove slowly
test_that "a slowdown is found over seeds, and chaos is none" '
	run 0 $c plain.smt2 slow.smt2 chaos.smt2 && [ "$(value compared 2)" = 3 ] && [ "$(value "pairs by" 3)" = seeds ] && [ "$(grep -c "^regression" out)" = 1 ] && ! has out "^improvement" &&
	grep "	slow.smt2$" out | grep -qE "^regression	2	slower	sat	[0-9.]*	sat	[0-9.]*	1\.[3-7][0-9]*	.*	time	"'
test_that "the first line is of the set" 'head -1 out | grep -qE "^toy v2 against toy v1, 3 cases: time [0-9.]*×.*; solved 3 → 3, PAR-2 [0-9.]* → [0-9.]* s$"'
test_that "... and the other way round it is an improvement" 'run 0 compare toy@v2 v1 slow.smt2 && [ "$(grep -c "^improvement	.*	faster	" out)" = 1 ] && ! has out "^regression"'
test_that "what was measured is used" 'run 0 $c slow.smt2 >one && cp out one && run 0 $c slow.smt2 && cmp one out && run 0 $c slow.smt2 --known && cmp one out'
test_that "two builds that do the same do not differ" '
	run 0 compare toy@v1 v1-again plain.smt2 slow.smt2 effort.smt2 --fail-on-regression 1.35 && [ "$(value "pairs of runs" 3)" -ge 15 ]'
test_that "fewer pairs than any verdict needs are said to be too few" 'run 0 $c plain.smt2 --pairs 4 && has err "^fewer than 5 pairs" &&
	run 0 $c slow.smt2 --pairs 4 --markdown && has out "^## .*: too few pairs of runs to show a change$" && run 0 $c plain.smt2 --pairs 5 && ! has err "^fewer"'
test_that "--one-seed says what differs, and calls nothing a regression" '
	run 0 $c slow.smt2 chaos.smt2 --one-seed && has out "^differs	6	differs	" && ! has out "^regression" && head -1 out | grep -q "at one seed, which proves nothing"'
test_that "... and has no interval" '
	grep -qE "^differs	6	.*	[0-9.]+	-	-	-	1	" out && ! grep -qw inf out &&
	run 0 $c slow.smt2 chaos.smt2 --one-seed --markdown && has out "^## .*: [12] cases? differs? at this seed$" && grep -qE "^\| chaos.smt2 \| differs .* [0-9.]+× \| time \|$" out &&
	run 0 $c slow.smt2 chaos.smt2 --one-seed --json && python3 -c "
import json
j = json.load(open(\"out\"))
for d in j[\"differ\"]:
	assert d[\"low\"] is d[\"high\"] is None and d[\"measures\"][\"time\"][\"low\"] is None, d
for mean in j[\"set\"][\"par2_difference\"], j[\"set\"][\"by\"][\"time\"][\"ratio\"]:
	assert mean[\"mean\"] is not None and mean[\"seeds\"] == mean[\"cases\"] == [None, None], mean"'
test_that "--keep makes findings of what became slower" '
	run 0 $c plain.smt2 slow.smt2 chaos.smt2 --keep && has err "1 regression kept, 0 known already; .solverfs findings toy. lists them" &&
	run 0 $c plain.smt2 slow.smt2 chaos.smt2 --keep && has err "0 regressions kept, 1 known already" &&
	run 0 findings toy --json && python3 -c "
import json
f, = map(json.loads, open(\"out\"))
assert f[\"kind\"] == \"spr\" and f[\"campaign\"] == \"compare\" and 1.3 < f[\"after\"] / f[\"before\"] < 1.7, f
assert 0.3 < f[\"threshold\"] / (f[\"after\"] - f[\"before\"]) < 0.7 and \"machine\" not in f, f"'
test_that "... of this machine, which they say on another one" 'SOLVERFS_MACHINE=depot run 0 findings toy --json && has out "\"machine\":"'
test_that "... or takes more effort, which is another finding" '
	run 0 $c effort.smt2 --measure effort --keep && has err "1 regression kept" && run 0 findings toy --all && has out "	spr:effort	.*	[0-9]+	[0-9]+	"'
test_that "... found under a seed that was asked for, which it keeps" '
	formula slow seeded >seeded.smt2 && run 0 case add seeded.smt2 && run 0 $c seeded.smt2 --seed 5 --keep && run 0 localize toy spr/3 --json && has out "\"seed\": ?5"; r=$?; run 0 case remove seeded.smt2; (exit $r)'
test_that "what --keep does not take" '
	run 2 $c --keep --seed 0 && has err "the seed of a finding is 1 or more" && run 2 $c --keep --one-seed && has err "exclude each other" && run 2 $c --keep --pairs 1 && has err "exclude each other" && run 2 $c --keep --measure seconds-per-effort && has err "is for --measure time" &&
	run 2 $c --keep --machine elsewhere && has err "results of this machine: --keep and --machine exclude each other" &&
	run 2 compare toy@v1 other@v2 --keep && has err "two versions of one solver: toy and other are two"'
test_that "a count that changes is no change of time" 'run 0 $c effort.smt2 && ! has out "^regression" && [ "$(value compared 2)" = 1 ]'
test_that "... but one of effort" '
	run 0 $c effort.smt2 --measure effort && grep -qE "^regression	3	more	sat	[0-9.]*	sat	[0-9.]*	1\.[45][0-9]*	.*	effort	effort.smt2$" out &&
	run 0 $c effort.smt2 --measure seconds-per-effort && grep -q "^improvement	3	faster" out'
test_that "a seed that changes nothing is told" 'run 0 $c idle.smt2 && has err "the seed of toy changes nothing"'
sed '/variant/,$d; /seed = /d; s/{seed} //' toy.recipe >twin.recipe
run 0 solver add --recipe twin.recipe twin toy
test_that "without seeds pairs are repetitions, which is told" 'run 0 compare twin@v1 twin@v2 slow.smt2 && has out "^regression" && [ "$(value "pairs by" 3)" = repetitions ] && has err "not both recipes have a .seed." && has out "^twin v2 against .* over repetitions\), "'
test_that "--scramble: they are of scrambled inputs" 'run 0 compare twin@v1 twin@v2 slow.smt2 --scramble && has out "^regression" && [ "$(value "pairs by" 3)" = "scrambled inputs" ] && ! has err "repetitions"'
test_that "... and the page of the solver compares the same pairs" '
	formula slow page >page.smt2 && run 0 case add page.smt2 && run 0 set add page page.smt2 && run 0 compare twin@v1 twin@v2 page.smt2 --scramble && has out "^regression" &&
	run 0 report twin --set page -o page.html && has page.html "What changed"; r=$?; run 0 case remove page.smt2; (exit $r)'
test_that "... but of one that cannot be scrambled" 'run 0 compare twin@v1 twin@v2 status.smt2 --scramble && has err "1 of 1 cases cannot be scrambled, and their pairs are repetitions: status.smt2: cannot scramble this"'
test_that "between two solvers, which count different things, effort decides nothing" 'run 0 compare toy@v1 twin@v2 effort.smt2 --measure effort --pairs 5 && has out "no effort to compare" && ! has out "^regression"'
test_that "a variant counts as its solver does" 'run 0 compare toy@v1 other@v2 effort.smt2 --measure effort && has out "	effort	effort.smt2"'
run 0 solver remove twin
mkdir -p tree/fam && formula slow b >tree/fam/one.smt2 && formula slow c >tree/fam/two.smt2 && run 0 case add tree
test_that "each folder of cases has a line" 'run 0 $c plain.smt2 fam/ && [ "$(grep -c "^family	" out)" = 2 ] && grep -qE "^family	fam	2	2	2	2	0	0	.*	1\.[3-7][0-9]*	.*	2	0$" out && has out "^family	\.	1"'
test_that "... without an interval over one or two cases" '[ "$(grep "^family	" out | cut -f 15,16 | sort -u)" = "-	-" ]'
test_that "a commit with itself is the same, without pairs" 'run 0 compare v1 toy@v1 plain.smt2 && [ "$(value same 3)" = 1 ] && [ "$(value "pairs of runs" 3)" = 1 ]'
test_that "--fail-on-regression: status 1 from the ratio on" '
	run 1 $c slow.smt2 --fail-on-regression 1.2 && has err "1 regression: a wrong or missing answer, or worse by 1.2 or more" &&
	run 0 $c slow.smt2 --fail-on-regression 2 && run 0 compare v2 toy@v1 slow.smt2 --fail-on-regression 1.2'
for name in a b c; do formula even $name >even-$name.smt2; done && run 0 case add even-?.smt2
test_that "an even slowdown of all cases is one of each" '
	run 1 $c even-?.smt2 --fail-on-regression 1.2 && has err "3 regressions: " && [ "$(grep -c "^regression	.*	slower	" out)" = 3 ] && [ "$(value "pairs of runs" 3)" = 24 ]'
test_that "... and with too few pairs for a case it is one of the set" '
	run 1 $c even-?.smt2 --fail-on-regression 1.2 --pairs 5 && has err "all cases together are worse by 1.2 or more" && ! has out "^regression" &&
	run 0 $c even-?.smt2 --pairs 5 --markdown && has out "^## .*: slower as a whole$" &&
	run 0 $c even-?.smt2 --fail-on-regression 2 --pairs 5'
run 0 case remove even-?.smt2
test_that "an answer lost under most seeds fails whatever the ratio" '
	run 1 compare v1 toy@lost flip.smt2 --fail-on-regression 9 && has out "^regression	4	lost	sat	.*	unknown" && run 0 compare v1 toy@lost flip.smt2'
test_that "... also if five pairs are all that is asked for, in which the times vary" '
	run 1 compare v1 toy@lost flip.smt2 plain.smt2 --pairs 5 --fail-on-regression 9 && has out "^regression	4	lost	sat	.*	unknown"'
test_that "--keep makes a finding of each answer that became unknown, or a crash" '
	for v in lost crash; do run 0 compare v1 toy@$v flip.smt2 --keep && has err "1 regression kept" || exit 1; done; run 0 findings toy --json && python3 -c "
import json
crash, lost = [f for f in map(json.loads, open(\"out\")) if f[\"kind\"] != \"spr\"]
assert lost[\"kind\"] == \"regression\" and crash[\"kind\"] == \"crash\" and lost[\"after\"] < 1 and crash[\"after\"] < 1, (lost, crash)"'
test_that "... which localize searches by the answers" '
	run 0 findings toy --all && lost=$(awk "\$2 == \"regression\" { print \$1 }" out) && crash=$(awk "\$2 == \"crash\" { print \$1 }" out) &&
	run 0 localize toy incompleteness/$lost && [ "$(field 2,3,4)" = "$(printf "%s\tsat\tunknown" "$(git -C toy rev-parse lost)")" ] &&
	run 2 localize toy incompleteness/$lost slow.smt2 && has err "without cases" && run 2 localize toy incompleteness/$lost soundness/$crash && has err "other answers"'
test_that "a wrong answer is first and loud" '
	run 1 compare v1 toy@wrong status.smt2 effort.smt2 && has err "WRONG ANSWER: 0 of the first version, 1 of the second" && [ "$(value wrong 3)" = 1 ] &&
	[ "$(grep ^regression out | head -1 | cut -f 2,3)" = "5	wrong" ]'
test_that "... and status tells it, also of a run that was given more CPU time than the recipe has" '
	sed "s/flip/long/" status.smt2 >long.smt2 && run 0 case add long.smt2 && run 0 localize toy --reference v1 --target wrong long.smt2 --clock cpu --timeout 20s && run 0 status && has err "WRONG ANSWER: toy .*long.smt2"; r=$?; run 0 case remove long.smt2; (exit $r)'
test_that "... also on a case that the other version has no run of" '
	printf "(set-info :kind flip)\n(set-info :status sat)\n(check-sat)\n(exit)\n" >half.smt2 && run 0 case add half.smt2 && run 1 run toy wrong half.smt2 && run 1 compare v1 toy@wrong half.smt2 --known &&
	[ "$(value wrong 2,3)" = "$(printf "0\t1")" ] && has err "WRONG ANSWER: 0 of the first version, 1 of the second"; r=$?; run 0 case remove half.smt2; (exit $r)'
test_that "so is a contradiction" 'run 1 compare v1 toy@wrong flip.smt2 && has err "CONTRADICTION: on 1 case the two contradict" && has out "^regression	4	contradiction"'
test_that "a version that cannot be built" '
	run 1 compare v1 toy@broken plain.smt2 && has err "toy [0-9a-f]{12} cannot be built: .*status 7" && [ "$(value unbuildable 2,3)" = "$(printf "0\t1")" ] &&
	run 1 compare v1 toy@broken plain.smt2 --markdown && has out "^## toy broken against toy v1: toy broken cannot be built$"'
test_that "--json has everything" '
	run 0 $c slow.smt2 plain.smt2 --json && python3 -c "
import json
o = json.load(open(\"out\"))
assert o[\"set\"][\"compared\"] == 2 and o[\"a\"][\"solved\"] == 2 and o[\"b\"][\"verdicts\"][\"sat\"] == 2 and o[\"improvements\"] == [] and o[\"pairs_by\"] == \"seeds\"
assert o[\"set\"][\"by\"][\"time\"][\"ratio\"][\"mean\"] > 1
by = {r[\"case\"]: r for r in o[\"regressions\"]}
assert list(by) == [2] and by[2][\"by\"] == \"time\" and by[2][\"pairs\"] >= 5 and by[2][\"p\"] < 0.01 and 1 < by[2][\"low\"] < by[2][\"ratio\"] < by[2][\"high\"], by
assert by[2][\"solved\"] == [by[2][\"pairs\"]] * 2 and by[2][\"measures\"][\"memory\"][\"change\"] in (\"same\", \"undecided\", \"unknown\"), by"'
test_that "--markdown is a summary" '
	run 0 $c slow.smt2 plain.smt2 --markdown && has out "^## toy v2 against toy v1: 1 regression, 0 improvements$" && has out "^\| solved of 2 \| 2 \| 2 \|$" &&
	has out "^- time [0-9.]*×" && has out "^\| slow.smt2 \| slower \| .*× \(.*–.*\) \| time, [0-9]* pairs, p"'
test_that "pictures are XML with a point for each case" '
	run 0 $c slow.smt2 plain.smt2 --scatter s.svg --cactus c.svg && python3 -c "
import xml.etree.ElementTree as t
s, c = [t.tostring(t.parse(f).getroot(), encoding=\"unicode\") for f in (\"s.svg\", \"c.svg\")]
assert s.count(\".smt2: sat\") == 2 and \"toy v2, seconds\" in s and \"toy v1: 2 solved\" in c and \"toy v2: 2 solved\" in c"'
sed 's/timeout = .*/timeout = 5ms/; /variant/,$d' toy.recipe >brief.recipe
test_that "an answer after the lesser limit counts nowhere" '
	run 0 -q solver add --recipe brief.recipe brief toy && run 0 compare toy@v1 brief@v1 plain.smt2 --scatter s.svg --cactus c.svg && head -1 out | grep -q "solved 0 → 0" &&
	[ "$(value sat 2,3)" = "$(printf "0\t0")" ] && [ "$(value timeout 2,3)" = "$(printf "1\t1")" ] && grep -q "toy v1: 0 solved" c.svg && grep -q "; neither solves 1<" s.svg'
run 0 solver remove brief
test_that "no other marker covers a wrong answer" '
	run 1 compare v1 toy@wrong status.smt2 flip.smt2 --known --scatter s.svg &&
	[ "$(grep -o "[a-z]*[.]smt2: sat" s.svg | tr "\n" " ")" = "flip.smt2: sat status.smt2: sat " ]'
test_that "a picture of what neither solves says how much it is" 'run 0 compare toy@lost toy@lost flip.smt2 --scatter s.svg --cactus c.svg && grep -q "; neither solves 1<" s.svg && grep -q "toy lost: 0 solved" c.svg'
test_that "a picture says which line has no answer, whichever version that is" '
	for versions in "toy@lost toy@v1" "toy@v1 toy@lost"; do
		run 0 compare $versions flip.smt2 --scatter s.svg && [ "$(grep -o ">no answer<" s.svg | wc -l)" = 1 ] || exit 1
	done'
formula large a >large.smt2
test_that "a picture of times has the changes of times, whatever --measure names" '
	run 0 case add large.smt2 && run 0 $c slow.smt2 large.smt2 --measure memory --scatter s.svg && has out "^regression	.*	memory	large.smt2$" && grep -q "large.smt2: sat [^<:]*<" s.svg &&
	grep -q "slow.smt2: sat [^<]*: slower<" s.svg && grep -q ">slower above the diagonal; 1 regression, 0 improvements<" s.svg'
test_that "the mean is of the cases that a version solves, and says so" '
	formula long b >long.smt2 && run 0 case add long.smt2 && run 0 $c slow.smt2 long.smt2 --pairs 5 --markdown && has out ", 2 cases: time [0-9.]+× on 1 case \(" && has out "^- time [0-9.]+× on 1 case \(" && run 0 case remove long.smt2'
test_that "a picture that cannot be written" 'run 4 $c slow.smt2 --known --scatter nosuch/s.svg && has err "cannot write nosuch/s.svg: No such file"'
test_that "words that name nothing" '
	run 3 compare toy@nosuch v1 && has err "nosuch" && run 3 compare v1 toy@v2 nosuch && run 3 compare v1 toy@v2 --set nosuch && run 2 compare v1 && run 2 compare v1 v2 --fail-on-regression 0.5 &&
	for few in "--one-seed" "--pairs 4"; do run 2 compare v1 toy@lost flip.smt2 --fail-on-regression 1.2 $few && has err "needs 5 pairs of runs or more" || exit 1; done &&
	run 1 compare v1 toy@wrong status.smt2 --fail-on-regression 1.2 --pairs 5 && has err "with fewer than 8 pairs"'
test_that "a revision alone needs one solver" 'run 2 compare v1 v2 && has err "write SOLVER@v1"'
test_that "a solver and two revisions, as other commands take them, are told apart from a case" '
	run 2 compare toy v1 v2 && has err "'"'v2' is no case but a revision: .*'solverfs compare toy@v1 toy@v2'"'"'
test_that "cases that they do not take" 'run 3 $c a.cnf && has err "toy takes SMT-LIB, and every case named is DIMACS"'
test_that "one of them that is named: status 1" '
	run 1 $c slow.smt2 a.cnf && has err "is passed over: a.cnf is no SMT-LIB file, which toy takes" && [ "$(value compared 2)" = 1 ]'
test_that "a set without a case is said to be one" 'run 0 set add none a.cnf && run 0 set remove none a.cnf && run 3 $c none && has err "the set .none. has no case"'
test_that "a set" 'run 0 set add some slow.smt2 effort.smt2 a.cnf && run 0 $c some && [ "$(value compared 2)" = 2 ] && [ "$(grep -c ^regression out)" = 1 ]'
test_that "... but a case of its name goes first" '
	(cat flip.smt2; echo "; again") >twin.smt2 && run 0 case add twin.smt2 --name twin && run 0 set add twin slow.smt2 effort.smt2 && run 0 $c twin --one-seed && [ "$(value compared 2)" = 1 ] &&
	run 0 $c --set twin --one-seed && [ "$(value compared 2)" = 2 ] && run 0 case remove twin && run 0 set remove twin'

# -- the mount --

run 0 $c all -q # listed are those of all cases and of sets, without other words
run 0 compare toy@v1 other@v1 --one-seed -q
mkdir "$mnt" && "$solverfs" mount "$mnt" >/dev/null 2>err || cat err
test_that "a kept regression stands below spr" 'grep -qE "in ([0-9]+) of \1 pairs of runs \(100%\)\.$" "$mnt/toy/spr/1/report.md" && is "$mnt/toy/spr/1/case.smt2" "$(cat slow.smt2)"'
test_that "... with a picture of its time, or of what it takes more of" '
	grep -q ">seconds<" "$mnt/toy/spr/1/history.svg" && grep -q ">effort<" "$mnt/toy/spr/2/history.svg" && ! grep -q ">seconds<" "$mnt/toy/spr/2/history.svg"'
test_that "... and a kept lost answer below incompleteness, which verify.sh confirms" '
	grep -q "unknown where it was decided before" "$mnt/toy/incompleteness/4/report.md" && grep -q "answers .sat., .* answers .unknown." "$mnt/toy/incompleteness/4/report.md" && ! grep -q timeout "$mnt/toy/incompleteness/4/times.tsv" &&
	sh "$mnt/toy/incompleteness/4/verify.sh" there >out 2>err && has out "found were sat and unknown" &&
	timeout 100 cat "$mnt/toy/incompleteness/4/localized.tsv" >out 2>err && [ "$(sed -n 2p out | cut -f 2)" = "$(git -C toy rev-parse lost)" ]'
before=$(grep ^solverfs_asked_total "$mnt/.solverfs/stats")
a=$(git -C toy rev-parse v1) b=$(git -C toy rev-parse v2)
test_that "compare/ lists what the command compared" '
	[ "$(ls "$mnt/compare")" = "toy@$a..other@$a" ] && [ "$(ls "$mnt/sets/some/compare")" = "toy@$a..toy@$b" ] && [ -z "$(ls "$mnt/toy/compare")" ]'
test_that "any two revisions can be looked up, and are a link to their names in full" '
	[ "$(readlink "$mnt/toy/compare/v1..v2")" = "$a..$b" ] && [ "$(ls "$mnt/toy/compare/v1..v2/" | tr "\n" " ")" = "cactus.svg families.tsv improvements.tsv memory-scatter.svg regressions.tsv scatter.svg set.tsv summary.tsv " ] &&
	[ "$(readlink "$mnt/sets/some/compare/toy@v1..toy@v2")" = "toy@$a..toy@$b" ] && [ "$(readlink "$mnt/compare/toy@v1..other@v2")" = "toy@$a..other@$b" ]'
test_that "the files are what the command says" '
	there="$mnt/sets/some/compare/toy@v1..toy@v2"; "$solverfs" $c --set some --known >all 2>err; grep -q ^regression all || exit 1
	for rows in regression:regressions improvement:improvements family:families; do
		grep "^${rows%:*}	" all | cut -f 2- >one; tail -n +2 "$there/${rows#*:}.tsv" | cmp - one || exit 1
	done
	grep -q "^par2 difference	-	$("$solverfs" $c --set some --known --json 2>err | jq .set.compared)	" "$there/set.tsv" &&
	grep -q ", seconds<" "$there/scatter.svg" && grep -q ", MB<" "$there/memory-scatter.svg" &&
	[ "$(wc -c <"$mnt/toy/compare/v1..v2/scatter.svg")" = "$(stat -c %s "$mnt/toy/compare/v1..v2/scatter.svg")" ] && grep -q "<svg" "$mnt/toy/compare/v1..v2/cactus.svg"'
test_that "a picture of memory has the changes of memory, and the cases that both solve" '
	for i in $(seq 24); do run 0 -q run toy v1 v2 large.smt2 --seed $i || exit 1; done
	run 0 set add heavy large.smt2 slow.smt2 && m=$mnt/sets/heavy/compare/toy@v1..toy@v2/memory-scatter.svg && grep -q "large.smt2: sat [^<]*: more<" "$m" && ! grep -q ": slower<" "$m" &&
	grep -q ">more above the diagonal; 1 regression, 0 improvements<" "$m" &&
	grep -q ", 1 case<" "$mnt/toy/compare/v1..lost/memory-scatter.svg" && grep -q ", 2 cases<" "$mnt/toy/compare/v1..lost/scatter.svg"'
test_that "their time is that of the newest fact" '[ $(($(date +%s) - $(stat -c %Y "$mnt/toy/compare/v1..v2/summary.tsv"))) -lt 600 ]'
test_that "names that are none" '
	for name in nosuch..v1 v1..nosuch v1 .. ..v1 v1.. toy@v1..toy@v2; do [ "$name" = .. ] || ! ls "$mnt/toy/compare/$name" 2>/dev/null || exit 1; done; ! ls "$mnt/compare/v1..v2" 2>/dev/null && ! ls "$mnt/compare/toy@v1..no@v2" 2>/dev/null'
test_that "a look is not listed, and starts nothing" '
	cat "$mnt"/toy/compare/v1..lost/* >/dev/null && find "$mnt/toy/compare" "$mnt/compare" "$mnt/sets" >/dev/null && [ -z "$(ls "$mnt/toy/compare")" ] && [ "$(grep ^solverfs_asked_total "$mnt/.solverfs/stats")" = "$before" ]'
run 1 -q compare toy@v1 toy@wrong --pairs 5
test_that "what is compared later shows up" '[ "$(ls "$mnt/toy/compare")" = "$a..$(git -C toy rev-parse wrong)" ] && [ "$(sed -n 2p "$mnt/toy/compare/v1..wrong/regressions.tsv" | cut -f 2)" = wrong ]'
mkdir done && "$solverfs" mount -o cached done >/dev/null 2>err || cat err
test_that "a mount of finished values has of a finding what is known, and all of it can be read" '
	[ ! -e done/toy/spr/1/localized.tsv ] && [ "$(ls done/toy/spr/1 | grep -cE "reduced|localized|seeds")" = 0 ] && tar cf done.tar -C done toy/spr && tar tf done.tar | grep -q "spr/1/case.smt2"'
test_that "... also what is known later" '
	cat "$mnt/toy/spr/1/localized.tsv" >one && [ "$(wc -l <one)" = 2 ] && cmp one done/toy/spr/1/localized.tsv && ls done/toy/spr/1 | grep -qx localized.tsv && ! ls done/toy/spr/1 | grep -q seeds'

# -- another day --

cat >day.c <<'END2'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
	int r = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(id, t);
	if (id == CLOCK_REALTIME) t->tv_sec -= 86400;
	return r;
}
END2
cc -shared -fPIC -o day.so day.c -ldl
formula plain day >day.smt2
taken() { stat -c %s faults/measure.sample.met; }
test_that "--one-seed measures again beside the other what was measured on another day" '
	run 0 case add day.smt2 && LD_PRELOAD=./day.so ASAN_OPTIONS=verify_asan_link_order=0 run 0 run toy v1 day.smt2 && before=$(taken) && run 0 $c day.smt2 --one-seed && [ $(($(taken) - before)) = 3 ] &&
	run 0 $c day.smt2 --one-seed && [ $(($(taken) - before)) = 3 ]'

test_that "the later times of a finding are under its seed" '
	formula slow later >later.smt2 && run 0 case add later.smt2 && run 0 $c later.smt2 --seed 5 --keep && has err "1 regression kept" && run 0 run toy v1-again later.smt2 &&
	found=$mnt/toy/spr/$(ls "$mnt/toy/spr" | grep -x "[0-9]*" | sort -n | tail -n 1) && has "$found/report.md" "seed was 5" && [ "$(wc -l <"$found/times.tsv")" = 3 ] && run 0 run toy v1-again later.smt2 --seed 5 && [ "$(wc -l <"$found/times.tsv")" = 4 ]'

# -- a limit of CPU time --

make_script note
script_commit note 1 "echo >>'$top/starts'; echo 'lasts 5' >&2"
toy_recipe note 'samples = 5' 'timeout = 100s' 'cputime = 1s'
test_that "a run that its limit of CPU time ended is done once" '
	printf "[solverfs]\n\tsandbox = none\n" >>"$SOLVERFS_STORE/config" && run 0 solver add --recipe note.recipe note note && run 0 run note v1 plain.smt2 && [ "$(field 2)" = timeout ] && [ "$(wc -l <"$top/starts")" = 1 ]'
script_commit note 2 "echo 'lasts 0.8' >&2"
test_that "... and counts that limit as its CPU time" 'run 0 -q solver update note && run 0 compare note@v2 note@v1 plain.smt2 --measure cpu --pairs 5 && head -1 out | grep -q "cpu 1\.25×"'
test_that "... and a kept finding has it as its limit" 'run 0 compare note@v2 note@v1 plain.smt2 --measure cpu --keep && has err "1 regression kept" && has "$mnt/note/spr/1/report.md" "Each run had 1s of CPU time"'
test_that "... and as its time" 'run 0 run note v1 plain.smt2 --print time && is out 1.000000 && run 0 compare note@v2 note@v1 plain.smt2 --pairs 5 && head -1 out | grep -q "time 1\.25×.*PAR-2 0\.8 → 2 s"'
sed 's/cputime = 1s/cputime = 500ms/' note.recipe >less.recipe
test_that "a smaller limit of CPU time ends a stored timeout so much sooner" '
	starts=$(wc -l <starts) && run 0 -q solver add --replace --recipe less.recipe note && run 0 run note v1 plain.smt2 --print time && is out 0.500000 && [ "$(wc -l <starts)" = $starts ]'
echo "1..$n"
