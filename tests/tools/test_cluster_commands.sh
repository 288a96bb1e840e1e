#!/bin/bash
# Each command that measures, where the store's runs are done by a cluster: all of them, one solver's, those of one command. The head has no helper of its
# own to run anything with, so that a run which is not the cluster's fails. Prints TAP. Usage: test_cluster_commands.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time
dir=$top/mnt && mkdir "$dir"
clean_up() { mountpoint -q "$dir" && "$solverfs" unmount -q "$dir"; }

make_script slow
list() { echo "[ \$1 = --list ] && echo '  --go=bool  x [$1]' && exit"; }
script_commit slow 1 "$(list false)"
slow="$(list true)"'
echo "$*" | grep -q go=false || { grep -q str.len "$case" && echo "lasts 1.5" >&2; }'
script_commit slow 2 "$slow"
script_commit slow 3 "$slow # as before"
echo exit 7 >slow/build.sh && script_commit slow 4 '# cannot be built' && git -C slow reset -q --hard v3
toy_recipe slow 'timeout = 2s' 'options = --list' 'run = {bin} {seed} {case}' 'seed = --seed {n}'
printf '(set-logic QF_S)\n(check-sat)\n' >plain.smt2
printf '(set-logic QF_S)\n(declare-const x String)\n(assert (= (str.len x) 3))\n(check-sat)\n' >length.smt2
mkdir seeds && printf '(set-logic QF_S)\n(declare-const x String)\n(assert (= x "a"))\n(check-sat)\n' >seeds/a.smt2
run 0 init && run 0 solver add slow slow --recipe slow.recipe && run 0 case add plain.smt2 length.smt2
run 0 build slow v1 v2 v3
run 1 build slow v4
add_lab SOLVERFS_EXEC
cat >>store/config <<END
[portfolio "both"]
	arm = slow@v2
	arm = slow@v1
	timeout = 2s
[portfolio "broken"]
	arm = slow@v4
	arm = slow@v1
	timeout = 2s
[portfolio "mixed"]
	arm = slow@v1
	arm = echo: /bin/echo sat
END
cp -a store fresh

# A store that has never seen a worker, whose runs are done: all at lab; those of the solver; none but of commands with --on.
new_store() {
	cat launched >>all.launched 2>/dev/null
	rm -rf store && cp -a fresh store && : >launched
	case $1 in
	whole) sed -i 's/^\tversion = 1/&\n\truns = lab/' store/config ;;
	solver) sed -i '/^\[solver "slow"\]/a\	runs = lab' store/config ;;
	esac
}
export SOLVERFS_EXEC=/nonexistent/solverfs-exec
# away WAY STATUS ARGUMENT...: on a new store; with --on lab where WAY is "on". A worker has to have come.
away() {
	local way=$1 status=$2
	shift 2
	new_store "$way"
	[ "$way" = on ] && set -- "$@" --on lab
	run "$status" "$@" && [ -s launched ]
}

new_store on
test_that "the head itself can run nothing" 'run 4 run slow v1 1 && has err "SOLVERFS_EXEC"'
# by_turns DESCRIPTION CONDITION: with --on always; of the store's setting and the solver's one, the next time the other: both are read at one place for all
# commands (solver_new() in core/workspace/workspace_solvers.c).
by_turns() {
	turn=$((turn + 1))
	case $way-$((turn % 2)) in whole-1 | solver-0 | on-*) test_that "$@" ;; esac
}
for way in whole solver on; do
	test_that "$way: run" "away $way 0 run slow v1 length.smt2 && has out '	sat	'"
	turn=0
	by_turns "$way: history" "away $way 0 history slow length.smt2 && [ \$(grep -c '	sat	' out) = 3 ]"
	by_turns "$way: compare" "away $way 0 compare slow@v1 slow@v2 --pairs 2 --json && jq -e '.set.compared == 2' out >/dev/null"
	by_turns "$way: noise" "away $way 0 noise slow v1 v2 all -n 2 && [ \"\$(cut -f 2 out | tr '\n' ' ')\" = '2 2 ' ]"
	by_turns "$way: localize" "away $way 0 localize slow length.smt2 --reference v1 --target v3 && has out '$(git -C slow rev-parse --short=12 v2)'"
	by_turns "$way: reduce" "away $way 0 reduce slow length.smt2 --reference v1 --target v2 --timeout 1700ms --for 3s && has out str.len"
	by_turns "$way: fuzz" "away $way 0 fuzz slow --reference v1 --target v2 --for 100s --threshold 700ms --timeout 1600ms --max-finds 1 --no-reduce --no-localize && has err 'found spr/1'"
	by_turns "$way: options" "away $way 0 options slow length.smt2 --reference v1 --target v2 --seeds 3 && has out '^--go=false restores it .*; 3 of 3 seeds'"
	by_turns "$way: diverge" "away $way 0 diverge slow length.smt2 v1 v2 && has out '^line	err	b	1	>	lasts 1.5'"
	by_turns "$way: case cut" "away $way 0 case cut length.smt2#1 --solver slow --at v2 && has out str.len && has err 'as slow alone: .* 1.5'"
	by_turns "$way: portfolio run" "away $way 0 portfolio run both all && [ \$(grep -c '	sat	' out) = 2 ]"
	by_turns "$way: portfolio run --alone" "away $way 0 portfolio run both all --alone && [ \$(grep -c '	sat	' out) = 4 ]"
done
for way in whole solver; do
	turn=0
	by_turns "$way: watch" "away $way 0 watch slow --once && [ -s launched ]"
	by_turns "$way: solver try" "away $way 0 solver try slow v1 plain.smt2 --once && has out '^answer	ok'"
	by_turns "$way: seeds.tsv of a finding" "
		away $way 0 fuzz slow --reference v1 --target v2 --for 100s --threshold 700ms --timeout 1600ms --max-finds 1 --no-reduce && : >launched &&
		run 0 mount \"\$dir\" && timeout 100 cat \"\$dir\"/slow/spr/1/seeds.tsv >rows && [ \$(wc -l <rows) = 31 ] && [ -s launched ]; r=\$?; run 0 unmount \"\$dir\" && [ \$r = 0 ]"
	by_turns "$way: incompleteness" "away $way 0 incompleteness slow --at v1 --seeds seeds --iterations 2 --for 100s --no-reduce --no-localize"
done
test_that "two versions at two places are refused" '
	new_store solver && ( unset SOLVERFS_EXEC; run 2 diverge slow plain.smt2 v1 "exec:/bin/echo sat" && has err "done at two places, lab and local: name one by --on" &&
	run 2 options slow plain.smt2 --reference v1 --target "exec:/bin/echo sat" && has err "done at two places" )'
test_that "a profile is taken here" 'new_store on && run 0 diverge slow plain.smt2 v1 v2 --profile --on lab && has err "add --on local"'
test_that "a place that the config does not name is refused by each" '
	for c in "history slow 1" "noise slow v1 1" "portfolio run both 1"; do run 2 $c --on nowhere && has err "no \[cluster .nowhere.\]" || exit 1; done'
test_that "--on is for what is run" 'run 2 history slow 1 --machine lab --on lab && has err "exclude each other"'
test_that "steps reads what history measured there" 'new_store whole && run 0 history slow length.smt2 && run 0 steps slow length.smt2 && has err "^1 case"'

# -- a portfolio: each arm that has a turn is a cell like any other, and the turns are counted off their times --

new_store whole
test_that "the answer is a turn of the first arm, and one of the second" '
	run 0 portfolio run both length.smt2 --json && jq -e ".solver == \"slow@v1\" and .time < 1.5" out >/dev/null'
test_that "... kept: nobody is asked again" ': >launched; cp out first; run 0 portfolio run both length.smt2 --json && cmp out first && empty launched'
test_that "... as are the runs it took" 'run 0 run slow v1 v2 length.smt2 && [ $(grep -c "	sat	" out) = 2 ] && empty launched'
test_that "an arm that had no turn was not run" 'run 0 portfolio run both plain.smt2 && run 0 export -f csv slow --machine lab && [ $(wc -l <out) = 4 ]'
test_that "what was answered at lab is no answer of this machine" '
	! timeout 60 "$solverfs" portfolio run both length.smt2 --on local >out 2>err && has err "SOLVERFS_EXEC" && run 0 portfolio list && has out "^both	2	2s	2$"'
test_that "a commit that cannot be built is an arm that fails at once" 'run 0 portfolio run broken plain.smt2 && has out "	sat	.*	slow@v1	"'
test_that "... alone, too" 'run 0 portfolio run broken plain.smt2 --alone && has out "	unbuildable	.*slow@v4" && has out "	sat	.*slow@v1"'
test_that "arms on two machines are refused" '
	run 4 portfolio run mixed plain.smt2 && has err "the arms of the portfolio mixed run on two machines, slow@v1 at lab and echo at local: let them run on one"'
test_that "its score reads what was measured there" 'run 0 portfolio run both all --alone && run 0 portfolio show both && has out "^virtual best	[1-9]"'
new_store whole
run 0 mount "$dir"
test_that "the mount answers from there, too" '[ "$(cat "$dir/portfolios/both/cases/2/result")" = sat ] && [ "$(cat "$dir/portfolios/both/cases/2/solver")" = slow@v1 ] && [ -s launched ]'
run 0 unmount "$dir"
cat launched >>all.launched
left_of all.launched >left
test_that "no worker is left" 'empty left'
echo "1..$n"
