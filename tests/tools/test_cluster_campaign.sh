#!/bin/bash
# Campaigns, localizations and reductions whose runs are done by a cluster, of workers on this machine. The head has no helper of its own to run anything
# with, so that a run which is not the cluster's fails. Prints TAP. Usage: test_cluster_campaign.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time

make_script slow
script_commit slow 1 ''
script_commit slow 2 '# the same'
script_commit slow 3 'grep -q str.len "$case" && echo "lasts 20" >&2'
script_commit slow 4 'grep -q str.len "$case" && while :; do :; done'
toy_recipe slow 'timeout = 2s'
run 0 init && run 0 solver add slow slow --recipe slow.recipe
run 0 build slow v1 v2 v3 v4
sed -i 's/^\tversion = 1/&\n\treduce = 20s/' store/config
add_lab SOLVERFS_EXEC
cat >>store/config <<END
[cluster "brief"]
	launch = "unset SOLVERFS_EXEC; exec {worker} --slots 1 --folder \"\$top/node\" --for 18s"
[cluster "wide"]
	launch = "unset SOLVERFS_EXEC; export SOLVERFS_FAULTS=\"\$top/wide\"; exec {worker} --slots 2 --folder \"\$top/node\""
	workers = 1
[cluster "broken"]
	launch = "echo no such partition >&2; exit 1; {worker}"
END
campaign() { # campaign STATUS NAME OPTION...
	local status=$1 name=$2
	shift 2
	timeout -k 5 200 "$solverfs" fuzz slow --name "$name" --for 100s --threshold 700ms --timeout 1500ms --no-reduce --reference v1 --target v3 "$@" >out 2>err </dev/null
	[ $? = "$status" ] || { echo "# ended with another status than $status"; return 1; }
}

test_that "a cluster that the config does not name is refused" 'campaign 2 none --on nowhere && has err "no \[cluster .nowhere.\]"'
test_that "a cluster of which no worker can be had ends the campaign with its words" 'campaign 4 none --on broken && has err "no such partition"'

export SOLVERFS_EXEC=/nonexistent/solverfs-exec
printf '(check-sat)\n' >plain.smt2
printf '(declare-const x String)\n(assert (= (str.len x) 3))\n(check-sat)\n' >length.smt2
run 0 case add plain.smt2 length.smt2
test_that "the head itself can run nothing" 'run 4 run --on local slow v1 1 && has err "SOLVERFS_EXEC"'
test_that "all runs of a campaign are the cluster's" 'campaign 0 away --on lab --max-finds 1 --no-localize && has err "found spr/1: v1 .*v3 more than 1.5" && [ $(sort -u launched | wc -l) = 2 ]'

# With --on, while every core of the head belongs to somebody else; the workers have cores of their own.
cat >>store/config <<END
[cluster "far"]
	launch = "echo \$\$ >>\"\$top/launched far\"; unset SOLVERFS_EXEC; export SOLVERFS_SLOTS=\"\$top/far slots\"; exec {worker} --slots 1 --folder \"\$top/node\""
	workers = 2
END
hold_cores
clean_up() { let_cores_go; }
test_that "localize has --on" 'run 0 localize slow length.smt2 --reference v1 --target v3 --on far && has out "$(git -C slow rev-parse v3 | cut -c1-12)"'
test_that "so has reduce, which holds no core of the head" 'run 0 reduce slow spr/1 --on far --for 5s && has out "str.len"'
test_that "and compare" 'run 0 compare slow@v1 slow@v2 plain.smt2 --one-seed --on far && [ -s "launched far" ]'
let_cores_go
test_that "a place that the config does not name is refused by each" '
	for c in "localize slow length.smt2 --reference v1 --target v3" "reduce slow spr/1" "compare slow@v1 slow@v2"; do
		run 2 $c --on nowhere && has err "no \[cluster .nowhere.\]" || exit 1
	done'
test_that "--on is for versions and for what is run" 'run 2 reduce plain.smt2 --command true --on lab && run 2 compare slow@v1 slow@v2 --machine far --on lab'
cp "launched far" before
test_that "what one place found is no answer of another" 'run 0 localize slow length.smt2 --reference v1 --target v3 --on far && cmp -s "launched far" before &&
	! timeout -k 5 20 "$solverfs" localize slow length.smt2 --reference v1 --target v3 --on local >out 2>err && has err "SOLVERFS_EXEC"'

sed -i 's/^\tversion = 1/&\n\truns = lab/' store/config
test_that "so are those of the commits that are looked for" 'run 0 localize slow length.smt2 --reference v1 --target v3 && has out "$(git -C slow rev-parse v3 | cut -c1-12)"'
test_that "and of a reduction" 'run 0 reduce slow spr/1 && has out "str.len" && [ $(stat -c %s out) -lt 200 ]'
# Its runs may take ten seconds by the clock, once it is seen that it computes for the two that it has.
sed -i 's/^\truns = lab/\truns = brief/' store/config
test_that "a worker that ends before a run of a reduction might is none for it, and that is said" '
	unset SOLVERFS_FAULTS; run 4 reduce slow length.smt2 --reference v1 --target v4 --timeout 2s && has err "a run of up to 10s fits into no worker of the cluster brief"'
sed -i 's/^\truns = brief/\truns = lab/' store/config
test_that "a version with arguments runs where the others do" 'campaign 0 options --max-finds 1 --no-localize --target v3:--again'
# Each run waits while it goes on: as many came by as there are at once, behind two that ask what the versions are, and one of each that it answers at all.
want=$(($(nproc) < 2 ? 1 : 2))
tell_time "$top/wide" && echo block after 4 >wide/keeper.begun
campaign 0 wide --on wide --logic QF_SLIA --max-finds 1 --no-localize --seed 2 &
await '[ "$(stat -c %s wide/keeper.begun.met 2>/dev/null)" = $((want + 4)) ]'
at_once=$(($(stat -c %s wide/keeper.begun.met 2>/dev/null) - 4))
rm wide/keeper.begun
wait $!
ok $? "a campaign ends where a worker has several slots"
test_that "it uses all of them at once" '[ "$at_once" = "$want" ]'
unset SOLVERFS_EXEC
test_that "a campaign goes on where it began" 'campaign 2 away --on local && has err "ran on lab/.* before"'
left_of launched >left
test_that "no worker is left" 'empty left'

# A campaign whose worker is killed loses the run, and does it again.
: >launched
campaign 0 killed --no-localize --max-finds 3 -j 1 &
await '[ -s launched ] && ls -d node/scratch/run-*/ >/dev/null 2>&1'
kill -9 "$(head -1 launched)"
wait $!
ok $? "a worker that is killed in the middle ends no campaign"
test_that "another one took its place" '[ $(sort -u launched | wc -l) -ge 2 ] && has err "warning: cluster lab: "'
echo "1..$n"
