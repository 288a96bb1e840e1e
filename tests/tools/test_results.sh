#!/bin/bash
# What a result is: its program's, whatever commit that is of; and the solver's, whatever shell it was asked from.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
make_toy
sed -i 's/samples = 1/samples = 1\n\tstack = 2m/' recipes/toy.recipe
printf 'v1\n' >toy/NEWS && toy_commit 4 "the program of v3" && git -C toy tag v4
# With the program of its first commit, and others sources.
git -C toy checkout -q v1 -- toy.sh && toy_commit 5 "the program of v1" && git -C toy tag v5
first=$(git -C toy rev-parse v1) third=$(git -C toy rev-parse v3) fifth=$(git -C toy rev-parse v5)

printf '; answer: sat\n(set-info :status sat)\n(check-sat)\n' >a.smt2
printf '; answer: unsat\n(set-info :status unsat)\n(check-sat)\n' >b.smt2
printf '; answer: unsat\n(check-sat)\n' >c.smt2
run 0 init -q && run 0 case add -q a.smt2 b.smt2 c.smt2 && run 0 solver add toy toy --recipe recipes/toy.recipe
json() { python3 -c "import json, sys; o = json.loads(open('out').readline()); print($1)"; }

make_script brief
script_commit brief 1 "echo 'lasts 0.001595615' >&2"
toy_recipe brief
tell_time "$top/clock"
test_that "a time in JSON has no more digits than it was measured with" '
	run 0 -q solver add --recipe brief.recipe brief brief && SOLVERFS_FAULTS=$top/clock run 0 run brief v1 a.smt2 --json && has out "0\.001595615[,}]"'

# -- a result is its program's --

test_that "commits whose programs are the same share their runs" '
	run 0 run toy v1 a.smt2 --print run.json && cp out one && run 0 run toy v5 a.smt2 --print run.json && cmp one out'
test_that "which says the commit that it was measured with, and the program" '
	run 0 run toy v5 a.smt2 --json && [ "$(json "o[\"run\"][\"commit\"] + \" \" + str(len(o[\"run\"][\"build\"][\"program\"]))")" = "$first 64" ]'
test_that "a commit that is not built has no result yet: asking for it builds it" '
	run 1 run toy v3 b.smt2 && cp out one && cut -f 1-5,7,8 one >two && run 1 run toy v4 b.smt2 && cut -f 1-5,7,8 out | cmp - two'
test_that "build says how many programs the commits have" 'run 0 build toy v1 v3 v4 v5 && has err "^4 commits, 4 different builds, 2 different programs$"'
test_that "another program has its own" 'run 0 run toy v3 a.smt2 --json && [ "$(json "o[\"run\"][\"commit\"]")" = "$third" ]'
test_that "measuring again moves it for all of them" '
	run 0 run toy v5 a.smt2 --again --print run.json && cp out two && ! cmp -s one two && run 0 run toy v1 a.smt2 --print run.json && cmp two out'
test_that "a result outlives its program" '
	run 0 run toy v1 a.smt2 && cp out one && run 0 gc --keep 0 && run 0 run toy v1 a.smt2 && cmp one out && run 0 build toy v1 && run 0 run toy v1 a.smt2 && cmp one out'

# -- a program with several digests --

# Its bytes hold a limit of the build that is in no key.
make_repository dice
for d in d1 d2 d3; do echo $d >dice/note && git -C dice add -A && git -C dice commit -q -m $d && git -C dice tag $d; done
cat >dice.recipe <<'END'
[solver]
	format = smt2
	build = "{ echo '#!/bin/sh'; echo '#' $(ulimit -p); echo 'echo sat'; } >dice && chmod +x dice"
	output = dice
	run = {bin} {case}
	samples = 1
	build-processes = 100
END
printf '(check-sat) ; e\n' >e.smt2 && printf '(check-sat) ; f\n' >f.smt2 && printf '(check-sat) ; g\n' >g.smt2 && run 0 case add -q e.smt2 f.smt2 g.smt2
run 0 solver add dice dice --recipe dice.recipe
throw() { sed -i "s/build-processes = .*/build-processes = $1/" "$SOLVERFS_STORE/config"; }
measured_at() { run 0 run dice "$1" "$2" --json && [ "$(json "o[\"run\"][\"commit\"]")" = "$(git -C dice rev-parse "$3")" ]; } # REV CASE REV
test_that "whichever of its digests another commit has, the results are its own, too" '
	measured_at d1 e.smt2 d1 && throw 200 && run 0 build --again dice d1 && has out "not reproducible" && run 0 build dice d2 && measured_at d2 e.smt2 d1'
test_that "and what is measured with that one is the first one's" 'measured_at d2 f.smt2 d2 && measured_at d1 f.smt2 d2'
test_that "two programs that turn out to be one answer for each other" '
	throw 300 && measured_at d3 e.smt2 d3 && measured_at d3 g.smt2 d3 && run 0 noise dice d3 f.smt2 --runs 2 --json && cp out noise && run 0 build --again dice d1 &&
	measured_at d1 g.smt2 d3 && measured_at d3 f.smt2 d2 && measured_at d3 e.smt2 d1'
test_that "the repetitions of each are still known" 'run 0 noise dice d3 f.smt2 --runs 2 --json && cmp noise out'
test_that "and count as one" 'run 0 build dice d1 d2 d3 && has err "^3 commits, 3 different builds, 1 different program$"'

# -- answers --

test_that "a wrong answer is told in one wording, by run and by status" '
	run 1 -q run toy v3 b.smt2 && [ "$(wc -l <err)" = 1 ] && has err "^solverfs: WRONG ANSWER: toy ${third:0:12} says sat on case 2 \(b.smt2\), whose status is unsat$" && cp err one &&
	run 0 -q status && [ "$(head -1 err)" = "$(cat one)" ]'
test_that "the same at a commit that shares the program is another line of run, and none more of status" '
	run 1 -q run toy v4 b.smt2 && [ "$(grep -c "WRONG ANSWER" err)" = 1 ] && run 0 status && [ "$(grep -c "WRONG ANSWER" err)" = 1 ]'
test_that "... nor again under other limits" '
	git config -f "$SOLVERFS_STORE/config" solver.toy.output-limit 1m && run 1 -q run toy v3 b.smt2 && run 0 status && [ "$(grep -c "WRONG ANSWER" err)" = 1 ]; r=$?
	git config -f "$SOLVERFS_STORE/config" --unset solver.toy.output-limit; (exit $r)'
test_that "noise tells it once for a case" '
	run 1 -q noise toy v3 b.smt2 --runs 2 && [ "$(wc -l <err)" = 1 ] && has err "WRONG ANSWER: toy ${third:0:12} says sat on case 2 \(b.smt2\), whose status is unsat"'
test_that "it is no longer told when its case was removed" '
	run 0 case remove b.smt2 && run 0 status && ! has err "WRONG ANSWER" && run 0 case add b.smt2 && run 0 status && has err "WRONG ANSWER"'
# The clock goes back by an hour. The solver says what the mood is: its sandbox shows the machine.
make_script moody
script_commit moody 1 "cat '$top/mood'; exit"
toy_recipe moody
back() { SOLVERFS_FAULTS=$top/back run "$@"; }
mkdir back && echo fail ETIME >back/clock.back
(export SOLVERFS_STORE=$top/moods && run 0 init && git config -f moods/config solverfs.sandbox none && run 0 case add b.smt2 && run 0 solver add --recipe moody.recipe moody moody)
moods() { (export SOLVERFS_STORE=$top/moods && eval "$1"); }
test_that "a wrong answer that was measured before --again is settled, though its time is later" 'moods "
	echo sat >mood && run 1 run moody v1 b.smt2 && has err \"WRONG ANSWER\" && echo unsat >mood && back 0 run moody v1 b.smt2 --again && ! has err \"WRONG ANSWER\" && run 0 status && ! has err \"WRONG ANSWER\""'
test_that "one that was measured behind it counts, though its time is earlier" 'moods "
	run 0 run moody v1 b.smt2 --again && echo sat >mood && back 1 -q noise moody v1 b.smt2 --runs 2; run 0 status && has err \"WRONG ANSWER\" &&
	echo unsat >mood && run 0 run moody v1 b.smt2 --again && run 0 status && ! has err \"WRONG ANSWER\""'
make_mount
if moods 'run 0 mount "$mnt"'; then
	time_of() { stat -c %Y "$mnt/moody/commits/v1/cases/1/time"; }
	test_that "a cell's time goes forward at each --again, whatever the clock says" '
		first=$(time_of) && moods "back 0 run moody v1 b.smt2 --again" && await "[ \$(time_of) -gt $first ]" && second=$(time_of) && moods "run 0 run moody v1 b.smt2 --again" && await "[ \$(time_of) -gt $second ]"'
else
	skip "a cell's time goes forward at each --again" "no mount here"
fi
test_that "two programs that contradict each other where nobody knows the answer are as loud" '
	run 0 run toy v1 c.smt2 && [ "$(field 7)" = - ] && run 1 run toy v3 c.smt2 && [ "$(field 2,7)" = "sat	DISPUTED" ] &&
	has err "^solverfs: CONTRADICTION: case 3 \(c.smt2\): toy (${first:0:12}|${third:0:12}|${fifth:0:12}) says (sat|unsat), toy [0-9a-f]* says (sat|unsat): one of them is wrong$"'
test_that "also for the one that was there first, and in status" '
	run 1 run toy v1 c.smt2 && [ "$(field 7)" = DISPUTED ] && has err CONTRADICTION && run 1 run toy v1 c.smt2 --json && [ "$(json "o[\"check\"]")" = DISPUTED ] &&
	run 0 export --format jsonl toy v1 c.smt2 && [ "$(json "o[\"check\"]")" = DISPUTED ] && run 0 run toy v1 a.smt2 --json && [ "$(json "o[\"check\"]")" = correct ] && run 0 status && [ "$(grep -c CONTRADICTION err)" = 1 ] &&
	run 0 status --json && [ "$(json "len(o[\"contradictions\"]), len(o[\"wrong\"])")" = "1 1" ]'
test_that "a case that was removed has none" 'run 0 case remove c.smt2 && run 0 status && ! has err CONTRADICTION && run 0 case add c.smt2'
printf '(check-sat) ; six of seven\n' >q.smt2 && run 0 case add -q q.smt2
for name in six seven three; do
	make_script $name && script_commit $name 1 "[ $name = three ] || { echo unsat; exit; }" && toy_recipe $name && run 0 solver add --recipe $name.recipe $name $name
	"$solverfs" run $name v1 q.smt2 >out 2>err
done
test_that "the page of each solver in a contradiction has it" '
	for name in six seven three; do run 0 report $name -o page.html && grep -qE "$name [0-9a-f]{12} says (un)?sat" page.html || exit 1; done'
test_that "answers that are wrong under two limits are told once each" '
	run 0 case add --status unsat q.smt2 && git -C three commit -q --allow-empty -m two && echo "# two" >>three/three.sh && git -C three commit -qam two && run 0 solver update three &&
	for rev in HEAD v1; do run 1 run three $rev q.smt2; run 1 run three $rev q.smt2 -t 60 --again; done && run 0 -q status && [ "$(grep -c "three .* says sat" err)" = 2 ]'
make_script liar && script_commit liar 1 "" && toy_recipe liar 'run = {bin} {seed} {case}' 'seed = --seed {n}' && run 0 solver add --recipe liar.recipe liar liar
lies() { run 0 -q status && has err "liar .*says sat on case [0-9]+ \(q.smt2\), whose status is unsat, and under $1$" && [ "$(grep -c "liar .* says" err)" = 1 ]; } # lies HOW-MANY
test_that "answers that are wrong under several seeds are one line of status, and one wrong answer of the page" '
	for seed in 1 2 3; do run 1 run liar v1 q.smt2 --seed $seed; done && lies "2 other seeds" && run 1 run liar v1 q.smt2 && lies "3 seeds" &&
	run 0 report liar -o page.html && grep -q ">1 wrong or contradictory answer<" page.html'
make_script lost && script_commit lost 1 "" && toy_recipe lost && run 0 solver add --recipe lost.recipe lost lost
test_that "an era that names no revision hides no wrong answer of other solvers" '
	run 1 run lost v1 q.smt2 && git config -f "$SOLVERFS_STORE/config" "era.lost v9...build" "sh build.sh" && run 0 status && has err "liar .*says sat on case" && ! has err "WRONG ANSWER: lost" &&
	has err "not every wrong answer on record is told, as some cannot be looked up now: .*v9"; r=$?; git config -f "$SOLVERFS_STORE/config" --remove-section "era.lost v9.."; (exit $r)'
run 0 case remove q.smt2

# -- the answer to a DIMACS case --

toy_recipe sat 'format = cnf' 'output = toy'
sed -i 's/^sed -n.*/sed -n "s,^c say ,s ,p" "$case"/' toy/toy.sh && git -C toy checkout -q v3 -- build.sh && toy_commit 6 "a SAT solver" && git -C toy tag v6
run 0 solver add sat toy --recipe sat.recipe
cnf() { printf '%sp cnf 1 1\nc %s\n1 0\n' "$2" "$3" >"$1"; }
cnf s.cnf $'c status sat\nc say SATISFIABLE\n' a
cnf u.cnf $'c  Status: UNSATISFIABLE\nc say SATISFIABLE\n' b
cnf n.cnf $'c say SATISFIABLE\n' c
cnf o.cnf $'c say UNSATISFIABLE\nc status of this work: unsat\n' d
echo SAT >o.cnf.status
test_that "is in its comments before the clauses, or in a file beside it" '
	run 0 case add s.cnf u.cnf n.cnf o.cnf && run 0 case list "*.cnf" && [ "$(field 2 | tr "\n" " ")" = "sat unsat unknown sat " ]'
test_that "a wrong answer is told" '
	run 0 run sat v6 s.cnf && [ "$(field 7)" = correct ] && run 1 run sat v6 u.cnf && has err "WRONG ANSWER: sat [0-9a-f]{12} says sat on case [0-9]* .u.cnf., whose status is unsat" &&
	run 1 run sat v6 o.cnf && [ "$(field 7)" = WRONG ]'
test_that "one whose answer is not known is none" 'run 0 run sat v6 n.cnf && [ "$(field 7)" = - ] && run 0 -q status && ! has err n.cnf'
test_that "until case add says so: what was measured before is wrong then" '
	run 0 case add --status unsat n.cnf && run 1 run sat v6 n.cnf && [ "$(field 7)" = WRONG ] && run 0 -q status && has err "says sat on case [0-9]* .n.cnf., whose status is unsat"'
cnf k.cnf $'c say SATISFIABLE\n' k
test_that "another one replaces it, and is told: what was wrong is right then, and what was right is wrong" '
	run 0 case add --status UNSAT n.cnf && ! has err "status" && run 0 case add --status sat n.cnf && has err "status of case [0-9]* was unsat, and is sat now" && run 0 case list n.cnf && [ "$(field 2)" = sat ] &&
	run 0 run sat v6 n.cnf && [ "$(field 7)" = correct ] && run 0 -q status && ! has err n.cnf && run 0 case add --status sat k.cnf && run 0 run sat v6 k.cnf && run 0 case remove k.cnf &&
	run 0 case add k.cnf && run 0 case list k.cnf && [ "$(field 2)" = sat ] && run 0 case add --status unsat k.cnf && run 0 -q status && has err "k.cnf., whose status is unsat" && run 1 run sat v6 k.cnf'
cnf m.cnf $'c say SATISFIABLE\n' m
test_that "... and so it is for further measurements" '
	run 0 case add --status unsat m.cnf && run 1 noise sat v6 m.cnf --runs 5 && sleep 1.1 && run 0 case add --status sat m.cnf && run 0 noise sat v6 m.cnf --runs 12 && run 0 run sat v6 m.cnf && [ "$(field 7)" = correct ] &&
	run 0 -q status && ! has err m.cnf'
make_script late && script_commit late 1 "sleep 3" && toy_recipe late 'format = any' && run 0 -q solver add --recipe late.recipe late late
during() { # during FILE STATUS: sets the status while a run that says sat is under way
	printf "(check-sat)\n; $1\n" >"$1" && run 0 case add "$1" ${3:+--status $3} && { "$solverfs" -q run late HEAD "$1" >during.out 2>&1 & } && sleep 1.5 && run 0 case add --status "$2" "$1" && { wait $! || true; }
}
test_that "one that is set while a run is under way is that of its answer" '
	during right.smt2 sat unsat && run 0 run late HEAD right.smt2 && [ "$(field 7)" = correct ] && run 0 -q status && ! has err right.smt2 &&
	during false.smt2 unsat && run 1 run late HEAD false.smt2 && [ "$(field 7)" = WRONG ] && run 0 -q status && has err "says sat on case [0-9]* .false.smt2., whose status is unsat"'
mkdir killed
test_that "one whose command was killed anywhere judges what is known when the command is given again" '
	for i in 0 1 2 3 4; do
		cnf "killed$i.cnf" "c say SATISFIABLE"$'"'"'\n'"'"' "killed$i" && run 0 case add "killed$i.cnf" && run 0 run sat v6 "killed$i.cnf" && echo "kill after $i" >killed/store.committed
		SOLVERFS_FAULTS=$top/killed "$solverfs" case add --status unsat "killed$i.cnf" >out 2>&1; rm -f killed/*
		run 0 case add --status unsat "killed$i.cnf" && run 0 -q status && has err "says sat on case [0-9]* .killed$i.cnf., whose status is unsat" || exit 1
	done'
test_that "unknown takes it away; that of the file itself stays" '
	run 0 case add --status unknown k.cnf && run 0 run sat v6 k.cnf && [ "$(field 7)" = - ] && run 0 -q status && ! has err k.cnf && run 0 case remove k.cnf &&
	for status in unsat unknown; do run 1 case add --status $status s.cnf && has err "status of case [0-9]* is sat by the file itself, and no other" || exit 1; done; run 0 case list s.cnf && [ "$(field 2)" = sat ]'
test_that "what is no status is refused" '
	run 2 case add --status maybe n.cnf && echo perhaps >s.cnf.status && run 1 case add s.cnf && has err "s.cnf.status says neither" && rm s.cnf.status'
mkdir dir && cnf dir/x.cnf "" e && echo unsat >dir/x.cnf.status
test_that "of a folder, the files that hold a status are no cases" '
	run 0 case add dir && ! has err "passed over" && run 0 case list x.cnf && [ "$(field 2)" = unsat ]'
printf '(check-sat)\n(check-sat)\n' >two.smt2
test_that "SMT-LIB can be told one, too, unless it has several check-sat" '
	printf "(check-sat) ; one\n" >one.smt2; run 0 case add --status sat one.smt2 && run 0 case list one.smt2 && [ "$(field 2)" = sat ] &&
	run 1 case add --status sat two.smt2 && has err "2 check-sat"'

# -- what the shell happens to have --

printf '; answer: sat\n(check-sat) ; shell\n' >d.smt2
run 0 case add d.smt2
# measure NAME PREFIX...: run.json without what differs between two runs, when asked from such a shell; or the sentence that refuses it.
measure() {
	local to=$1
	shift
	"$@" "$solverfs" run toy v1 d.smt2 --again --print run.json >out 2>err </dev/null && python3 -c '
import json
o = json.load(open("out"))
print(o["verdict"], json.dumps([o["surroundings"], o["limits"]], sort_keys=True))' >"$to"
}
limited() {
	case $1 in -Ss | -Sd | -d | -v) [ -z "$sanitized" ] || set -- -Sc 0 "${@:3}" ;; esac
	(ulimit "$1" "$2" && shift 2 && "$@")
}
measure plain env
test_that "run.json has the limits, the class, the niceness, the environment" '
	has plain "\"stack\": 2097152" && has plain "\"nice\": 0" && has plain "\"class\": \"other\"" && has plain "LANG=C.UTF-8" && has plain "\"umask\": \"022\""'
test_that "a soft limit of the shell is none of the run" '
	measure one limited -Ss 512 && cmp plain one && measure one limited -Sd 100000 && cmp plain one && measure one limited -Sn 300 && cmp plain one'
test_that "a hard limit either does not count, or is refused with a sentence" '
	for l in "-s 1024" "-d 500000" "-n 600"; do
		if measure one limited $l; then cmp plain one || exit 1; else has err "ulimit -H" || exit 1; fi
	done'
test_that "nor is one on the address space, as far as solverfs itself can do with it" '
	SOLVERFS_MAP_SIZE=64m; export SOLVERFS_MAP_SIZE; if measure one limited -v 900000; then cmp plain one; else has err "ulimit -H|memory|No space|cannot"; fi'
test_that "niceness, scheduling class and personality are none of the run, or it is refused" '
	for before in "nice -n 15" "chrt -i 0" "setarch -R"; do
		if measure one $before; then cmp plain one || exit 1; else has err "nice|chrt" || exit 1; fi
	done'
# As nobody, who may not go back to niceness 0: nothing is built for a run that will be refused.
as_nobody() { # as_nobody COMMAND...
	[ "$(id -u)" != 0 ] || set -- setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	env HOME="$top/nobody" SOLVERFS_STORE="$top/nobody/store" SOLVERFS_SLOTS="$top/nobody/slots" "$@"
}
refused_first() { # refused_first BEFORE... : by what, and with which limit
	as_nobody "$@" timeout 60 "$solverfs" run late v1 a.smt2 >out 2>err
	[ $? = 4 ] && has err "late .* on case 1: (a timed run has niceness 0|a timed run is scheduled|the limit)" && ! has err "cannot be built"
}
if as_nobody test -x "$solverfs"; then
test_that "a run that will be refused is refused before its program is built" '
	chmod 755 "$top" && mkdir nobody && cp -R toy a.smt2 nobody && chmod -R go+rX nobody && sed "s/build = .*/build = false/" recipes/toy.recipe | sed "/variant/,\$d" >nobody/late.recipe &&
	if [ "$(id -u)" = 0 ]; then chown -R 65534:65534 nobody; fi && cd nobody &&
	as_nobody "$solverfs" init -q && as_nobody "$solverfs" case add -q a.smt2 >added && as_nobody "$solverfs" solver add -q --recipe late.recipe late toy &&
	refused_first nice -n 5 && refused_first bash -c "ulimit -s 1024; \"\$@\"" limited'
else
	skip "a run that will be refused is refused before its program is built" "others may not look into the folder of $solverfs"
fi
test_that "nothing of this was kept as a crash or memout" 'run 0 run toy v1 d.smt2 && [ "$(field 2)" = sat ]'

echo "1..$n"
