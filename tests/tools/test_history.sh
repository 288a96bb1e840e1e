#!/bin/bash
# Histories of cases: measured coarse to fine, shown as rows, JSON and a picture.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
tell_time

# Twenty commits; the fifth cannot be built, the twelfth makes it slow.
make_repository hist
for i in $(seq 1 20); do
	time=0.01
	[ "$i" -lt 12 ] || time=0.25
	printf '#!/bin/sh\n# %s\necho "lasts %s" >&2\necho sat\n' "$i" $time >hist/toy.sh
	echo "$([ "$i" != 5 ] && echo 'cp toy.sh toy && chmod +x toy' || echo 'exit 1')" >hist/build.sh
	git -C hist add -A && git -C hist commit -q -m "commit $i"
done
toy_recipe toy
slow=$(git -C hist rev-parse HEAD~8) first=$(git -C hist rev-list HEAD | tail -1)
printf '(check-sat)\n' >a.smt2
printf '(check-sat)\n(exit)\n' >b.smt2
printf 'p cnf 1 1\n1 0\n' >c.cnf
run 0 init && run 0 solver add --recipe toy.recipe toy hist && run 0 case add a.smt2 b.smt2 c.cnf || { cat err; exit 1; }
commits() { field 2 | while read -r c; do git -C hist log -1 --format=%s "$c"; done | sed 's/commit //' | tr '\n' ' '; }

test_that "--known measures nothing" 'run 0 history toy a.smt2 --known && empty out && has err "nothing is measured of case 1"'
test_that "--step N: every N-th from the newest back, and the first" 'run 0 history toy b.smt2 --step 6 && [ "$(commits)" = "1 2 8 14 20 " ]'
test_that "... where the rows have what history.tsv has" '
	[ "$(field 4 | sort -u)" = sat ] && [ "$(field 1 | sort -u)" = 2 ] && field 3 | grep -qE "^20[0-9-]*T[0-9:]*Z$" && [ "$(field 8 | sort -u)" = - ]'
test_that "by default what differs is halved, down to the commit" '
	run 0 history toy a.smt2 && grep "	slower$" out | cut -f 2 | grep -qx "$slow" && [ "$(wc -l <out)" -lt 16 ] && [ "$(commits | cut -d " " -f 1)" = 1 ]'
test_that "the second time it is known" 'cp out one && run 0 -q history toy a.smt2 && cmp one out && empty err'
test_that "--all has them all, and those that cannot be built" '
	run 0 history toy a.smt2 --all && [ "$(wc -l <out)" = 20 ] && [ "$(field 4 | grep -c unbuildable)" = 1 ] && has err "cannot be built: .*exited with status 1; see .solverfs build --log toy"'
test_that "--from and --to" 'run 0 history toy b.smt2 --from HEAD~3 --to HEAD~1 --all && [ "$(commits)" = "17 18 19 " ]'
test_that "--json: an object for each case" '
	run 0 history toy a.smt2 b.smt2 --known --json && python3 -c "
import json
a, b = [json.loads(l) for l in open(\"out\")]
assert len(a[\"history\"]) == 20 and [p[\"commit\"] for p in a[\"history\"] if p[\"step\"] == \"slower\"] == [\"'"$slow"'\"], a
assert a[\"history\"][0][\"commit\"] == \"'"$first"'\" and a[\"history\"][0][\"time\"] > 0 and a[\"history\"][0][\"date\"] > 1e9 and b[\"case\"] == 2
assert a[\"shape\"] == \"monotonic, single-dominant\""'
test_that "--svg: the picture, with the step" '
	run 0 -q history toy a.smt2 --known --svg a.svg && python3 -c "
import xml.etree.ElementTree as t
s = t.tostring(t.parse(\"a.svg\").getroot(), encoding=\"unicode\")
assert \"'"${slow:0:8}"'\" in s and \"1 cannot be built\" in s and \"commit 12\" in s"'
test_that "--svg is of one case" 'run 2 history toy a.smt2 b.smt2 --known --svg a.svg && has err "exactly one case; 2 given"'
test_that "a picture that cannot be written" 'run 4 -q history toy a.smt2 --known --svg nosuch/a.svg && has err "cannot write nosuch/a.svg"'
test_that "two ways of choosing commits exclude each other" 'run 2 history toy a.smt2 --all --step 3 && has err "exclude each other"'
test_that "a case of the other format" 'run 3 history toy c.cnf && has err "toy takes SMT-LIB"'
test_that "... beside others: status 1 if it is named" '
	run 1 history toy a.smt2 c.cnf --known && has err "is passed over: c.cnf is no SMT-LIB file" && has out "^1	" && run 0 history toy all --known && has err "1 case passed over"'
test_that "no such solver, revision, case" '
	run 3 history nosuch 1 && run 3 history toy --from nosuch 1 && run 3 history toy nosuch && run 2 history toy && run 2 history toy 1 --step 0'
test_that "an empty range" 'run 2 history toy 1 --from HEAD --to HEAD~3 && has err "no commits in this range"'
test_that "--seed needs a recipe that takes one" 'run 2 history toy 1 --seed 3 && has err "cannot be told one"'
# Six releases, each of a level of its own; under other seeds the times are others by a fifth.
make_repository rel && echo 'cp rel.sh rel && chmod +x rel' >rel/build.sh
for level in 13 71 2 127 77 155; do
	printf '#!/bin/sh\n[ "$1" = --seed ] || set -- --seed 0\nawk "BEGIN { print \\"lasts\\", %s / 100 * (0.9 + $2 * 7 %% 5 / 20) }" >&2\necho sat\n' $level >rel/rel.sh
	day_commit rel 1 "level $level"
done
toy_recipe rel 'run = {bin} {seed} {case}' 'seed = --seed {n}' && run 0 -q solver add --recipe rel.recipe rel rel
test_that "one run of each says that they differ, and no more" '
	run 0 history rel a.smt2 --all && [ "$(field 9 | tr "\n" " ")" = "- differs differs differs differs differs " ] && run 0 steps rel a.smt2 && empty out'
test_that "--seeds: each may be a level of its own" '
	run 0 history rel a.smt2 --all --seeds 5 && [ "$(field 9 | tr "\n" " ")" = "- slower faster slower faster slower " ] && [ "$(field 3 | wc -l)" = 6 ]'
test_that "... for steps and the report, too" '
	run 0 steps rel a.smt2 && [ "$(field 3 | tr "\n" " ")" = "slower faster slower faster slower " ] && has err "non-monotonic, multi-dominant" &&
	run 0 report rel -o rel.html && [ "$(grep -o "<span class=\"up\">slower" rel.html | wc -l)" = 3 ]'
test_that "--seeds of a program without a seed are repetitions" 'run 0 history toy b.smt2 --step 12 --seeds 3 && has out "	sat	" && run 2 history toy 1 --seeds 0 && run 2 history toy 1 --known --seeds 3'
sed -i 's/echo sat/echo unsat/' hist/toy.sh && git -C hist commit -qam "wrong" && printf '(set-info :status sat)\n(check-sat)\n' >w.smt2
test_that "a wrong answer is loud" '
	run 0 -q solver update toy && run 0 case add w.smt2 && run 1 history toy w.smt2 --from HEAD~1 --all && has err "WRONG ANSWER: toy .* says unsat" && [ "$(field 8)" = "$(printf "correct\nWRONG")" ] && [ "$(grep -c "WRONG ANSWER" err)" = 1 ]'
test_that "... also when it was known before" 'run 1 history toy w.smt2 --known && [ "$(grep -c "WRONG ANSWER: toy .* says unsat" err)" = 1 ] && run 1 history toy w.smt2 --to HEAD && has err "WRONG ANSWER"'
for i in $(seq 1 12); do
	[ "$i" -lt 5 ] && answer=unknown || answer=sat
	[ "$i" -lt 9 ] && time=0.01 || time=0.25
	printf '#!/bin/sh\n# again %s\necho "lasts %s" >&2\necho %s\n' "$i" $time $answer >hist/toy.sh && git -C hist commit -qam "again $i"
done
printf '(check-sat)\n; d\n' >d.smt2
test_that "a run without an answer is not correct" '
	run 0 -q solver update toy && run 0 history toy w.smt2 --from HEAD~9 --to HEAD~8 --all && [ "$(field 4,8 | tr "\n" " ")" = "$(printf "unknown\t- unknown\t- ")" ]'
test_that "where an answer comes the picture does not say that it got faster" '
	run 0 -q solver update toy && run 0 case add d.smt2 && run 0 -q history toy d.smt2 --from HEAD~11 --all --svg d.svg && [ "$(field 9 | tr -d "\n")" = "----faster---slower---" ] &&
	grep -q ">gained $(git -C hist rev-parse HEAD~7 | cut -c1-8)<" d.svg && grep -q "no answer before, 0.01 s after" d.svg && ! grep -q "nan s" d.svg'
# Ten commits, each as fast; the sixth takes three times the memory.
make_script big
for i in 1 2 3 4 5 6 7 8 9; do
	script_commit big $i "dd if=/dev/zero of=/dev/null bs=$([ $i -lt 6 ] && echo 20 || echo 60)000000 count=1 2>/dev/null; echo 'lasts 0.02' >&2; # $i"
done
toy_recipe big && run 0 -q solver add --recipe big.recipe big big
test_that "--measure memory: steps, and a picture, of the memory" '
	run 0 history big a.smt2 --all && [ "$(field 9 | sort -u)" = - ] && run 0 history big a.smt2 --all --measure memory --svg m.svg && [ "$(field 9 | sed "s/differs/-/" | tr -d "\n")" = "-----more---" ] &&
	grep -q ">more $(git -C big rev-parse v6 | cut -c1-8)<" m.svg && grep -q megabytes m.svg && grep -qE "[0-9.]* MB before, [0-9.]* MB after" m.svg'
test_that "localize --measure memory: the commit, and bytes" '
	run 1 localize big --reference v1 --target v9 a.smt2 && has out "reference and target do not differ" &&
	run 0 localize big --reference v1 --target v9 a.smt2 --measure memory && field 2 | grep -qx "$(git -C big rev-parse v6)" && [ "$(field 3)" -gt 19000000 ] && [ "$(field 4)" -gt 59000000 ] &&
	run 0 localize big --reference v1 --target v9 a.smt2 --measure memory --json && has out "\"measure\": *\"memory\"" && has out memory_before'
test_that "a measure that is none, and one that has no clock" '
	run 2 history big a.smt2 --measure speed && has err "time, memory or effort, not .speed" && run 2 localize big --reference v1 --target v9 a.smt2 --measure memory --clock cpu'
make_script liar
for i in $(seq 1 12); do script_commit liar "$i" "echo $([ "$i" -lt 8 ] && echo sat || echo unsat); exit # $i"; done
toy_recipe liar && run 0 -q solver add --recipe liar.recipe liar liar && printf "(check-sat)\n; of unknown status\n" >u.smt2 && run 0 case add u.smt2
turn=$(git -C liar rev-parse HEAD~4)
test_that "a commit that turns sat into unsat is found, and disputed" '
	run 1 history liar u.smt2 && [ "$(grep "	differs$" out | cut -f 2)" = "$turn" ] && [ "$(field 8 | sort -u)" = DISPUTED ] && [ "$(grep -c CONTRADICTION err)" = 1 ] &&
	run 1 history liar u.smt2 --known --json && [ "$(grep -o "\"disputed\":true,\"step\":\"differs\"" out | wc -l)" = 1 ]'
echo "1..$n"
