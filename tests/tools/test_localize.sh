#!/bin/bash
# solverfs localize on a history of a toy solver: planted culprits, a merge, commits that cannot be built, noise, and bad input.
# Prints TAP. Usage: test_localize.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time

# Each commit's solver takes as many seconds for a case that says "; feature: X" as its line "delay-X" says.
day=0
commit() { # commit MESSAGE
	day=$((day + 1))
	git -C hist add -A
	GIT_COMMITTER_DATE="2024-01-01T00:00:00Z +$day min" GIT_AUTHOR_DATE="$((1704067200 + 60 * day)) +0000" \
		GIT_COMMITTER_DATE="$((1704067200 + 60 * day)) +0000" git -C hist commit -q --allow-empty -m "$1"
}
sha() { git -C hist rev-parse "$1"; }
step() { echo "$day" >>hist/source; } # something that is built changes

make_repository hist
cat >hist/toy.sh <<'END'
#!/bin/sh
for case; do :; done
feature=$(sed -n 's/^; feature: //p' "$case")
delay=$(sed -n "s/^delay-$feature //p" "$0")
case $delay in
crash) kill -SEGV $$ ;;
*) echo "lasts ${delay:-0.05}" >&2 ;;
esac
[ "$feature" = effort ] && sed -n 's/^effort-/effort: /p' "$0" >&2
answer=$(sed -n "s/^answer-$feature //p" "$0")
echo "${answer:-sat}"
exit
END
cat >hist/build.sh <<'END'
[ -e broken ] && { echo "this commit cannot be built"; exit 1; }
cat toy.sh delays source >toy && chmod +x toy
END
printf 'delay-none 0.05\nanswer-turns unsat\n' >hist/delays
: >hist/source
commit "first"
git -C hist tag start
for i in 1 2 3 4 5 6; do step; commit "work $i"; done
sed -i 's/^answer-turns .*/answer-turns sat/' hist/delays
printf 'delay-%s\n' "plain 0.6" "waits 0.6 cpu 0.05" "burns 0.05 cpu 0.6" >>hist/delays && commit "Make plain slow

A body that nobody shows."
plain=$(sha HEAD)
for i in 7 8 9; do step; commit "work $i"; done
# a side of three commits, the second of which is a culprit
git -C hist checkout -q -b side
step; commit "side 1"
echo "delay-side 0.6" >>hist/delays && commit "side 2 makes side slow"
side=$(sha HEAD)
echo more >>hist/notes && step && commit "side 3"
git -C hist checkout -q main
echo other >hist/other && commit "meanwhile on main"
GIT_COMMITTER_DATE="$((1704067200 + 60 * 30)) +0000" git -C hist merge -q --no-ff -m "merge side" side
day=40
# a stretch that cannot be built, with a culprit in its middle
step; commit "before the stretch"
before=$(sha HEAD)
touch hist/broken; step; commit "broken 1"
step; commit "broken 2"
echo "delay-hidden 0.6" >>hist/delays && commit "broken 3 makes hidden slow"
step; commit "broken 4"
rm hist/broken; step; commit "mended"
mended=$(sha HEAD)
for i in 10 11 12; do step; commit "work $i"; done
echo "delay-crash crash" >>hist/delays && commit "crash on crash"
crash=$(sha HEAD)
for i in 13 14; do step; commit "work $i"; done
sed -i 's/^delay-crash .*/delay-crash 0.6/' hist/delays && commit "a slow end of crashes"
after_crash=$(sha HEAD)
echo "nothing that is built" >hist/README && commit "a document"
git -C hist tag end
git -C hist checkout -q -b release start
echo r >hist/release && step && commit "on the release branch"
git -C hist tag fork
git -C hist checkout -q main
git -C hist checkout -q -b dead
touch hist/broken; step; commit "a dead end"
git -C hist tag dead
# two releases whose lines part at a commit that cannot be built
rm hist/broken; step; commit "mended after the dead end"
git -C hist tag release-2
step; commit "work on it"
sed -i 's/^delay-none .*/delay-none 0.6/' hist/delays && commit "a late culprit"
git -C hist tag later-2
git -C hist checkout -q -b release-1 release-2~1
rm hist/broken; echo r1 >>hist/source; commit "a release beside it"
git -C hist tag release-1
git -C hist checkout -q main

toy_recipe toy 'paths = toy.sh' 'paths = build.sh' 'paths = delays' 'paths = source' 'paths = broken' 'timeout = 10s' 'memory = 1g'
mkdir cases
for f in plain side hidden crash none; do printf '; feature: %s\n(check-sat)\n' $f >cases/$f.smt2; done

run 0 init && run 0 solver add --recipe toy.recipe toy hist && run 0 case add cases || { cat err; exit 1; }
id() { "$solverfs" case list cases/$1.smt2 2>/dev/null | cut -f 1; }

l="localize toy --reference start --target end"
# shown CASE: what a terminal shows while it is searched; each sample lasts longer than a look
shown() { echo "delay 300" >faults/measure.sample && terminal "$solverfs" $l "$1"; local r=$?; rm -f faults/measure.sample*; return $r; }
test_that "builds that are still to come are told" 'shown cases/plain.smt2 && has out "localize: .* runs, about "'
test_that "the planted culprit is found, with its seconds and its subject" \
	'run 0 $l cases/plain.smt2 && [ "$(wc -l <out)" = 1 ] && [ "$(field 1)" = "$(id plain)" ] && [ "$(field 2)" = '"$plain"' ] && [ "$(field 5)" = "Make plain slow" ]'
test_that "before it was fast, after it slow" 'run 0 $l cases/plain.smt2 && field 3 | grep -qE "^0\.[0-3]" && field 4 | grep -qE "^0\.[6-9]|^[1-9]"'
test_that "the second time nothing is built and nothing run" \
	'run 0 $l cases/plain.smt2 && [ "$(field 2)" = '"$plain"' ] && ! has err "localize:"'
test_that "a reference that does not solve it is told, without a time" 'run 1 localize toy --reference $crash --target HEAD cases/crash.smt2 && has out "^[0-9]+	-	-	.*the reference does not solve it"'
test_that "a culprit on the side of a merge" 'run 0 $l cases/side.smt2 && [ "$(field 2)" = '"$side"' ]'
test_that "a stretch that cannot be built is a set" \
	'run 0 $l cases/hidden.smt2 && [ "$(field 2)" = "'"$before..$mended"'" ] && field 5 | grep -q "one of 5"'
test_that "the set is a range of git that holds the culprit" \
	'run 0 $l cases/hidden.smt2 && git -C hist log --format=%s "$(field 2)" | grep -q "makes hidden slow"'
test_that "a crash is not fast: where it began, and where it became slowness" \
	'run 0 $l --json cases/crash.smt2 && python3 -c "
import json
j = json.load(open(\"out\"))
c = [c[\"commit\"] for c in j[\"culprits\"]]
assert c == [\"'"$crash"'\", \"'"$after_crash"'\"], c
assert j[\"culprits\"][0][\"broken_after\"] and j[\"culprits\"][1][\"broken_before\"]"'
test_that "a case that is not slow has no culprit, and status 1 says so" \
	'run 1 $l cases/none.smt2 && [ "$(field 2)" = - ] && field 5 | grep -q "do not differ"'
test_that "... and in a row it has no seconds" 'run 0 $l cases/crash.smt2 && [ "$(field 2-4)" = "'"$crash	0.050000	broken"'
'"$after_crash	broken	0.600000"'" ]'
test_that "several cases at once" 'run 1 $l all && [ "$(wc -l <out)" = 6 ] && has out '"$plain"' && has out '"$side"
test_that "what is decided while others are open is told at once" \
	'run 1 $l -t 9s cases/none.smt2 cases/side.smt2 && has err "^localize: decided:$" && has err "^$(id none)	-	" && ! has err "^$(id side)	"'
test_that "JSON says how sure it is" 'run 0 $l --json cases/plain.smt2 && python3 -c "
import json
j = json.load(open(\"out\"))
c, = j[\"culprits\"]
assert j[\"state\"] == \"found\" and c[\"verified\"] and c[\"pairs\"] >= 5 and c[\"p\"] < 0.05 and c[\"confidence\"] > 0.99
assert c[\"commits\"] == [\"'"$plain"'\"] and c[\"ratio\"] > 2 and c[\"slowdown\"]"'
test_that "--log is a log that git replays" \
	'run 0 $l --log log cases/plain.smt2 && git clone -q hist replay && git -C replay bisect replay ../log >replayed 2>&1; cat log replayed >>out; grep -q "'"$plain"' is the first bad commit" replayed'
test_that "a log that cannot be written" 'run 4 $l --log nosuch/log cases/plain.smt2 && has err "cannot write nosuch/log: No such file"'
test_that "a reference on another branch: from where the lines part" \
	'run 0 localize toy --reference fork --target end cases/plain.smt2 && [ "$(field 2)" = '"$plain"' ] && has err "fork is not an ancestor of end; the search begins where the two lines part, at $(sha start | cut -c 1-12)"'
test_that "a reference that was merged is an ancestor, on another line" \
	'run 1 localize toy --reference side --target end cases/plain.smt2 && has err "side is not on the line of first parents of end; the search begins" && field 5 | grep -q "where the lines part do not differ"'
for time in first second; do
	test_that "where the lines part at a commit that cannot be built, one sentence says it, the $time time" \
		'run 1 localize toy --reference release-1 --target release-2 cases/plain.smt2 &&
		has err "release-1 is not an ancestor of release-2, so the search begins where the two lines part, at $(sha release-2~1 | cut -c 1-12), and that commit cannot be built: .*exited with status 1; name as --reference a commit .*git log --first-parent $(sha release-2~1 | cut -c 1-12)\.\.release-2" &&
		! has err "the reference, cannot" && field 5 | grep -q "where the lines part, cannot be built"'
done

for time in first second; do
	test_that "... the next commit that can be built stands for it, the $time time" '
		rm -f log; run 0 localize toy --reference release-1 --target later-2 cases/none.smt2 --log log && [ "$(field 2)" = "$(sha later-2)" ] &&
		has err "^release-1 is not an ancestor of later-2, and $(sha release-2~1 | cut -c 1-12), where the two lines part, cannot be built; the search begins at $(sha release-2 | cut -c 1-12), the next commit towards later-2"'
done

printf '; feature: turns\n(check-sat)\n' >turns.smt2
run 0 case add turns.smt2
test_that "another answer than the reference's is broken, whichever was measured first" \
	'run 0 run toy $plain turns.smt2 && run 0 $l turns.smt2 && [ "$(field 2)" = '"$plain"' ] && [ "$(field 4)" = broken ]'

{ cat turns.smt2; echo "; stated"; } >stated.smt2
run 0 case add stated.smt2
test_that "a status that becomes known is another question" '
	run 0 $l stated.smt2 && [ "$(field 2)" = '"$plain"' ] && run 0 case add stated.smt2 --status sat && run 1 $l stated.smt2 && field 5 | grep -q "the reference does not solve it"'

for case in whole INT KILL; do printf '; feature: plain\n; again: %s\n(check-sat)\n' $case >cases/again-$case.smt2; done
run 0 case add cases/again-*.smt2
samples() { stat -c %s faults/measure.sample.met 2>/dev/null || echo 0; }
# fault WHAT: at a sample, from now on
fault() { rm -f faults/measure.sample*; echo "$1" >faults/measure.sample; }
# searched CASE: its culprit is found, by as many samples
searched() { rm -f faults/measure.sample*; run 0 $l cases/again-"$1".smt2 && [ "$(field 2)" = "$plain" ]; }
whole=$(searched whole && samples)
interrupted() {
	fault "block after 12"
	env --default-signal=INT "$solverfs" $l cases/again-INT.smt2 >out 2>err </dev/null &
	await '[ "$(samples)" -gt 12 ]' && kill -INT $!; rm faults/measure.sample; wait $!
	[ $? = 130 ]
}
test_that "what SIGINT stopped goes on" 'interrupted && searched INT && [ "$(samples)" -le $((whole - 10)) ]'
test_that "what SIGKILL stopped goes on" 'fault "kill after 12" && run 137 $l cases/again-KILL.smt2 && searched KILL && [ "$(samples)" -le $((whole - 10)) ]'

# -- CPU time --

for f in waits burns; do printf '; feature: %s\n(check-sat)\n' $f >$f.smt2; done
run 0 case add waits.smt2 burns.smt2
test_that "by the clock on the wall a wait is slow, and what runs on several cores is not" \
	'run 0 $l waits.smt2 && [ "$(field 2-4)" = "'"$plain"'	0.050000	0.600000" ] && run 1 $l burns.smt2 && field 5 | grep -q "do not differ"'
test_that "... by CPU time it is the other way round, whatever is kept of the other clock" \
	'run 1 $l --clock cpu waits.smt2 && field 5 | grep -q "do not differ" && run 0 $l --clock cpu burns.smt2 && [ "$(field 2-4)" = "'"$plain"'	0.050000	0.600000" ] &&
	run 0 $l --clock cpu --json burns.smt2 && has out "\"clock\": ?\"cpu\"" && ! has err "localize:" && run 1 $l burns.smt2 && ! has err "localize:"'
test_that "... of which the time limit is one, then" \
	'run 0 $l --clock cpu --timeout 400ms burns.smt2 && [ "$(field 4)" = 0.400000 ] && run 1 $l --clock cpu --timeout 400ms waits.smt2 && field 5 | grep -q "do not differ"'
test_that "a clock that is none is wrong usage" 'run 2 $l --clock sun burns.smt2 && has err "not .sun."'

# -- steps along what is measured --

test_that "steps starts no work, and says what was measured by the search" \
	'run 0 steps toy cases/plain.smt2 && [ "$(field 2)" = '"$plain"' ] && [ "$(field 3)" = slower ] && has err "1 case: monotonic, single-dominant"'
test_that "steps of a history measured with holes are ranges" \
	'run 0 steps toy --json cases/hidden.smt2 && python3 -c "
import json
j = json.load(open(\"out\"))
assert j[\"slower\"] == 1 and j[\"faster\"] == 0 and \"..\" in j[\"steps\"][0][\"commit\"], j"'
test_that "steps between two versions" 'run 0 steps toy --from HEAD~2 --to HEAD cases/plain.smt2 && empty out'
test_that "steps of an empty range" 'run 2 steps toy --from end --to start cases/plain.smt2 && has err "no commits"'

# -- bad input --

test_that "builds that are still to come are told only while there are some" '
	{ cat cases/plain.smt2; echo "; fresh"; } >fresh.smt2 && run 0 case add fresh.smt2 && run 1 -q build toy $(git -C hist rev-list --first-parent start..end) && shown fresh.smt2 && has out "localize: .* runs" && ! has out "runs, about "'
test_that "without --reference it is wrong usage" 'run 2 localize toy --target end cases/plain.smt2 && has err "reference REV"'
test_that "the same version twice" 'run 2 localize toy --reference end --target end cases/plain.smt2 && has err "same commit"'
test_that "the wrong way round" 'run 2 localize toy --reference end --target start cases/plain.smt2 && has err "swap them"'
test_that "only a document between them" 'run 2 localize toy --reference end~1 --target end cases/plain.smt2 && has err "nothing that is built differs"'
test_that "a slowdown and its revert between them" \
	'git -C hist checkout -q -b back start && echo "delay-plain 0.6" >>hist/delays && commit "plain is slow" && git -C hist checkout -q start -- delays && commit "... no more" && run 0 solver update toy && run 2 localize toy --reference start --target back cases/plain.smt2 && has err "nothing that is built differs"'
test_that "several versions where one is meant" 'run 2 localize toy --reference start..end --target end cases/plain.smt2 && has err "takes one commit"'
test_that "an end that cannot be built is said at once" \
	'run 1 localize toy --reference start --target dead cases/side.smt2 && has err "the target, cannot be built" && field 5 | grep -q "cannot be built"'
test_that "a target that is faster" \
	'git -C hist checkout -q -b fix end && sed -i /delay-plain/d hist/delays && commit "plain is fast again" && git -C hist tag fixed && run 0 solver update toy && run 1 localize toy --reference end --target fixed cases/plain.smt2 && field 5 | grep -q "faster one"'
test_that "... whose log has no command, for git would blame a commit that is not" '
	rm -f log; run 1 localize toy --reference end --target fixed cases/plain.smt2 --log log && has log "^# no commit was found that made it slow" && ! grep -q "^git" log'
test_that "a search that others disturbed is not the last, whatever it ended with" '
	{ cat cases/plain.smt2; echo "; disturbed"; } >disturbed.smt2 && run 0 case add disturbed.smt2 &&
	(tell_time "$top/busy" && echo "fail EBUSY" >busy/measure.sample && SOLVERFS_FAULTS=$top/busy run 1 localize toy --reference end --target fixed disturbed.smt2 --json) && has out "\"state\": ?\"reversed\"" && has out "\"disturbed\": ?true"'
test_that "no such revision" 'run 3 localize toy --reference nowhere --target end cases/plain.smt2'
test_that "no such case" 'run 3 $l cases/absent.smt2'

make_script seeded
script_commit seeded 1 'case $1 in --seed*) exit 2 ;; esac; echo "lasts 0.02" >&2'
script_commit seeded 2 'echo "lasts 0.6" >&2'
test_that "another seed option in the recipe is another question" '
	toy_recipe seeded "run = {bin} {seed} {case}" "seed = --seed={n}" && run 0 solver add --recipe seeded.recipe seeded seeded && run 1 localize seeded --reference v1 --target v2 cases/none.smt2 && has out "\(the reference solves it in 1 of [0-9]+ runs\)" &&
	run 1 localize seeded --reference v1 --target v2 cases/none.smt2 --json && has out "\"reference_solved\": ?1, ?\"reference_runs\": ?[1-9]" &&
	toy_recipe seeded "run = {bin} {seed} {case}" "seed = -r {n}" && run 0 solver add --replace --recipe seeded.recipe seeded && run 0 localize seeded --reference v1 --target v2 cases/none.smt2 && [ "$(field 2)" = "$(git -C seeded rev-parse v2)" ]'

make_script once
for v in 1 2 3 4; do script_commit once $v "$([ $v -lt 3 ] || echo '[ $# = 2 ] || { echo unknown; exit; }') # $v"; done
for v in 5 6; do script_commit once $v "$([ $v = 5 ] || echo '[ "$1" = 7 ] && echo unknown && exit') # $v"; done
script_commit once 7 'grep -q plain "$case" && echo unsat && exit'
once="localize once cases/none.smt2 --reference v1 --target"
test_that "an answer that is lost in one run is not over seeds, which is said" '
	toy_recipe once "run = {bin} {seed} {case}" "seed = {n}" && run 0 solver add --recipe once.recipe once once && run 1 $once v4 && has out "(sat and unknown as it is, but not over seeds: --measure answer)" &&
	run 1 $once v4 --json && has out "\"answer_reference\": ?\"sat\", ?\"answer_target\": ?\"unknown\""'
test_that "... --measure answer searches for it, without a seed or under the one that is given" '
	run 0 $once v4 --measure answer && [ "$(field 2-4)" = "$(git -C once rev-parse v3)	sat	unknown" ] && run 1 $once v6 --measure answer && [ "$(field 2-4)" = "-	sat	sat" ] &&
	run 0 $once v6 --measure answer -s 7 && [ "$(field 2-4)" = "$(git -C once rev-parse v6)	sat	unknown" ]'
test_that "... and refuses cases with different answers, and what cannot be run" '
	run 2 $once v7 --measure answer cases/plain.smt2 && has err "the cases have different answers" && echo "fail ENOSPC" >faults/store.commit &&
	run 4 $once v4 --measure answer cases/side.smt2 && has err "No space left" && empty out; r=$?; rm -f faults/store.commit; (exit $r)'
make_script deep
script_commit deep 1 '[ "$(ulimit -s)" -gt 10000 ] || kill -SEGV $$; echo "lasts 0.02" >&2'
script_commit deep 2 'echo "lasts 0.6" >&2'
test_that "... and so is another stack" '
	toy_recipe deep && run 0 solver add --recipe deep.recipe deep deep && run 1 localize deep --reference v1 --target v2 cases/none.smt2 && has out "does not solve it" &&
	toy_recipe deep "stack = 64m" && run 0 solver add --replace --recipe deep.recipe deep && run 0 localize deep --reference v1 --target v2 cases/none.smt2 && [ "$(field 2)" = "$(git -C deep rev-parse v2)" ]'

make_script counts
script_commit counts 1 'grep -q side "$case" && echo "conflicts: 0" >&2 || echo "conflicts: 1000" >&2'
script_commit counts 2 'grep -q side "$case" && echo "conflicts: 0" >&2 || { echo unknown; exit; }'
script_commit counts 3 'grep -q side "$case" && echo "conflicts: 50000" >&2 || { echo unknown; exit; } # more'
test_that "by effort a count that is lost is broken, and a count of 0 is one that can grow" '
	toy_recipe counts "effort = conflicts: ([0-9]+)" && run 0 solver add --recipe counts.recipe counts counts && f="localize counts --measure effort --reference v1 --target v3" &&
	run 0 $f cases/none.smt2 && [ "$(field 2-4)" = "$(git -C counts rev-parse v2)	1000	broken" ] && run 0 $f cases/side.smt2 && [ "$(field 2)" = "$(git -C counts rev-parse v3)" ] && [ "$(field 4)" = 50000 ]'

make_script forks
script_commit forks 1 'echo "lasts 0.02" >&2'
echo 'for i in $(seq 30); do sleep 0.2 & done; wait; cp forks.sh forks && chmod +x forks' >forks/build.sh
script_commit forks 2 'echo "lasts 0.02" >&2 # many'
script_commit forks 3 'echo "lasts 0.6" >&2'
echo 'cp forks.sh forks && chmod +x forks' >forks/build.sh
script_commit forks 4 'echo "lasts 0.6" >&2 # few'
test_that "commits that can be built later are searched again, and the result replaces that of before" '
	f="localize forks --reference v1 --target v4 cases/none.smt2" &&
	toy_recipe forks "build-processes = 20" && run 0 solver add --recipe forks.recipe forks forks && run 0 $f && has out "one of 3: those between cannot be built" && run 0 $f && ! has err "localize:" &&
	toy_recipe forks && run 0 solver add --replace --recipe forks.recipe forks && for time in first second; do run 0 $f && [ "$(field 2)" = "$(git -C forks rev-parse v3)" ] || exit 1; done && ! has err "localize:"'
make_script again
script_commit again 1 'echo unsat; exit' && script_commit again 2 '' && script_commit again 3 'echo unsat; exit'
test_that "the answer of the reference is the expected one, also where the target brings an older program back" '
	toy_recipe again && run 0 solver add --recipe again.recipe again again && run 0 localize again --reference v2 --target v3 cases/none.smt2 &&
	[ "$(field 2)" = "$(git -C again rev-parse v3)" ] && [ "$(field 4)" = broken ]'
make_repository part && git -C part commit -q --allow-empty -m part && git -C part commit -q --allow-empty -m later
part=$(git -C part rev-parse HEAD~1) later=$(git -C part rev-parse HEAD) && git -C part reset -q --hard HEAD~1
make_script whole && mkdir whole/part
whole() { # whole N SUBMODULE SECONDS
	git -C whole update-index --add --cacheinfo "160000,$2,part" && script_commit whole "$1" "echo 'lasts $3' >&2; # $1"
}
whole 1 "$part" 0.02 && whole 2 "$later" 0.02 && whole 3 "$part" 0.6
test_that "... so are those whose submodule was lost, and is there now" '
	f="localize whole --reference v1 --target v3 cases/none.smt2" &&
	toy_recipe whole "submodule = part=$top/part" && run 0 solver add --recipe whole.recipe whole whole && run 0 $f && has out "one of 2: those between cannot be built" &&
	git -C part branch later "$later" && run 0 solver update whole && for time in first second; do run 0 $f && [ "$(field 2)" = "$(git -C whole rev-parse v3)" ] || exit 1; done && ! has err "localize:"'
printf 'p cnf 1 1\n1 0\n' >cases/a.cnf && run 0 case add cases && run 0 set add both cases/plain.smt2 cases/a.cnf
test_that "a case that the solver does not take is passed over, and one named alone shows in the status" '
	run 0 $l both && [ "$(field 2)" = '"$plain"' ] && has err "1 case passed over: toy takes SMT-LIB" && run 1 $l cases/plain.smt2 cases/a.cnf && has err "a.cnf is no SMT-LIB file" && run 3 $l cases/a.cnf'
test_that "... and another limit of CPU time" '
	{ cat burns.smt2; echo "; limited"; } >limited.smt2 && run 0 case add limited.smt2 && run 1 $l limited.smt2 && field 5 | grep -q "do not differ" &&
	{ cat toy.recipe; echo "cputime = 300ms"; } >limited.recipe && run 0 solver add --replace --recipe limited.recipe toy && run 0 $l limited.smt2 && [ "$(field 2)" = $plain ]'
echo "1..$n"
