#!/bin/bash
# solverfs case cut: the script that asks one query of another, and after which earlier queries it is slow.
# shellcheck disable=SC2016,SC2034
. "$(dirname "$0")/command.sh"
tell_time

# A solver that answers (check-sat-assuming (qN …)). How long it takes follows from what it has read: the rules of a version, awk over `seen`, the names
# in all queries and assertions so far (pop forgets none), `q`, this query's name, and `seed`.
make_repository toy
version() { # version TAG RULES
	cat >toy/toy.sh <<TOY
#!/bin/sh
for case; do :; done
seed=0
[ "\$1" = --seed ] && seed=\$2
awk -v seed=\$seed '
function answer(how, seconds) { print how; print "line " seconds > "/dev/stderr"; all += seconds }
/^\(exit/ { exit }
/^\(push/ { pushed = 1 }
/^\(assert/ { gsub(/[()]/, ""); seen[\$2] = 1 }
/^\(check-sat/ { gsub(/[()]/, ""); q = \$2; how = "sat"; s = 0.03; $2; answer(how, s); seen[q] = 1 }
END { print "lasts " all > "/dev/stderr" }' "\$case"
TOY
	echo 'cp toy.sh toy && chmod +x toy' >toy/build.sh
	git -C toy add -A && git -C toy commit -q -m "$1" && git -C toy tag "$1"
}
version planted 'if (q == "q9" && ("q3" in seen) && ("q7" in seen)) s = 2.1 + seed / 100'
version alone 'if (q == "q9") s = 2.1 + seed / 1000'
version pushed 'if (q == "q9" && pushed) s = 2.1'
version popped 'if (q == "q9" && ("a5" in seen) && ("q2" in seen)) s = 2.1'
version little 'if (q == "q9" && pushed) s = 0.032 + (seed * 7 % 5) / 1000; else if (q == "q9") s += (seed * 7 % 5) / 1000'
version either 'if (q == "q9" && (("q3" in seen) || ("q4" in seen))) s = 2.1'
version late 'if (q == "q9" && ("q3" in seen)) s = 200'
version rest 's = q == "q9" ? 5 : 19 / 8'
version once 'if (q == "q9" && ("q3" in seen)) s = seed == 0 ? 200 : 2.1'
version mixed 'if (q == "q9" && ("q3" in seen)) s = ("q1" in seen) || seed % 4 != 3 ? 2.1 : 0.03'
version never 'if (q == "q4") s = 200'
version warm 'if (q == "q9" && !("q3" in seen)) s = 2.1'
version wrong 'if (q == "q9" && ("q3" in seen)) how = "unsat"'
version knows 'if (q == "q9" && !("q3" in seen)) how = "unknown"'
version quits 'if (q == "q9" && ("q3" in seen)) exit'
version twice 'if (q == "q9") print "sat"'
version held '{ print "sat"; all += 2; next }'
toy_recipe toy 'run = {bin} {seed} {case}' 'seed = --seed {n}' 'timeout = 20s'
{
	echo '(set-logic ALL)'
	for i in 1 2 3 4 5 6 7 8; do printf '(push 1)\n(assert a%s)\n(check-sat-assuming (q%s))\n(get-model)\n(pop 1)\n' $i $i; done
	printf '(push 1)\n(assert a9)\n(check-sat-assuming (q9))\n(pop 1)\n(check-sat-assuming (q10))\n'
} >inc.smt2
printf '(check-sat)\n(exit)\n(check-sat)\n' >ends.smt2
printf '(push 1)\n(pop 2)\n(check-sat)\n' >broken.smt2
printf '(check-sat)\n(assert (= "a" b)\n(check-sat)\n' >open.smt2
printf 'p cnf 1 1\n1 0\n' >one.cnf
run 0 init && run 0 solver add --recipe toy.recipe toy toy && run 0 case add inc.smt2 ends.smt2 broken.smt2 one.cnf open.smt2 || { cat err; exit 1; }
alone='(set-logic ALL)
(assert a9)
(check-sat-assuming (q9))'
behind='(set-logic ALL)
(push 1)
(assert a3)
(check-sat-assuming (q3))
(get-model)
(pop 1)
(push 1)
(assert a7)
(check-sat-assuming (q7))
(get-model)
(pop 1)
(push 1)
(assert a9)
(check-sat-assuming (q9))'

# -- the text --
test_that "it prints the script that asks the query alone" 'run 0 case cut "1#9" && is out "$alone"'
test_that "... into a file" 'run 0 case cut "inc.smt2#9" -o cut.smt2 && empty out && is cut.smt2 "$alone"'
test_that "... or to standard output, also where the file is full in the end" 'run 0 case cut "1#9" -o - && is out "$alone" && [ ! -e - ] && run 4 case cut "1#9" -o /dev/full && is out "$alone"'
test_that "... as JSON" 'run 0 case cut "1#9" --json && python3 -c "
import json, sys
j = json.load(open(\"out\"))
sys.exit((j[\"query\"], j[\"line\"], j[\"after\"], j[\"text\"]) != (9, 44, [], sys.argv[1] + chr(10)))" "$alone"'
printf '(declare-const |\377| Bool)\n(check-sat)\n(assert |\377|)\n(check-sat)\n' >latin.smt2 && run 0 case add latin.smt2
test_that "JSON of a script that is no UTF-8 is refused at once, and a file is not" '
	run 1 case cut "latin.smt2#2" --json --solver toy --at planted && has err "not valid UTF-8.* -o" && run 1 case cut "latin.smt2#2" --json && run 0 case cut "latin.smt2#2" --json -o latin.out && has out "\"query\""'
test_that "a query that is not there, or behind (exit)" 'run 3 case cut "1#11" && has err "no query 11" && run 3 case cut "ends.smt2#2" && run 0 case cut "ends.smt2#1"'
test_that "a broken script: its line" 'run 1 case cut "broken.smt2#1" && has err "broken.smt2#1: line 2: pop of 2 levels, and 1 open"'
test_that "a command that is not closed hides the queries behind it" 'run 3 case cut "open.smt2#2" && has err "has 1 check-sat, and no query 2: the command in line 2 is not closed" && run 0 case cut "open.smt2#1"'
test_that "what is no query" 'run 2 case cut inc.smt2 && has err "which query of case 1.*#1 to inc.smt2#10" && run 2 case cut "1#2-3" && run 3 case cut nothing#1 &&
	run 2 case cut one.cnf && has err "nothing to cut" && run 3 case cut one.cnf#2'
test_that "a script that asks nothing" '
	echo "(set-logic QF_LIA)" >mute.smt2 && run 0 case add mute.smt2 && run 2 case cut mute.smt2 && has err "mute.smt2 asks nothing: there is nothing to cut"'
test_that "what is only for runs, without a solver" 'for o in "--on local" "--timeout 1s" "--pairs 5"; do run 2 case cut "1#9" $o && has err "nothing is run" || exit 1; done'

# -- after which queries --
said() { has err "^query 9 .line 44.: $1"; }
cut_at() { run 0 case cut "1#9" --solver toy --at "$@"; }
test_that "slow only behind queries 3 and 7" 'cut_at planted && said "slow only after queries 3 and 7: 2.1[0-9]*s; alone 0.030s; in the script 2.1[0-9]*s .medians of [0-9]+ seeds; [0-9]+ runs in all.$" && is out "$behind"'
test_that "... as JSON" 'cut_at planted --json -o cut.smt2 && is cut.smt2 "$behind" && python3 -c "
import json, sys
j = json.load(open(\"out\"))
sys.exit((j[\"after\"], j[\"in-script\"], j[\"certain\"], j[\"popped-matters\"], j[\"found\"][\"answer\"], round(j[\"alone\"][\"seconds\"], 6)) != ([3, 7], \"slower\", True, False, \"sat\", 0.03))"'
test_that "as slow alone" 'cut_at alone && said "as slow alone: alone 2.1[0-9]*s; in the script 2.1[0-9]*s" && is out "$alone"'
test_that "slow within a push, after no other query" 'cut_at pushed && said "slow after no other query, but only within its push: 2.100s; alone 0.030s" && has out "^.push 1.$"'
test_that "slow with assertions that are gone" 'cut_at popped && said "slow only after query 2, with assertions in scopes that are gone: 2.100s" && has out a5 && has out q2 && ! has out q5'
test_that "a little slower" 'cut_at little && said "slower in the script, by too little to tell after which queries: alone" && is out "$alone"'
test_that "after either of two" 'cut_at either && said "slow after query 4, and after others without these: 2.100s; alone 0.030s"'
test_that "more than the limit, after query 3" 'cut_at late && said "slow only after query 3: more than 19\.[0-9]*s; alone 0.030s"'
test_that "cut off after the second that the queries before leave it: the time alone is that of the runs alone" '
	cut_at rest && said "not shown to be slower after others: alone 5.000s; in the script more than 1.000s"'
test_that "more than the limit under the first seed alone: the median is a time" 'cut_at once && said "slow only after query 3: 2.100s; alone 0.030s; in the script 2.100s"'
test_that "how many runs each median is of" 'cut_at mixed && said "slow only after query 3: 2.100s; alone 0.030s; in the script 2.100s .medians of [58] seeds, the first of [1-9][0-9]*; [0-9]+ runs in all"'
test_that "faster after others" 'cut_at warm && said "faster after the queries before it: alone 2.100s; in the script 0.030s" && is out "$alone"'
test_that "the script never comes to it" 'run 1 case cut "1#9" --solver toy --at never && has err "ended before it came to the query; 3 of 9 queries answered, and then timeout"'
test_that "another answer alone" 'run 1 case cut "1#9" --solver toy --at wrong && has err "query 9 is sat alone and unsat in the script"'
test_that "... that is unknown" 'cut_at knows && has err "query 9 is unknown alone and sat in the script"'
test_that "no answer in the script" 'cut_at quits && said "no answer, and so no time to compare: alone 0.030s; in the script error .medians of"'
test_that "more answers than queries" 'run 1 case cut "1#9" --solver toy --at twice && has err "more answers than queries"'
test_that "a solver that keeps its output back" 'run 1 case cut "1#9" --solver toy --at held && has err "keeps its output back"'
test_that "a program of the machine" 'git -C toy show planted:toy.sh >p && chmod +x p && run 0 case cut "1#9" --at "exec:'"'"'$top/p'"'"' --seed {n}" && said "slow only after queries 3 and 7"'
version long 'if (q == "q9" && ("q3" in seen)) s = 200; else if (q == "q9") s = 4'
sed 's/timeout = 20s/&\n\tcputime = 6s/' toy.recipe >cpu.recipe
test_that "a limit of CPU time below the other one is the limit" '
	run 0 -q solver update toy && run 0 solver add --recipe cpu.recipe cpu toy && run 0 case cut "1#9" --solver cpu --at long -o query.smt2 && has err "in the script more than [56]" && ! has err "more than (19|20)"'
hold_cores
test_that "--wait gives up: no core is free" 'limit=30 run 75 case cut "1#9" --solver toy --at planted --wait 0 && has err "waits for a core: somebody has core"'
let_cores_go
test_that "no solver, no such version" 'run 2 case cut "1#9" --at planted && run 3 case cut "1#9" --solver toy --at nowhere && run 3 case cut "1#9" --solver none'
echo "1..$n"
