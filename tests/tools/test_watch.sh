#!/bin/bash
# New commits as they arrive: measured, localized, told once; and the person's command. Prints TAP.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"

# toy NAME SECONDS ANSWER: a commit of the solver. Its subject is its name.
make_repository hist
toy() {
	printf '#!/bin/sh\n# %s\necho "lasts %s" >&2\necho %s\n' "$1" "$2" "$3" >hist/toy.sh
	echo 'cp toy.sh toy && chmod +x toy' >hist/build.sh
	git -C hist add -A && git -C hist commit -q -m "$1"
}
broken() { echo "exit 7 # $1" >hist/build.sh && git -C hist commit -qam "$1"; }
fast=0.003 slow=0.04
tell_time
for i in 1 2 3; do toy "$i" $fast sat; done
git -C hist branch topic
toy_recipe toy
printf '(check-sat)\n' >a.smt2
printf '(set-info :status sat)\n(check-sat)\n' >w.smt2
run 0 init && run 0 solver add --recipe toy.recipe toy hist && run 0 case add a.smt2 || { cat err; exit 1; }
sha() { git -C hist log --all --format="%H %s" | sed -n "s/^\([0-9a-f]*\) $1\$/\1/p"; }
alarm() { sed -n "s/^$1  *//p" text; } # alarm KEY: of the alarm in `text`
# The command that stands for a person's mail: keeps what it was given, and refuses while there is a file `refuse`.
cat >tell <<'END2'
#!/bin/sh
[ -e refuse ] && exit 3
cat >text
cmp -s text "$SOLVERFS_ALARM" || echo "the file is another" >>text
echo "$NUMBER $KIND $SOLVER $BRANCH $COMMIT $PARENT $CASE $CASES $SUBJECT" >>told
END2
chmod +x tell
watch() { run "$1" watch toy --once --on-alarm ./tell; }

test_that "the first watch measures the last commit, and nothing older" '
	watch 0 && empty out && has err "toy main: the watch begins with its last commit" &&
	run 0 history toy a.smt2 --known && [ "$(field 2)" = "$(sha 3)" ]'
test_that "nothing new: nothing is said" 'watch 0 && empty out && empty err'
test_that "a pattern that no branch matches is said" 'run 0 watch toy --once --branch "mian*" && has err "toy has no branch that --branch matches"'
test_that "... and one of several is enough" 'run 0 watch toy --once --branch "mian*" --branch main && is err "toy main: the watch begins with its last commit"'

for i in 4 5 6 7 8; do toy "$i" $fast sat; done
toy "the culprit" $slow sat
for i in 10 11 12 13 14 15; do toy "$i" $slow sat; done
culprit=$(sha "the culprit")
run 0 solver update toy && run 0 build toy $(git -C hist rev-list -n 12 main)
hold_cores
test_that "--wait gives up: no core is free" 'limit=30 run 75 watch toy --once --wait 0 && has err "waits for a core"'
let_cores_go
test_that "a step in a gap of several commits is localized" '
	watch 6 && [ "$(field 2)" = slower ] && [ "$(field 3)" = "$culprit" ] && has err "alarm 1: slower at ${culprit:0:12} \(the culprit\): case 1 0"'
test_that "... and told to the command: text, file and environment" '
	is told "1 slower toy main $culprit $(sha 8) 1 1 the culprit" && [ "$(alarm commit)" = "$culprit" ] && [ "$(alarm subject)" = "the culprit" ] && ! grep -q another text'
test_that "... with times before and after, their factor, and a command that shows it again" '
	python3 -c "
import sys
b, a, f = map(float, sys.argv[1:])
assert b < 0.04 <= a and abs(a / b - f) < 0.06, (a, b, f)" "$(alarm before)" "$(alarm after)" "$(alarm factor)" && has text "^reproduce solverfs compare toy@.* toy@${culprit:0:12} 1$"'
test_that "once" 'rm told && watch 0 && empty out && [ ! -e told ]'
git -C hist checkout -q topic && git -C hist merge -q --ff-only "$(sha 10)" && git -C hist checkout -q main
test_that "not again on another branch" 'watch 0 && has err "toy topic: 7 new commits" && empty out && [ ! -e told ]'
run 0 case add w.smt2

broken "no luck" && broken "still no luck"
test_that "a commit that cannot be built, and its parent can" '
	watch 6 && [ "$(field 2,3)" = "$(printf "unbuildable\t%s" "$(sha "no luck")")" ] && has err "exited with status 7"'
test_that "... whose children are no alarm" 'broken "no luck at all" && watch 0 && empty out'
toy "repaired" $slow sat
test_that "it is compared with what was built before that" 'watch 0 && empty out'

toy 20 $slow sat && toy "a lie" $slow unsat && toy 22 $slow unsat
touch refuse && rm -f told
git -C hist branch -qf topic "$(sha 20)"
test_that "a wrong answer and a contradiction; a command that fails does not lose them" '
	watch 6 && [ "$(field 2 | sort | tr "\n" " ")" = "contradiction wrong " ] && [ "$(field 3 | sort -u)" = "$(sha "a lie")" ] && has err "did not take alarm 3: it ended with status 3" && has err "toy topic: .* new commit" && [ "$(grep -c "did not take alarm" err)" = 2 ] && [ "$(wc -l <out)" = 2 ] && [ ! -e told ]'
test_that "they are told again, and then no more" '
	rm refuse && watch 6 && [ "$(cut -d " " -f 1 told | tr "\n" " ")" = "3 4 " ] && has text "^detail .* says unsat on case 2 .w.smt2., whose status is sat" && watch 0 && empty out'

toy 23 $slow unknown && rm told
test_that "kill -9 between finding and telling: told at the next start" '
	TMPDIR=$top timeout 60 "$solverfs" watch toy --once --on-alarm "kill -9 \$PPID" >out 2>err; [ $? = 137 ] && watch 6 && [ "$(wc -l <told)" = 1 ] && grep -q "^5 lost toy main $(sha 23) $(sha 22) 1 1 23$" told && watch 0'
rm told
echo 'sleep 100' >hist/build.sh && git -C hist commit -qam "slow to build"
test_that "kill -9 while it builds: nothing is lost, nothing is told twice" '
	"$solverfs" watch toy --once >/dev/null 2>&1 & pid=$!
	await "run 0 status --json; has out \"build toy\""
	kill -9 $pid; wait $pid 2>/dev/null; echo "exit 7" >hist/build.sh; git -C hist commit -qam "amended" --amend; watch 6 && grep -q "^6 unbuildable .* amended$" told && [ "$(wc -l <told)" = 1 ] && watch 0'
test_that "alarms: what was told, what became of it" '
	run 0 alarms toy && [ "$(wc -l <out)" = 6 ] && [ "$(field 2 | head -n 2 | tr "\n" " ")" = "slower unbuildable " ] && run 0 alarms toy --mark 2 fixed http://x/2 && run 0 alarms toy 2 && has out "^mark      fixed http://x/2$"'
test_that "... as JSON" '
	run 0 alarms toy --json && python3 -c "
import json
l = [json.loads(x) for x in open(\"out\")]
assert [a[\"number\"] for a in l] == [1, 2, 3, 4, 5, 6] and l[0][\"cases\"][0][\"factor\"] > 2 and l[1][\"mark\"] == \"fixed\" and all(a[\"told\"] and a[\"found\"] > 1e9 for a in l), l"'
test_that "no such alarm, mark, solver" 'run 3 alarms toy 99 && run 3 alarms toy --mark 99 fixed && run 2 alarms toy --mark 1 nice && run 3 alarms nosuch && run 2 alarms'

mv hist away && git -C away reset -q --hard HEAD~1
test_that "what cannot be fetched is said, and tried again" 'watch 1 && has err "cannot fetch toy: .*; tried again at the next turn" && mv away hist && watch 0'
test_that "a branch that went back is watched from there" 'toy 25 $slow unknown && watch 0 && has err "1 new commit" && empty out'
test_that "fsck and gc know alarms" 'run 0 gc && run 0 fsck && run 0 alarms toy && [ "$(wc -l <out)" = 6 ]'
test_that "wrong usage" '
	run 2 watch && run 2 watch toy --once --every 3m && run 2 watch toy --every 0s && run 2 watch toy toy && run 3 watch nosuch --once && run 3 watch toy --once --set nosuch && has err "no cases to measure in the set nosuch"'
test_that "one watch at a time; a signal ends it" '
	toy 26 $slow unknown; "$solverfs" watch toy --every 1h 2>first & pid=$!
	await "has first \"1 new commit\""
	run 1 watch toy --once && has err "toy is being watched by another process" && kill -TERM $pid && { wait $pid; [ $? = 130 ]; } && watch 0'
make_script gap
gap() { echo "$2" >gap/build.sh && printf '#!/bin/sh\n# %s\necho "lasts %s" >&2\necho sat\n' "$1" "$3" >gap/gap.sh && git -C gap add -A && git -C gap commit -qm "$1"; }
copies="cp gap.sh gap && chmod +x gap"
gap 0 "$copies" $fast && toy_recipe gap && run 0 -q solver add --recipe gap.recipe gap gap && run 0 watch gap --once
for i in 1 2 3 4 5 6 7 8; do gap "$i" "$copies" $fast; done
gap "slow" "$copies" $slow && gap "no luck" "exit 7" $slow
test_that "a commit that was built and not measured hides nothing from the next turn" '
	run 6 watch gap --once && [ "$(field 2,3)" = "$(printf "unbuildable\t%s" "$(git -C gap rev-parse HEAD)")" ] && culprit=$(git -C gap rev-parse HEAD^) &&
	gap "repaired" "$copies" $slow && run 6 watch gap --once && grep -q "	slower	$culprit	" out'
make_script unseeded
unseeded() { printf '#!/bin/sh\n# %s\n[ $# = 2 ] || { echo %s; exit; }\necho sat\n' "$1" "$2" >unseeded/unseeded.sh && git -C unseeded add -A && git -C unseeded commit -qm "$1"; }
unseeded 0 sat && toy_recipe unseeded "run = {bin} {seed} {case}" "seed = {n}" && run 0 -q solver add --recipe unseeded.recipe unseeded unseeded
test_that "an answer that is wrong without a seed alone is localized without one" '
	run 0 set add stated w.smt2 && run 0 watch unseeded --once --set stated && for i in {1..12}; do unseeded $i $([ $i -lt 7 ] || echo un)sat; done &&
	run 6 watch unseeded --once --set stated && [ "$(field 2,3)" = "$(printf "wrong\t%s" "$(git -C unseeded rev-parse HEAD~5)")" ]'
make_script even
even() { script_commit even "$1" "[ \$# = 2 ] || set 0; echo \"lasts \$(($2 * (1 + \$1 % 7)))e-3\" >&2"; }
even 1 10 && toy_recipe even "run = {bin} {seed} {case}" "seed = {n}" && run 0 -q solver add --recipe even.recipe even even
for i in 1 2 3; do printf "(check-sat)\n; even $i\n" >even-$i.smt2; done
test_that "a commit that makes all cases slower by one factor, under each seed" '
	run 0 case add even-?.smt2 && run 0 set add evens even-1.smt2 even-2.smt2 even-3.smt2 && run 0 watch even --once --set evens && even 2 30 &&
	run 6 watch even --once --set evens && [ "$(field 2,3,5)" = "$(printf "slower\t%s\t3" "$(git -C even rev-parse v2)")" ]'
make_script doubt
doubt() { script_commit doubt "$1" "[ \"\$1\" != $2 ] || { echo unsat; exit; }; echo 'lasts $3' >&2"; }
kinds() { field 2,3 | sort | tr "\t\n" "  "; }
doubt 1 2 0.003 && toy_recipe doubt "run = {bin} {seed} {case}" "seed = {n}" && run 0 -q solver add --recipe doubt.recipe doubt doubt
run 0 set add doubts w.smt2 even-1.smt2 && run 0 watch doubt --once --set doubts && doubt 2 none 0.04
test_that "an older commit that is wrong under one seed does not clear a slower one" '
	run 6 watch doubt --once --set doubts && v2=$(git -C doubt rev-parse v2) && [ "$(kinds)" = "contradiction $v2 slower $v2 " ]'
doubt 3 2 0.4
test_that "a slower commit that is wrong under one seed" '
	run 6 watch doubt --once --set doubts && v3=$(git -C doubt rev-parse v3) && [ "$(kinds)" = "contradiction $v3 wrong $v3 " ] && ! has err "did not show it" &&
	has err "not in the first run; .solverfs compare doubt@$(git -C doubt rev-parse --short=12 v2) doubt@${v3:0:12} 2. shows it$"'
make_repository part && git -C part commit -q --allow-empty -m part
make_script whole && mkdir whole/part
whole() { # whole N SUBMODULE SECONDS
	git -C whole update-index --add --cacheinfo "160000,$2,part" && script_commit whole "$1" "echo 'lasts $3' >&2; # $1"
}
part=$(git -C part rev-parse HEAD) lost=1234567890123456789012345678901234567890
whole 1 $part 0.003 && toy_recipe whole "submodule = part=$top/part" && run 0 -q solver add --recipe whole.recipe whole whole
printf "(check-sat)\n; whole\n" >whole.smt2
run 0 case add whole.smt2 && run 0 set add wholes whole.smt2 && run 0 watch whole --once --set wholes && whole 2 $lost 0.003 && whole 3 $part 0.003 && whole 4 $part 0.04
test_that "a commit whose submodule is lost is passed over" '
	run 6 watch whole --once --set wholes && [ "$(field 2,3)" = "$(printf "slower\t%s" "$(git -C whole rev-parse v4)")" ] &&
	has err "whole $(git -C whole rev-parse --short=12 v2) is passed over: submodule part is at commit"'
whole 5 $lost 0.04
test_that "... unless it is the newest one, which may yet be found" '
	for again in 1 2; do run 4 watch whole --once --set wholes && has err "submodule part is at commit .*; tried again at the next turn" || exit 1; done'
gap "bad luck" "exit 7" $slow
export GIT_COMMITTER_DATE="@4102444800 +0000" # the topic's head is newer than main's
git -C gap checkout -q -b topic && gap "topic" "$copies" $slow
test_that "a commit of two branches: the alarm is of the one that was seen before" '
	run 6 watch gap --once --on-alarm ./tell && grep -q "^[0-9]* unbuildable gap main .* bad luck$" told'
unset GIT_COMMITTER_DATE
git -C gap checkout -q main && gap "repaired again" "$copies" $slow && gap "worse luck" "exit 7" $slow
git -C gap checkout -q topic && git -C gap reset -q --hard main
GIT_COMMITTER_DATE="@4102444800 +0000" gap "topic again" "$copies" $slow
git -C gap checkout -q main
test_that "... and if both were, of the default branch" '
	run 6 watch gap --once --on-alarm ./tell && grep -q "^[0-9]* unbuildable gap main .* worse luck$" told'
make_script big
big() { script_commit big "$1" "dd if=/dev/zero of=/dev/null bs=$2 count=1 2>/dev/null; echo 'lasts $3' >&2; # $1"; }
big 1 17000000 0.003 && toy_recipe big && run 0 -q solver add --recipe big.recipe big big && printf "(check-sat)\n; of memory\n" >m.smt2 && run 0 case add m.smt2 && run 0 set add lean m.smt2 && run 0 watch big --once --set lean
big 2 17000000 0.003 && big 3 42000000 0.003 && big 4 42000000 0.003 && big 5 42000000 0.04
test_that "a commit that takes more memory, and one that takes more time" '
	run 6 watch big --once --set lean && grep -q "^2	memory	$(git -C big rev-parse v3)	" out && grep -q "^1	slower	$(git -C big rev-parse v5)	" out && [ "$(wc -l <out)" = 2 ] &&
	grep -E "^2	" out | python3 -c "import sys; r = sys.stdin.read().split(\"\t\"); assert 16e6 < float(r[5]) < 35e6 and 41e6 < float(r[6]) < 62e6 and float(r[7]) > 1.5, r" &&
	has err "alarm 2: memory at .*: case [0-9]* [0-9]* bytes, now [0-9]* bytes, [0-9.]* times" && run 0 alarms big 2 && has out "^reproduce solverfs compare big@.* --measure memory [0-9]+$" &&
	run 0 alarms big --json && has out "\"memory\": *[2-6]" && run 0 watch big --once --set lean && empty out'
test_that "an alarm has two versions and a case, of which others ask more" '
	run 0 diverge big alarms/1 && has out "$(git -C big rev-parse --short=12 v5)" && has out "^changed	big.sh" &&
	run 1 options big alarms/1 && has err "prints no list of options" && run 2 options big alarms/2 && has err "alarms/2 is by memory"'
test_that "... but not all have" 'run 2 diverge toy alarms/2 && has err "alarms/2 is not of two versions on a case" && run 3 diverge toy alarms/99 && run 2 reduce toy alarms/1 && has err "is an alarm"'
# answers REPOSITORY ANSWER...: a commit for each, which gives that answer.
answers() {
	for answer in "${@:2}"; do
		printf '#!/bin/sh\n# %s %s\necho %s\n' "$1" "$(git -C "$1" rev-list --all | wc -l)" "$answer" >"$1/moves.sh"
		git -C "$1" add -A && git -C "$1" commit -qm "$answer"
	done
}
make_script moves && answers moves sat unknown unknown sat sat && toy_recipe moves && run 0 -q solver add --recipe moves.recipe moves moves
printf "(check-sat)\n; moves\n" >moves.smt2
run 0 case add moves.smt2 && run 0 set add moved moves.smt2
watch_moves() { run "$1" watch moves --once --set moved; }
test_that "a renamed branch has no new commits" '
	watch_moves 0 && has err "moves main: the watch begins" && git -C moves branch -m main trunk && watch_moves 0 && empty out && empty err'
test_that "... nor has one that begins on its line, but for its own" '
	git -C moves branch -m trunk "a/b" && answers moves sat && watch_moves 0 && empty out && has err "moves a/b: 1 new commit$"'
test_that "a line without a commit in common, pushed by force: the watch begins anew" '
	git -C moves checkout -q --orphan anew && answers moves unknown sat unknown unknown && git -C moves branch -M anew a/b && watch_moves 0 && empty out &&
	has err "^moves a/b: no commit in common with those seen; the watch begins with its last commit$"'
make_repository other && cp moves/build.sh other && answers other sat unknown unknown sat
test_that "... and so it does for another repository under the name" '
	run 0 -q solver remove moves && run 0 -q solver add --recipe moves.recipe moves other && watch_moves 0 && empty out &&
	has err "^moves main: no commit in common with those seen; the watch begins with its last commit$" && answers other unknown && watch_moves 6 && has err "moves main: 1 new commit$"'
head -c 200000 /dev/zero | tr "\0" x >subject
test_that "of a long subject the command has the beginning" '
	answers other sat && watch_moves 0 && printf "#!/bin/sh\n# long\necho unknown\n" >other/moves.sh && git -C other commit -qaF "$top/subject" &&
	run 6 watch moves --once --set moved --on-alarm "printf %s \"\$SUBJECT\" | wc -c >length" && [ "$(cat length)" = 1000 ] && ! has err "handed"'
test_that "an alarm that cannot be handed over stops nothing, and is told again" '
	answers other sat unknown && TMPDIR=$top/none run 6 watch moves --once --set moved --on-alarm "touch handed" && has err "2 new commits" &&
	has err "was not handed to the command of --on-alarm: cannot make a file .*; it is kept, and told again" && answers other unknown &&
	TMPDIR=$top/none run 6 watch moves --once --set moved --on-alarm "touch handed" && has err "1 new commit$" && [ ! -e handed ] &&
	run 6 watch moves --once --set moved --on-alarm "touch handed" && [ -e handed ]'
sed "s#^ExecStart=solverfs#ExecStart=\"${solverfs//%/%%}\"#; /^Documentation=/d" "$source_dir/examples/systemd/solverfs-watch@.service" >"$top/home/solverfs-watch@toy.service"
where "command -v systemd-analyze" systemd test_that "systemd takes the unit" 'systemd-analyze verify "$top/home/solverfs-watch@toy.service" >out 2>err && ! has err "solverfs-watch"'
echo "1..$n"
