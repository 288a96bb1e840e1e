#!/bin/bash
# Queries of a script: queries.tsv, CASE#N in commands, queries/ of a mount.
# shellcheck disable=SC2016,SC2034
. "$(dirname "$0")/command.sh"
make_mount
tell_time

# It answers each check-sat as the comment behind it says, else as the last string, after so many milliseconds: those of v1, then those of v2. Words like "crash" end it.
make_repository toy
version() { # version TAG COLUMN
	cat >toy/toy.sh <<END
#!/bin/sh
for case; do :; done
awk -v c=$2 '/^\(exit/ { exit } match(\$0, /"[a-z]+ [0-9]+ [0-9]+"/) { else_ = substr(\$0, RSTART + 1, RLENGTH - 2) }
	/^\(check-sat/ { if (NF < 4) \$0 = "(check-sat) ; " else_; t = \$(3 + c); all += t
	if (t == "crash") { system("kill -SEGV " pid) ; exit }
	print \$3; print "line " t / 1000 > "/dev/stderr" } END { print "lasts " all / 1000 > "/dev/stderr" }' pid=\$\$ "\$case"
END
	echo 'cp toy.sh toy && chmod +x toy' >toy/build.sh
	git -C toy add -A && git -C toy commit -q -m "$1" && git -C toy tag "$1"
}
version v1 1 && version v2 2
toy_recipe toy 'timeout = 10s'
cat >inc.smt2 <<'END'
(set-logic ALL)
(push 1)
(check-sat) ; sat 100 100
(pop 1)
(check-sat) ; unsat 20 20
(set-info :status sat) (assert (distinct "sat 30 900" "time"))
(check-sat) ; sat 30 900
(check-sat) ; unknown 5 5
END
printf '(check-sat) ; sat 10 10\n(check-sat) ; sat 20 crash\n(check-sat) ; sat 5 5\n' >crash.smt2
printf '(check-sat) ; sat 10 10\n(check-sat) ; unsat 20 30000\n(check-sat) ; sat 5 5\n' >slow.smt2
printf '(check-sat) ; sat 10 10\n(exit)\n(check-sat) ; sat 5 5\n' >one.smt2
run 0 init && run 0 solver add --recipe toy.recipe toy toy && run 0 case add inc.smt2 crash.smt2 slow.smt2 one.smt2 || { cat err; exit 1; }
tab() { tr '\t\n' ' |' <"$1"; }

# -- the table --
test_that "queries.tsv has a row for each check-sat: its line, answer, seconds" 'run 0 run toy v1 inc.smt2 --print queries.tsv && cut -f 1-4 out >table &&
	[ "$(tab table)" = "query line result seconds|1 3 sat 0.100000|2 5 unsat 0.020000|3 7 sat 0.030000|4 8 unknown 0.005000|" ]'
test_that "a run that ends in the middle: its query, and none behind it" 'run 0 run toy v2 crash.smt2 slow.smt2 && run 0 run toy v2 slow.smt2 --print queries.tsv && cut -f 1-4 out >table &&
	[ "$(tab table)" = "query line result seconds|1 1 sat 0.010000|2 2 timeout 9.990000|3 3 - -|" ] && run 0 run toy v2 crash.smt2 --print queries.tsv && has out "^2	2	crash	" && has out "^3	3	-	-"'
test_that "what stands behind (exit) is no query" 'run 0 run toy v1 one.smt2 --print queries.tsv && [ "$(wc -l <out)" = 2 ]'
test_that "the answers of a script are the same in a row and in JSON" '
	for words in "run toy v1 inc.smt2 --json" "export --format jsonl toy v1 inc.smt2" "history toy inc.smt2 --json"; do
		run 0 $words && has out "\"result\": ?\"sat,unsat,sat,unknown\"" || exit 1
	done'

# -- CASE#N --
test_that "CASE#3 is a case" 'run 0 run toy v1 v2 "inc.smt2#3" && [ "$(cut -f 2,3,8 out | tr "\t\n" " |")" = "sat 0.030000 inc.smt2#3|sat 0.900000 inc.smt2#3|" ]'
test_that "... whose run is the script: nothing is run again" 'run 0 run toy v1 v2 "inc.smt2#all" && run 0 run toy v1 "inc.smt2#2-3" && [ "$(wc -l <out)" = 2 ]'
test_that "... it has an id of its own" 'id=$(run 0 run toy v1 "inc.smt2#3" && cut -f 1 out) && run 0 run toy v1 "$id" && has out "inc.smt2#3"'
test_that "... it is removed with its script only" 'id=$(run 0 run toy v1 "inc.smt2#3" && cut -f 1 out) && run 1 case remove "inc.smt2#3" && has err "case $id is question 3 of case 1: remove that"'
test_that "... it is not listed" 'run 0 case list && ! has out "#"'
test_that "... compared" 'run 0 compare toy@v1 toy@v2 "inc.smt2#all" inc.smt2 && has out "^regression.*slower.*inc.smt2#3$" && ! has out "inc.smt2#[124]$"'
test_that "... and not kept: its bytes ask more" 'run 0 compare toy@v1 toy@v2 "inc.smt2#3" --keep && has err "1 is a query" && run 0 findings toy && empty out'
test_that "... reduced, as the script that asks it alone" 'run 0 reduce toy "inc.smt2#3" --reference v1 --target v2 --keep slow --floor 500ms --for 5s && [ "$(grep -c check-sat out)" = 1 ] && has out "sat [0-9]* 900"'
test_that "... localized" 'run 0 localize toy --reference v1 --target v2 "inc.smt2#3" && has out "$(git -C toy rev-parse v2)"'
printf '(set-info :status sat)\n(check-sat) ; sat 10 10\n(check-sat) ; unsat 30 900\n' >headed.smt2
test_that "a status is of its question: the last answer is not judged by it" '
	run 0 case add headed.smt2 && id=$(cut -f 1 out) && run 0 run toy v1 v2 headed.smt2 && [ "$(field 2,7 | tr "\t\n" " |")" = "sat,unsat -|sat,unsat -|" ] &&
	run 0 case list "$id" --json && has out "\"status\": ?\"unknown\"" && run 0 run toy v1 "headed.smt2#1" && [ "$(field 7)" = correct ]'
test_that "... and a slow last question is localized" 'run 0 localize toy --reference v1 --target v2 headed.smt2 && has out "$(git -C toy rev-parse v2)"'
test_that "... in a history" 'run 0 history toy "inc.smt2#3" && has out 0.9'
test_that "a number that is none is refused" 'run 3 run toy v1 "inc.smt2#5" && has err "has 4 check-sat" && run 3 run toy v1 "inc.smt2#0" && run 3 run toy v1 "inc.smt2#x" && has err "no case .inc.smt2#x." &&
	echo "(assert true)" >none.smt2 && run 0 case add none.smt2 && run 3 run toy v1 "none.smt2#all" && has err "none.smt2#all. names no query: there is no check-sat"'
test_that "a # elsewhere in a word begins no query" 'mkdir "made#1" && echo "(check-sat) ; marked" >"made#1/m.smt2" && run 0 case add --name "b#1/m.smt2" "made#1/m.smt2" &&
	for word in "b#1/" "b#*" "made#1/m.smt2" "b#1/m.smt2#1"; do run 0 case list "$word" && [ "$(wc -l <out)" = 1 ] || exit 1; done'
test_that "--again wants the whole script" 'run 2 run toy v1 "inc.smt2#3" --again && has err "whole scripts"'

# -- the mount --
"$solverfs" mount "$mnt" >/dev/null 2>err || { cat err; exit 1; }
q=$mnt/toy/commits/v2/cases/1
test_that "the mount has the table" 'run 0 run toy v2 inc.smt2 --print queries.tsv && cmp out "$q/queries.tsv"'
test_that "... and a folder for each query" '[ "$(ls "$q/queries" | tr "\n" " ")" = "1 2 3 4 " ] && is "$q/queries/3/time" 0.900000 && is "$q/queries/3/result" sat && [ ! -e "$q/queries/5" ]'
test_that "... under a seed or another limit, too" 'is "$mnt/toy/commits/v2/timeout/500ms/cases/1/queries/3/result" timeout && is "$mnt/toy/commits/v2/timeout/500ms/cases/1/queries/2/result" unsat'
test_that "... a script with one has none" '[ ! -e "$mnt/toy/commits/v1/cases/4/queries" ] && [ ! -e "$mnt/toy/commits/v1/cases/4/queries.tsv" ]'
test_that "... on a scrambled input, too, from the first look on" '
	c=$mnt/toy/commits/v2/scrambled/1/cases/1 && ls "$c" >out && has out "^queries$" && has out "^queries.tsv$" && [ "$(wc -l <"$c/queries.tsv")" = 5 ] && is "$c/queries/1/result" sat'
test_that "... in cached/ once it was made" '
	c=$mnt/toy/cached/v2/scrambled && [ -e "$c/1/cases/1/queries/3/result" ] && [ ! -e "$c/2" ]'
test_that "cached/ has what is known" 'c=$mnt/toy/cached/v2/cases/1 && cmp "$c/queries.tsv" "$q/queries.tsv" && is "$c/queries/2/result" unsat'
test_that "after run --again the mount has the new times" 'run 0 run toy v2 inc.smt2 --again && is "$q/queries/3/time" 0.900000'
test_that "the report of a finding says which of its queries became slow" \
	'printf "(check-sat) ; sat 10 10\n(check-sat) ; unsat 30 900\n(check-sat) ; sat 5 6\n" >three.smt2 && run 0 case add three.smt2 &&
	run 0 compare toy@v1 toy@v2 three.smt2 --keep && cp "$mnt/toy/spr/1/report.md" report.md && grep -q "a script of 3 queries" report.md &&
	[ "$(grep "^| .three" report.md | tr -d "\140\n")" = "| three.smt2#2 | 2 | 0.03 | 0.9 || three.smt2#3 | 3 | 0.005 | 0.006 |" ]'
run 0 unmount "$mnt"
test_that "fsck and gc leave them alone" 'run 0 fsck && run 0 gc && run 0 run toy v1 "inc.smt2#3" && has out 0.030000'

# -- a script of one --
printf '(check-sat) ; sat 10 10\n' >late.smt2
test_that "a status that a script gets later judges its query, too" '
	run 0 case add late.smt2 && run 0 run toy v1 "late.smt2#1" && run 0 run toy v1 late.smt2 && run 0 case add --status unsat late.smt2 &&
	run 1 run toy v1 late.smt2 && run 1 run toy v1 "late.smt2#1"'

# -- watched --
run 0 set add asked "inc.smt2#all" && run 0 watch toy --once --set asked || cat err
printf '\n# and slower again\n' >>toy/toy.sh && sed -i 's/t = \$(3 + c); /t = $(3 + c); if (NR == 5) t *= 9; /' toy/toy.sh && git -C toy commit -q -a -m slower
test_that "watch takes a set of queries, and tells which one" 'run 6 watch toy --once --set asked && [ "$(wc -l <out)" = 1 ] && cp err told && run 0 run toy v1 "inc.smt2#2" && has told "slower at $(git -C toy rev-parse --short=12 HEAD) .*case $(cut -f 1 out) 0.02"'

# -- contradictions --
printf '(check-sat)\n(check-sat) ; two that nobody knows\n' >open.smt2
for g in sat unsat; do printf '#!/bin/sh\necho %s\necho unknown\n' $g >"say-$g" && chmod +x "say-$g"; done
one="exec:'$top/say-sat'" other="exec:'$top/say-unsat'"
test_that "two that contradict each other on a query before the last one" '
	run 0 case add open.smt2 && run 0 run "$one" open.smt2 && run 1 run "$other" open.smt2 && [ "$(field 2,7)" = "unsat,unknown	DISPUTED" ] &&
	has err "CONTRADICTION: case .* of its question 1: one of them is wrong" && run 1 run "$one" open.smt2 && [ "$(field 2,7)" = "sat,unknown	DISPUTED" ] &&
	run 0 export --format csv programs && [ "$(grep open.smt2 out | grep -c DISPUTED)" = 2 ]'
test_that "... on the query itself, and on no other" '
	run 1 run "$one" "$other" "open.smt2#1" && [ "$(field 7 | tr "\n" " ")" = "DISPUTED DISPUTED " ] && [ "$(grep -c "CONTRADICTION.* of its question 1" err)" = 1 ] &&
	run 0 run "$one" "$other" "open.smt2#2" && ! has out DISPUTED'

# -- answers that may be of another question, or of another formula --
for answer in sat unsat sat; do printf '(set-info :status %s)\n(check-sat)\n' $answer; done >stated.smt2
printf '(check-sat)\n(check-sat)\n(check-sat) ; three that nobody knows\n' >unstated.smt2
prints() { printf '#!/bin/sh\nprintf "%s"\n' "$2" >"$1" && chmod +x "$1"; }
of() { echo "exec:'$top/$1'"; }
prints skips 'sat\\nunsupported\\nsat\\n' && prints fails 'sat\\n(error no-such-command)\\nsat\\n' && prints drops 'sat\\n(error no-such-function)\\nsat\\nsat\\n'
prints twice 'sat\\nsat\\nunsat\\nsat\\n' && prints right 'sat\\nunsat\\n(error no-model)\\nsat\\n' && prints lies 'sat\\nsat\\n(error no-model)\\nsat\\n'
test_that "a solver that skips a question or an assertion is not wrong at those behind" '
	run 0 case add stated.smt2 unstated.smt2 && run 0 run "$(of skips)" "$(of fails)" "$(of drops)" "$(of twice)" "$(of right)" stated.smt2 &&
	[ "$(field 2,7 | tr "\t\n" " |")" = "sat,sat,unknown -|sat,sat,error -|sat,sat,sat correct|sat,sat,unsat,sat,error -|sat,unsat,sat correct|" ] && ! has err WRONG'
test_that "... nor does it contradict others there" '
	for program in right skips fails drops twice; do run 0 run "$(of $program)" unstated.smt2 && ! has out DISPUTED || exit 1; done'
test_that "... and not by a question of the script" 'run 0 run "$(of drops)" "$(of right)" "stated.smt2#2" "unstated.smt2#2" && ! has out "WRONG|DISPUTED"'
test_that "what is answered before is judged" '
	run 1 run "$(of lies)" stated.smt2 && [ "$(field 7)" = WRONG ] && run 1 run "$(of lies)" unstated.smt2 && [ "$(field 7)" = DISPUTED ] && has err "of its question 2"'

prints sure 'sat\\nunsat\\nsat\\n' && prints other 'sat\\nunsat\\nunsat\\n' && prints behind 'sat\\n(error no-such-function)\\nunsat\\nunsat\\n'
test_that "versions whose last answers contradict each other, compared" 'run 1 compare "$(of sure)" "$(of other)" unstated.smt2 --pairs 1 && has out contradict'
test_that "... but not by one behind an error" 'run 0 compare "$(of sure)" "$(of behind)" unstated.smt2 --pairs 1 && ! has out contradict'

# -- commands for whole cases --

test_that "who studies whole cases says so, and how to make a query one" '
	run 0 portfolio add p toy@v1 toy@v2 && for c in "portfolio run p 1#2" "portfolio features 1#2" "options toy 1#2 --reference v1 --target v2" "diverge toy 1#2 v1 v2" "solver try toy v1 1#2"; do
		run 2 $c && has err "inc.smt2#2 is one query of a script, .*solverfs case cut 1#2 -o FILE" || exit 1; done'

# -- a run that does not say when it answered --

printf '#!/bin/sh\n# late\nyes "line 0.000001" | head -n 65537 | while read -r l; do echo ";"; echo "$l" >&2; done\necho sat\necho sat\necho lasts 1 >&2\n' >toy/toy.sh
git -C toy commit -qam late && git -C toy tag late && run 0 -q solver update toy
test_that "the queries of one have no times, and who asks is told" '
	printf "(check-sat)\n(check-sat)\n" >untimed.smt2 && run 0 case add untimed.smt2 && run 0 run toy late untimed.smt2 && limit=60 run 4 run toy late "untimed.smt2#1" && has err "it is not known when the queries of case"'

# -- output that was cut --
for answer in sat unsat; do for _ in $(seq 200); do printf "(set-info :status $answer)\n(check-sat)\n"; done; done >many.smt2
printf '#!/bin/sh\nsed -n "s/.*status \\(.*\\))/\\1/p" "$1"\n' >many.sh && chmod +x many.sh && many="exec:'$top/many.sh' {case}"
run 0 case add many.smt2 && run 0 run "$many" one.smt2 && git config -f "$SOLVERFS_STORE/config" solver.programs.output-limit 1k
test_that "answers behind the cut are of no question" 'run 0 run "$many" many.smt2 && has out "sat,error	" && run 0 run "$many" many.smt2 --print run.json && has out "\"wrong\": false" &&
	run 0 run "$many" many.smt2 --print result && [ "$(sort out | uniq -c | tr -s " \n" " ")" = " 1 error 128 sat " ]'
echo "1..$n"
