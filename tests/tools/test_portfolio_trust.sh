#!/bin/bash
# An arm that lies, through the real command: its answers are never served, count for nothing, and cost it its place. Prints TAP.
# Usage: test_portfolio_trust.sh SOLVERFS
. "$(dirname "$0")/command.sh"

make_mount

# The liar says sat of everything, at once. The others take a moment, and say what stands in the case; "third" does not know more than that it is hard.
printf '#!/bin/sh\necho sat\n' >liar.sh
printf '#!/bin/sh\nsleep 0.1\nsed -n "s/^; truth: //p" "$1"\n' >honest.sh
printf '#!/bin/sh\nsleep 0.1\necho unknown\n' >third.sh
chmod +x ./*.sh
arm() { echo "$1: '$top/$1.sh' {case}"; }
for i in $(seq 26); do
	truth=$([ $((i % 3)) = 0 ] && echo sat || echo unsat)
	printf '; case %d\n; truth: %s\n(set-logic QF_LIA)\n(set-info :status %s)\n(check-sat)\n' "$i" "$truth" "$truth" >"known$i.smt2"
done
for i in 1 2 3; do printf '; case %d\n; truth: unsat\n(set-logic QF_LIA)\n(check-sat)\n' "$i" >"open$i.smt2"; done
run 0 init -q
run 0 case add open?.smt2 known?.smt2 known??.smt2
by() { awk -F'\t' -v s="$1" '$4 == s' out | grep -c .; } # by ARM: cases that it answered

run 0 portfolio add p "$(arm liar)" "$(arm honest)" --timeout 10s
"$solverfs" portfolio run p open1.smt2 open2.smt2 >before 2>/dev/null
test_that "before anybody knows better, an arm is believed" '[ "$(cut -f 2 before | sort -u)" = sat ] && [ "$(cut -f 4 before | sort -u)" = liar ]'
test_that "of 26 cases whose :status is known none is answered wrongly, and all are answered" '
	run 1 portfolio run p known{1..26}.smt2 && [ "$(grep -c . out)" = 26 ] && [ "$(by honest)" = 26 ] &&
	for i in $(seq 26); do [ "$(awk -F"\t" -v n="known$i.smt2" "\$5 == n { print \$2 }" out)" = "$(sed -n "s/^; truth: //p" "known$i.smt2")" ] || exit 1; done'
test_that "its first wrong answer is told, and it is not asked for another one" '
	[ "$(grep -c "SOUNDNESS: .*liar says sat, the case.s :status is unsat" err)" -le $(($(nproc) + 1)) ] && grep -q SOUNDNESS err' # those that were under way
test_that "what it answered before is taken back: the cases are asked anew" '
	run 0 portfolio show p && has out "^# taken back: case 1: liar said sat; it is asked anew" && run 0 portfolio run p open1.smt2 open2.smt2 && [ "$(field 2 | sort -u)" = unsat ] && [ "$(by honest)" = 2 ]'
test_that "its place is lost until the portfolio is reset, and the reason is shown" '
	run 0 portfolio run p open3.smt2 && [ "$(by honest)" = 1 ] && run 0 portfolio show p &&
	has out "^liar.*asked no more until the portfolio is reset: wrong on case [0-9]+: liar says sat, the case.s :status is unsat" && ! has out "taken back" && run 0 portfolio list && [ "$(field 4)" = 29 ]'
test_that "the mount answers the same, and names no liar" '
	run 0 mount "$mnt" && [ "$(cat "$mnt/portfolios/p/cases/1/result")" = unsat ] && [ "$(cat "$mnt/portfolios/p/cases/1/solver")" = honest ]; r=$?; run 0 unmount "$mnt"; (exit $r)'
test_that "after a reset it is an arm like any other" '
	run 0 portfolio reset p && run 0 portfolio show p && ! has out "asked no more" && run 0 portfolio list && [ "$(field 4)" = 0 ]'
test_that "an arm that is seen to be wrong alone has no place either" '
	run 1 portfolio run p known1.smt2 --alone && run 0 portfolio show p && has out "^liar.*asked no more" && run 0 portfolio run p open1.smt2 && [ "$(field 2,4)" = "$(printf "unsat\thonest")" ]'

printf '(set-logic QF_LIA)\n(set-info :status sat)\n(check-sat)\n(set-info :status unsat)\n(check-sat)\n' >two.smt2
printf '#!/bin/sh\necho sat\necho sat\n' >twice.sh && chmod +x twice.sh
test_that "of a script with two queries the last answer counts" '
	run 0 case add two.smt2 && run 0 portfolio add twice "$(arm twice)" --timeout 10s && run 1 portfolio run twice two.smt2 && has err "SOUNDNESS: .*twice says sat, the case.s :status is unsat" && [ "$(field 2)" = unknown ]'

printf '#!/bin/sh\necho sat\necho "(error \\"line 1\\")"\necho sat\n' >unsure.sh && chmod +x unsure.sh
test_that "an answer behind an error may be of another formula: it is none, and no arm is wrong for it" '
	run 0 portfolio add unsure "$(arm unsure)" --timeout 10s && run 0 portfolio run unsure two.smt2 --alone && ! has err SOUNDNESS && run 0 portfolio show unsure && ! has out "asked no more" && has out "soundness alarms: 0"'

# Nobody knows who is right: no :status.
run 0 portfolio add q "$(arm liar)" "$(arm honest)" "$(arm third)" --timeout 10s
test_that "where arms contradict each other and no :status decides, nobody is served" '
	{ run 0 portfolio run q open1.smt2 --alone || has err SOUNDNESS; } && run 1 portfolio run q open1.smt2 && [ "$(field 2,4)" = "$(printf "unknown\t-")" ] && has err "SOUNDNESS: .* says (sat|unsat), .* says"'
"$solverfs" portfolio run q open2.smt2 >before 2>/dev/null
test_that "an answer that another arm contradicts later is taken back" '
	[ "$(cut -f 2 before)" != unknown ] && { run 0 portfolio run q open2.smt2 --alone || has err SOUNDNESS; } && run 1 portfolio run q open2.smt2 && [ "$(field 2)" = unknown ] && run 0 fsck'
test_that "when one of them is proven wrong, the other is believed" '
	run 1 portfolio run q known1.smt2 --alone && run 0 portfolio show q && has out "^liar.*asked no more" && run 0 portfolio reset q && run 1 portfolio run q known2.smt2 --alone &&
	{ run 0 portfolio run q open1.smt2 || has err SOUNDNESS; } && [ "$(field 2,4)" = "$(printf "unsat\thonest")" ]'
run 0 portfolio add r "$(arm liar)" --timeout 10s
test_that "where every arm was wrong nobody is asked" '
	run 1 portfolio run r known1.smt2 && [ "$(field 2,4)" = "$(printf "unknown\t-")" ] && has err "^solverfs: warning: portfolio r: liar is asked no more: case 4: liar says sat" &&
	run 1 portfolio run r open3.smt2 && [ "$(field 2,4)" = "$(printf "unknown\t-")" ] && [ "$(grep -c . err)" = 1 ] && has err "case [0-9]+: no arm is left, as every arm was wrong before"'
test_that "... and that is no alarm" 'run 0 portfolio show r && has out "soundness alarms: 1$" && [ "$(grep -c "^# alarm" out)" = 1 ]'

# A :status that is wrong itself: "second" is another solver than "honest", and "again" is not.
{ cat honest.sh; echo "# another program"; } >second.sh && chmod +x second.sh && cp honest.sh copy.sh
for i in 1 2; do printf '; case %d\n; truth: sat\n(set-logic QF_LIA)\n(set-info :status unsat)\n(check-sat)\n' "$i" >"misjudged$i.smt2"; done
run 0 case add misjudged?.smt2
run 0 portfolio add s "$(arm honest)" "$(arm second)" --timeout 10s
test_that "when two solvers agree against a :status it is what is doubted: nobody is served, the alarm names the case" '
	run 1 portfolio run s misjudged1.smt2 && [ "$(field 2,4)" = "$(printf "unknown\t-")" ] &&
	has err "^solverfs: SOUNDNESS: .*(honest and second|second and honest) say sat, the case.s :status is unsat: one of them is wrong"'
test_that "nor does a warning say so" '! has err "asked no more"'
test_that "and no arm loses its place for it" '
	run 0 portfolio show s && ! has out "asked no more" && has out "^# alarm: case [0-9]+: .* say sat" && run 0 portfolio run s known1.smt2 known3.smt2 && [ "$(field 2)" = "$(printf "unsat\nsat")" ]'
test_that "so it is when they are run alone, one behind the other" '
	run 0 portfolio reset s && run 1 portfolio run s misjudged2.smt2 --alone && run 0 portfolio show s && ! has out "asked no more"'
run 0 portfolio add v "$(arm liar)" "$(arm second)" --timeout 10s
test_that "an arm that was wrong elsewhere is no witness" '
	run 1 portfolio run v known1.smt2 --alone && run 1 portfolio run v misjudged1.smt2 --alone && run 0 portfolio show v && has out "^liar.*asked no more" && has out "^second.*asked no more"'
run 0 portfolio add one "$(arm honest)" "again: '$top/honest.sh' {case} --again" --timeout 10s
test_that "two arms of one solver are one witness" '
	run 1 portfolio run one misjudged1.smt2 --alone && run 0 portfolio show one && has out "^honest.*asked no more" && has out "^again.*asked no more"'
honest="exec:'$top/honest.sh'" second="exec:'$top/second.sh'"
test_that "so are a command and a program of the machine with its bytes, and a copy" '
	run 0 portfolio add alike "$(arm honest)" "$honest" "$(arm copy)" --timeout 10s && run 1 portfolio run alike misjudged1.smt2 --alone && run 0 portfolio show alike &&
	[ "$(grep -c "asked no more" out)" = 3 ]'
test_that "programs of the machine with other bytes are two solvers" '
	run 0 portfolio add programs "$honest" "$second" --timeout 10s && run 1 portfolio run programs misjudged1.smt2 && has err "SOUNDNESS: .* and .* say sat" &&
	run 0 portfolio show programs && ! has out "asked no more"'
test_that "each arm that was wrong has its own reason" '
	run 0 portfolio reset one && run 1 portfolio run one misjudged1.smt2 && run 0 portfolio show one && has out "^honest.*: honest says sat" && has out "^again.*: again says sat"'

echo "1..$n"
