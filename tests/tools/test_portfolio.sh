#!/bin/bash
# Portfolios from outside: defined, run, frozen, forgotten; bad input. Prints TAP. Usage: test_portfolio.sh SOLVERFS
. "$(dirname "$0")/command.sh"

make_mount

# An arm answers what the case says behind its name, after so many seconds: "; a: 0.3 sat".
cat >arm.sh <<'END'
#!/bin/sh
name=$1
set -- $(sed -n "s/^[;c] $name: //p" "$2")
[ "$1" = fails ] && exit 3
[ "$1" = error ] && { echo '(error "line 1 column 1: unknown sort")'; exit 1; }
[ "${1:-0}" = 0 ] || sleep "$1"
echo "${2:-unknown}${3:+ $3}"
END
chmod +x arm.sh
arm() { echo "$1: '$top/arm.sh' $1 {case}"; }
case_file() { printf '%s\n' "${@:2}" '(set-logic QF_LIA)' '(check-sat)' >"$1.smt2"; }
case_file both "; a: 0 sat" "; b: 9 sat"
case_file second "; a: 9 unsat" "; b: 0 unsat"
case_file none "; a: 9 sat" "; b: 9 sat"
case_file fail "; a: fails" "; b: fails"
case_file half "; a: error" "; b: 0 sat"
case_file differ "; a: 0 sat" "; b: 0 unsat"
case_file later "; a: 0 unsat" "; b: 0 sat"
case_file wrong "; a: 0 sat" "; b: 0 sat" "(set-info :status unsat)"
case_file bad "; a: 0 sat" "; b: 0 sat" "(assert (= x"
mkdir faults
at() { printf '%s\n' "$2" >faults/new && mv faults/new "faults/$1"; } # at PLACE WHAT: what happens there
met() { until [ -s "faults/$1.met" ]; do sleep 0.02; done; } # met PLACE: waits until somebody has come by
learned() { "$solverfs" portfolio list 2>/dev/null | awk -F'\t' -v p="$1" '$1 == p {print $4}'; }

run 0 init -q
run 0 case add both.smt2 second.smt2 none.smt2 fail.smt2 differ.smt2 wrong.smt2 bad.smt2 later.smt2

test_that "a portfolio is added to the config and listed" '
	run 0 portfolio add p "$(arm a)" "$(arm b)" --timeout 4s && has store/config "portfolio \"p\"" && run 0 portfolio list && is out "p	2	4s	0" && run 0 portfolio list --json && has out "\"timeout\": ?4[,.]"'
test_that "its arms are shown" 'run 0 portfolio show p && has out "^a	command	a: .*arm.sh" && has out "^# par2: seconds, the sum over the cases$" && has out "^# limit 4 s; soundness alarms: 0"'
mkdir done
test_that "a mount of finished values has the limit of now, also in a file of the same size and time" '
	run 0 mount -q -o cached done && grep -q "limit 4 s" done/portfolios/p/score.tsv && cp -p store/config old && sed "s/timeout = 4s/timeout = 5s/" old >new &&
	touch -r old new && mv new store/config && await "grep -q \"limit 5 s\" done/portfolios/p/score.tsv"; r=$?; mv old store/config; run 0 unmount done && (exit $r)'
cp store/config config.before
test_that "there is one of each name" 'run 2 portfolio add p "$(arm a)" && has err "there is a portfolio .p. already"'
test_that "a name is a name" 'run 2 portfolio add a/b "$(arm a)" && has err "no name for a portfolio"'
test_that "an arm twice is refused" 'run 2 portfolio add q "$(arm a)" "$(arm a)" && has err "config:[0-9]+: the arm .a. is there twice"'
printf '[portfolio "negative"]\n  arm = %s\n  seed = -1\n' "$(arm a)" >>store/config
unwritten() { [ "$(stat -c %z store/config)" = "$written" ]; }
test_that "a negative seed is refused" 'run 2 portfolio show negative && has err "config:[0-9]+: .-1. is no value for .seed."'
cp config.before store/config && written=$(stat -c %z store/config)
test_that "a limit that is none is refused" 'run 2 portfolio add q "$(arm a)" --timeout soon && unwritten && has err "config:[0-9]+: .soon. is no value for .timeout."'
test_that "words that are no seed are refused" 'run 2 portfolio add q "z3 quickly" && has err "only seed=N is known"'
test_that "a command without end is refused" "run 2 portfolio add q \"x: /bin/sh -c 'a\" && unwritten && has err 'config:[0-9]+: the arm'"
test_that "and the config is as it was" 'cmp store/config config.before'
test_that "a solver that is not there is refused, and nothing is written" '
	cp store/config before && run 3 portfolio add q nosuch@HEAD "$(arm a)" && has err "nosuch" && cmp before store/config && unwritten'
test_that "of two that add one name at once, one adds it, and a wrong one is not written" '
	for i in 1 2 3 4 5 6 7 8; do
		"$solverfs" portfolio add "at-once$i" "$(arm a)" "$(arm b)" 2>/dev/null & one=$!
		"$solverfs" portfolio add "at-once$i" "$(arm b)" $([ $i -lt 5 ] || echo nosuch@HEAD) 2>/dev/null && other=0 || other=$?
		wait $one && one=0 || one=$?
		[ $((!one + !other)) = 1 ] && [ "$(grep -c "portfolio \"at-once$i\"" store/config)" = 1 ] || exit 1
	done && cp before store/config'
test_that "a portfolio needs an arm" 'run 2 portfolio add q && has err "too few arguments"'
test_that "no such portfolio" 'run 3 portfolio run nosuch all && has err "no portfolio .nosuch."'

test_that "it answers a case, by the arm that can" 'run 0 portfolio run p both.smt2 && [ "$(field 2)" = sat ] && [ "$(field 4)" = a ]'
test_that "also when that is the second arm" 'run 0 portfolio run p second.smt2 && [ "$(field 2)" = unsat ] && [ "$(field 4)" = b ]'
cp out first
test_that "the answer is frozen" 'run 0 portfolio run p second.smt2 && cmp out first && [ "$(learned p)" = 2 ]'
test_that "all arms share the limit, and a timeout costs it" '
	run 0 portfolio run p none.smt2 && [ "$(field 2)" = timeout ] &&
	awk -v t="$(field 3)" "BEGIN {exit !(t > 3.95 && t < 7.5)}"'
test_that "all arms failing is an answer: unknown" 'run 0 portfolio run p fail.smt2 && [ "$(field 2)" = unknown ] && [ "$(field 4)" = - ]'
test_that "a case that does not parse is none of the learner" 'run 0 portfolio run p bad.smt2 && [ "$(field 2)" = sat ]'
test_that "an answer against the :status is an alarm" '
	run 0 portfolio add w "$(arm a)" --timeout 4s && run 1 portfolio run w wrong.smt2 && has err "SOUNDNESS: .*the case.s :status is unsat" && run 0 portfolio show w && has out "^# answered in all: 1 cases, .* solved 0;" && run 0 portfolio remove w'
test_that "so are two arms that disagree" '{ run 0 portfolio run p differ.smt2 --alone || has err SOUNDNESS; } && run 1 portfolio run p differ.smt2 && has err "SOUNDNESS: .* says (sat|unsat), . says"'
test_that "arms that are known to disagree are reported each time" 'run 1 portfolio run p differ.smt2 --alone && has err "SOUNDNESS: .* says (sat|unsat), . says"'
test_that "they are in the score" 'run 0 portfolio show p && has out "soundness alarms: 1" && [ "$(grep -c "^# alarm: case" out)" = 1 ]'
test_that "so are arms whose contradiction is seen later" '
	run 0 portfolio run p later.smt2 && { run 0 portfolio run p later.smt2 --alone || has err SOUNDNESS; } && run 0 portfolio show p && has out "soundness alarms: 2" && has out "^# taken back: case 8: "'
test_that "an answer that is taken back solves nothing" 'has out "^# answered in all: 7 cases, .* solved 3;"'
test_that "arms alone, and the score against them" '
	run 0 portfolio run p both.smt2 second.smt2 none.smt2 --alone && [ "$(wc -l <out)" = 6 ] && run 0 portfolio show p &&
	has out "^portfolio	[4-9]	" && has out "^virtual best	[4-9]	.*	1.0000" && has out "^only a	" && has out "^parallel portfolio" && has out "^# parallel portfolio: CPU seconds of .* times the number of arms$"'

test_that "a reset forgets answers and what was learned" 'run 0 portfolio reset p && [ "$(learned p)" = 0 ]'
test_that "what arms did alone is known and not run again" '
	run 0 portfolio run p none.smt2 && [ "$(field 2)" = timeout ] &&
	run 0 mount "$mnt" && has "$mnt/portfolios/p/cases/none.smt2/order.tsv" "stopped \(known\)"'
test_that "the files of a case" '
	[ "$(cat "$mnt/portfolios/p/cases/1/result")" = sat ] && [ "$(cat "$mnt/portfolios/p/cases/1/solver")" = a ] &&
	grep -qE "^[0-9.]+$" "$mnt/portfolios/p/cases/1/time" && grep -q "	sat" "$mnt/portfolios/p/cases/1/order.tsv" && [ "$(learned p)" = 2 ]'
test_that "the files of a portfolio" '
	grep -q "^a	command" "$mnt/portfolios/p/arms.tsv" && grep -q "^virtual best	" "$mnt/portfolios/p/score.tsv" && grep -q "<svg" "$mnt/portfolios/p/score.svg"'
test_that "its table and picture have the time of the last write to the store, which rsync and make compare" '
	touch -d @4000000000 store/journal/* && [ "$(stat -c %Y "$mnt/portfolios/p/score.tsv" "$mnt/portfolios/p/score.svg" | uniq)" = 4000000000 ]'
test_that "listing starts nothing" 'ls -lR "$mnt/portfolios" >listing && [ "$(learned p)" = 2 ]'
test_that "a reset shows in the mount" '
	run 0 portfolio reset p && [ "$(learned p)" = 0 ] && sleep 1.2 && [ "$(cat "$mnt/portfolios/p/cases/1/result")" = sat ] && [ "$(learned p)" = 1 ]'
test_that "an arm's program is no file of the mount, which would have to wait for itself" '
	run 0 portfolio add inside "b: \"$mnt/x/head/bin/x\" {case}" --timeout 4s && run 1 portfolio run inside both.smt2 &&
	has err "in a mount of solverfs: name the version itself" && run 0 portfolio remove inside'
run 0 unmount "$mnt"

test_that "another limit is another portfolio, and back again" '
	sed -i "s/timeout = 4s/timeout = 5s/" store/config && [ "$(learned p)" = 0 ] && run 0 portfolio run p both.smt2 && [ "$(learned p)" = 1 ] &&
	sed -i "s/timeout = 5s/timeout = 4s/" store/config && [ "$(learned p)" = 1 ]'
test_that "one whose definition changes while it runs ends under the old one" '
	at portfolio.answered block && { (met portfolio.answered; sed -i "s/timeout = 4s/timeout = 6s/" store/config; rm faults/*) &
	SOLVERFS_FAULTS=$top/faults run 0 portfolio run p second.smt2; } && wait && [ "$(learned p)" = 0 ] &&
	sed -i "s/timeout = 6s/timeout = 4s/" store/config && [ "$(learned p)" = 2 ]'
test_that "an arm whose program is not there is told, and the others answer" '
	run 0 portfolio add gone "x: /nosuch {case}" "$(arm a)" --timeout 4s &&
	has err "nosuch: No such file" && run 0 portfolio run gone both.smt2 && [ "$(field 4)" = a ] && has err "nosuch: No such file"'
test_that "... and where there are no others, that none could be run" '
	run 0 portfolio add alone "x: /nosuch {case}" --timeout 4s && run 1 portfolio run alone both.smt2 && has err "nosuch: No such file" && has err "no arm could be run on this SMT-LIB"'
test_that "a folder of an arm's name in PATH is not its program" '
	mkdir -p sources/arm programs && cp arm.sh programs/arm && chmod +x programs/arm && export PATH=$PWD/sources:$PWD/programs:$PATH &&
	run 0 portfolio add searched "x: arm a {case}" --timeout 4s && run 0 portfolio run searched both.smt2 && [ "$(field 2)" = sat ] && run 0 portfolio remove searched'
cp arm.sh other_arm.sh
test_that "a program with the same bytes is the same arm, one with others is another" '
	run 0 portfolio add bytes "c: \"$top/other_arm.sh\" a {case}" --timeout 4s && run 0 portfolio run bytes both.smt2 && [ "$(learned bytes)" = 1 ] &&
	cp arm.sh again.sh && mv again.sh other_arm.sh && touch -d 2001-01-01 other_arm.sh && [ "$(learned bytes)" = 1 ] &&
	echo "# more" >>other_arm.sh && [ "$(learned bytes)" = 0 ]'
mkdir elsewhere
test_that "a relative path of a command is that of the folder where it was added" '
	run 0 portfolio add relative "a: ./arm.sh a {case}" --timeout 4s && cd elsewhere && run 0 portfolio run relative both.smt2 && [ "$(field 4)" = a ] && rm out err'
test_that "one arm only" 'run 0 portfolio add one "$(arm a)" --timeout 4s && run 0 portfolio run one both.smt2 none.smt2 && [ "$(field 2 | tr "\n" " ")" = "sat timeout " ]'
unfinished() { SOLVERFS_FAULTS=$top/faults "$solverfs" -q portfolio run crash second.smt2 >crashed 2>&1; [ $? = 137 ] && rm -f faults/*; }
test_that "killed while an arm runs, nothing is half there" '
	run 0 portfolio add crash "$(arm a)" "$(arm b)" --timeout 6s && at keeper.begun kill && unfinished && [ "$(learned crash)" = 0 ] &&
	run 0 portfolio run crash both.smt2 && [ "$(learned crash)" = 1 ] && run 0 fsck'
test_that "killed between the answer and what is learned from it, it answers again" '
	at portfolio.answered kill && unfinished &&
	[ "$(learned crash)" = 1 ] && run 0 portfolio run crash second.smt2 && [ "$(field 2)" = unsat ] && [ "$(learned crash)" = 2 ]'
test_that "killed when it has learned and not yet answered, the answer is that" '
	run 0 portfolio reset crash && run 0 portfolio run crash both.smt2 && at engine.answer kill && unfinished && [ "$(learned crash)" = 2 ] &&
	at portfolio.answered kill && SOLVERFS_FAULTS=$top/faults run 0 portfolio run crash second.smt2 && [ "$(field 2)" = unsat ] && [ "$(learned crash)" = 2 ] &&
	rm -f faults/* && run 0 fsck'
test_that "a disk that is full where the trial is stored: an error, and the next time an answer" '
	run 0 portfolio reset crash && at store.commit "fail ENOSPC times 1" && ! SOLVERFS_FAULTS=$top/faults run 0 portfolio run crash both.smt2 &&
	rm -f faults/* && [ "$(learned crash)" = 0 ] && run 0 portfolio run crash both.smt2 && [ "$(learned crash)" = 1 ]'
test_that "removed, and added again as it was, it knows what it knew" '
	run 0 portfolio remove one && [ -z "$(learned one)" ] && run 0 portfolio add one "$(arm a)" --timeout 4s && [ "$(learned one)" = 2 ]'
test_that "an arm that does not parse a case leaves it to the others" '
	run 0 case add half.smt2 && run 0 portfolio add half "$(arm a)" "$(arm b)" --timeout 4s && run 0 portfolio run half half.smt2 &&
	[ "$(field 2)" = sat ] && [ "$(field 4)" = b ] && run 0 portfolio run half half.smt2 --alone && [ "$(field 2 | sort | tr "\n" " ")" = "error sat " ] && cp out first && run 0 portfolio run half half.smt2 --alone && cmp out first'

case_file long "; killed$$: 4 sat"
arms_killed() { grep -lsx --null-data "[k]illed$$" /proc/[0-9]*/cmdline | cut -d/ -f3; }
kill_arm() { await 'arms_killed >killed && [ -s killed ]' && sleep 0.5 && kill -KILL $(arms_killed); } # by then its own first processes are over
test_that "an arm that somebody kills runs again" '
	run 0 case add long.smt2 && run 0 portfolio add outside "$(arm killed$$)" --timeout 19s && { kill_arm & } && run 0 portfolio run outside long.smt2 &&
	[ "$(field 2)" = sat ] && wait'
test_that "... once: then it has crashed" '
	run 0 portfolio reset outside && { { kill_arm; kill_arm; } & } && run 0 portfolio run outside long.smt2 --alone && [ "$(field 2)" = crash ] && wait'

# -- settings that are none --

with() { run 0 portfolio add "$1" "$(arm a)" "$(arm b)" --timeout 4s && printf '\t%s\n' "${@:2}" >>store/config; } # NAME LINE...: its section is the last
with best "selector = best"
test_that "a selector that never was is refused" 'run 2 portfolio run best both.smt2 && has err "config:[0-9]+: \[portfolio .best.\]: there is no selector .best.: take the line out"'
with much "allocation = much"
test_that "so is a key that is none" 'run 2 portfolio run much both.smt2 && has err "config:[0-9]+: unknown key .allocation. in \[portfolio .much.\]; there are arm, timeout"'
test_that "they can be removed all the same" 'run 0 portfolio remove best much && run 0 portfolio list && ! has err . && ! has out "^(best|much)	"'
with paper "selector = survival"
test_that "the only one there is may be named, as older stores do" 'run 0 portfolio run paper both.smt2 && [ "$(field 2)" = sat ] && ! has err .'
run 0 portfolio remove paper

# -- a store's facts --

make_toy
printf '; answer: sat\n(check-sat)\n' >fact.smt2
printf '; answer: unsat\n(check-sat)\n' >other.smt2
run 0 case add fact.smt2 other.smt2
run 0 solver add toy toy --recipe recipes/toy.recipe -q
test_that "a portfolio of solvers takes their facts" '
	{ run 0 run toy v1 HEAD fact.smt2 other.smt2 --timeout 5s || true; } &&
	run 0 portfolio add s toy@v1 "toy@HEAD" --timeout 5s && run 0 portfolio run s fact.smt2 && [ "$(field 2)" = sat ]'

printf '; answer: unknown\n(check-sat)\n' >undecided.smt2
run 0 case add undecided.smt2
test_that "a solver that ran alone has its fact, also when it gave up" '
	run 0 portfolio run s undecided.smt2 --alone && [ "$(field 2 | tr "\n" " ")" = "unknown sat " ] &&
	run 0 portfolio run s undecided.smt2 && run 0 portfolio show s && has out "^virtual best	2	.*	2	"'

test_that "an arm that cannot be built fails at once, and is learned to be avoided" '
	for i in 1 2 3 4 5 6 7 8; do printf "; a: 0 sat\n; %s\n(check-sat)\n" $i >easy$i.smt2; done && run 0 case add easy?.smt2 &&
	run 0 portfolio add broken toy@HEAD~1 "$(arm a)" --timeout 4s && run 0 portfolio run broken easy1.smt2 easy2.smt2 easy3.smt2 easy4.smt2 easy5.smt2 &&
	[ "$(field 4 | sort -u)" = a ] && run 0 portfolio run broken easy6.smt2 easy7.smt2 easy8.smt2 && [ "$(field 4 | sort -u)" = a ] &&
	run 0 mount "$mnt" && { order=$mnt/portfolios/broken/cases/easy8.smt2/order.tsv && grep -q . "$order" && ! grep -q unbuildable "$order"; r=$?; run 0 unmount "$mnt"; (exit $r); }'
test_that "a case of a format that an arm does not read goes to the others" '
	printf "c a: 0 s SATISFIABLE\np cnf 1 1\n1 0\n" >one.cnf && run 0 case add one.cnf && run 1 portfolio run s one.cnf && [ "$(field 2)" = unknown ] && has err "no arm could be run on this DIMACS"'
test_that "a command reads any format" 'run 0 portfolio run broken one.cnf && [ "$(field 2,4)" = "$(printf "sat\ta")" ]'

test_that "a command whose program is replaced meanwhile is not run under its old name" '
	cp arm.sh own.sh && run 0 portfolio add own "o: \"$top/own.sh\" a {case}" --timeout 4s && hold_cores 1 && at portfolio.answered block &&
	{ SOLVERFS_FAULTS=$top/faults "$solverfs" portfolio run own easy1.smt2 easy2.smt2 >out 2>err & } && met portfolio.answered && cp own.sh new.sh && echo "# new" >>new.sh && mv new.sh own.sh && rm faults/*;
	! wait $! && let_cores_go && has err "own.sh was changed meanwhile, and is another program now: ask again" && run 0 portfolio run own easy2.smt2'

make_script burns
script_commit burns 1 "i=0; while [ \$i -lt 60000 ]; do i=\$((i + 1)); done"
toy_recipe burns 'timeout = 10s' 'cputime = 10ms'
test_that "an arm has its recipe's limit of CPU time, in its turn as alone" '
	run 0 -q solver add --recipe burns.recipe burns burns && run 0 portfolio add cpu burns --timeout 5s && run 0 portfolio run cpu fact.smt2 && [ "$(field 2)" = timeout ] &&
	awk -v t="$(field 3)" "BEGIN { exit !(t < 4) }" && run 0 portfolio run cpu fact.smt2 --alone && [ "$(field 2)" = timeout ] && run 0 portfolio show cpu && has out "^portfolio	1	10.000	0	1.0000"'
test_that "... which then costs its CPU time, and not the limit of all" '
	run 0 portfolio reset cpu && run 0 portfolio run cpu fact.smt2 && [ "$(field 2)" = timeout ] && awk -v t="$(field 3)" "BEGIN { exit !(t < 4) }"'
toy_recipe burns 'timeout = 10s'
test_that "... and an answer stands no longer than that limit" '
	run 0 -q solver add --replace --recipe burns.recipe burns burns && [ "$(learned cpu)" = 0 ] && run 0 portfolio run cpu fact.smt2 && [ "$(field 2)" = sat ] && learned=1 &&
	for other in "memory = 3g" "output = 1m" "processes = 9" "stack = 99m"; do
		[ "$(learned cpu)" = $learned ] && toy_recipe burns "timeout = 10s" "$other" && run 0 -q solver add --replace --recipe burns.recipe burns burns || exit 1
		learned=0
	done && [ "$(learned cpu)" = 0 ]'
make_script slow
script_commit slow 1 "echo 'lasts 1.0' >&2"
toy_recipe slow 'timeout = 10s'
tell_time "$top/clock"
test_that "an arm with a stored run is not run again for a turn that is shorter" '
	run 0 -q solver add --recipe slow.recipe slow slow && run 0 portfolio add slow slow --timeout 1300ms && SOLVERFS_FAULTS=$top/clock run 0 run slow HEAD fact.smt2 --timeout 5s &&
	run 0 portfolio run slow fact.smt2 && [ "$(field 2,3)" = "$(printf "sat\t1.000000")" ] && run 0 mount "$mnt" &&
	has "$mnt/portfolios/slow/cases/fact.smt2/order.tsv" "sat \(known\)$"; r=$?; run 0 unmount "$mnt"; (exit $r)'
test_that "a seed is refused where the recipe has no 'seed'; such an arm in an older config is left out, and named" '
	run 2 portfolio add seeds burns "burns seed=4" && has err "burns seed=4: the recipe of burns has no .seed.: it cannot be told one" && ! has store/config seed=4 &&
	printf "[portfolio \"seeds\"]\n\tarm = burns seed=4\n\tarm = %s\n" "$(arm a)" >>store/config && run 0 portfolio run seeds both.smt2 && [ "$(field 4)" = a ] && has err "burns seed=4: the recipe"
	r=$?; run 0 portfolio remove seeds; (exit $r)'

cat >eats.py <<'END'
#!/usr/bin/python3
import time
began = time.monotonic()
while time.monotonic() < began + 0.1:
    pass
held = b"x" * (150 << 20)
while True:
    pass
END
chmod +x eats.py
test_that "arms that grow after their begin share the memory, too: the largest one is ended" '
	run 0 portfolio add eats "a: \"$top/eats.py\" {case}" "b: \"$top/eats.py\" {case} b" --memory 200m --timeout 8s && run 0 portfolio run eats both.smt2 &&
	run 0 mount "$mnt" && has "$mnt/portfolios/eats/cases/both.smt2/order.tsv" "	memout"; r=$?; run 0 unmount "$mnt"; (exit $r)'
test_that "... which says nothing of what it does alone" 'run 0 portfolio show eats && has out "alone, arms are known on: 0 0$"'
make_script large
script_commit large 1 "dd if=/dev/zero of=/dev/null bs=100M count=1 2>/dev/null || exit 1"
toy_recipe large 'timeout = 10s'
test_that "a stored run with more memory than the portfolio has is no answer of the portfolio" '
	run 0 -q solver add --recipe large.recipe large large && run 0 portfolio add small large --memory 60m --timeout 5s && run 0 run large HEAD fact.smt2 && has out sat &&
	run 0 portfolio run small fact.smt2 && [ "$(field 2)" = unknown ] && run 0 portfolio run small fact.smt2 --alone && [ "$(field 2)" = memout ] &&
	run 0 portfolio show small && has out "^portfolio	1	10.000	0	"'

# -- features --

test_that "the features of a case" 'run 0 portfolio features both.smt2 && has out "^asserts	0$" && has out "^checks	1$"'
test_that "are in the mount, too" 'cp out features && run 0 mount "$mnt" && cmp "$mnt/cases/1/features.tsv" features; r=$?; run 0 unmount "$mnt"; (exit $r)'
test_that "those of several name the case" 'run 0 portfolio features 1-2 && has out "^1	asserts	" && has out "^2	asserts	"'
test_that "a case that does not parse has none" 'run 1 portfolio features bad.smt2 && has err "case 7 \(bad.smt2\): "'
test_that "what they mean" 'run 0 portfolio features --list && has out "^smt2	asserts	" && has out "^cnf	"'
echo "1..$n"
