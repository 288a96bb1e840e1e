#!/bin/bash
# What a mount does when nobody asks: disturbed results are measured again. Prints TAP.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"

if [ ! -w /dev/fuse ]; then
	echo "1..0 # SKIP no /dev/fuse here"
	exit 0
fi
mnt=$top/mnt
mkdir "$mnt" faults
export SOLVERFS_FAULTS=$top/faults
# No sample is disturbed but by order: other processes of this machine have no say.
disturb() { printf 'fail %s\n' "$1" >faults/fresh && mv faults/fresh faults/measure.sample; } # EBUSY: each one; ENODATA: none
is_mounted() { grep -q "$(printf '%s' "$mnt" | sed 's/ /\\\\040/g') fuse.solverfs" /proc/self/mounts; }
clean_up() {
	is_mounted && timeout 20 "$solverfs" -q unmount --lazy "$mnt"
	cd /
}
json() { python3 -c "import json, sys; o = json.loads(open('out').readline()); print($1)"; }
waiting() { run 0 status --json && [ "$(json 'o["disturbed"]')" = "$1" ]; } # N results wait
setting() { sed -i "/^\t$1 = /d; s/^\[solverfs\]$/&\n\t$1 = $2/" "$SOLVERFS_STORE/config"; }
remount() { { ! is_mounted || run 0 unmount "$mnt"; } && run 0 mount "$mnt"; }

run 0 init -q
make_toy
printf '; answer: sat\n(check-sat) ; 1\n' >a.smt2
printf '; answer: sat\n(check-sat) ; 2\n' >b.smt2
printf '; answer: sat\n(check-sat) ; 3\n' >c.smt2
run 0 solver add toy toy --recipe recipes/toy.recipe -q
run 0 case add a.smt2 b.smt2 c.smt2

# -- disturbed results --

disturb EBUSY
test_that "a disturbed result waits for a quiet machine, and status says so" '
	run 0 run toy v1 a.smt2 b.smt2 && [ "$(field 9 | sort -u)" = disturbed ] && waiting 2 && run 0 status && has err "^2 disturbed results: a mount measures them again"'
test_that "whoever does not want that says so" '
	setting remeasure 0 && disturb ENODATA && remount && [ -s "$mnt/toy/commits/v1/cases/3/time" ] && waiting 2 && grep -q "\"disturbed\": true" "$mnt/toy/commits/v1/cases/1/run.json"'
setting remeasure 100
test_that "a mount measures them again, and shows the new results" '
	cp "$mnt/toy/commits/v1/cases/1/run.json" before && remount && await "waiting 0" && await "grep -q \"\\\"disturbed\\\": false\" \"$mnt/toy/commits/v1/cases/1/run.json\"" &&
	run 0 run toy v1 a.smt2 b.smt2 && ! field 9 | grep -q disturbed && ! cmp -s before "$mnt/toy/commits/v1/cases/1/run.json"'
test_that "by those who look at the same cell for the first time, too" 'run 0 run toy v1 a.smt2 --json && [ "$(json "o[\"disturbed\"]")" = False ]'
run 0 unmount "$mnt"
disturb EBUSY
printf '; answer: sat\n(check-sat) ; 4\n' >d.smt2
printf '; answer: sat\n(check-sat) ; 5\n' >e.smt2
printf '; answer: sat\n(check-sat) ; 6\n' >f.smt2
run 0 case add d.smt2 e.smt2 f.smt2
run 0 run toy v1 d.smt2
test_that "one that is disturbed again and again stays as it is, flagged, and waits no longer" '
	waiting 1 && run 0 run toy v1 d.smt2 --print run.json && cp -f out before && remount && await "waiting 0" && run 0 run toy v1 d.smt2 --print run.json && cmp before out &&
	has out "\"disturbed\": true"'
disturb ENODATA
test_that "whoever measures it by hand clears it" 'run 0 run toy v1 d.smt2 --again && [ "$(field 9)" = - ] && waiting 0'
setting remeasure 0
disturb EBUSY
printf '(set-info :status unsat)\n(declare-const a Bool)\n(declare-const b Bool)\n(assert (or a b))\n(check-sat)\n' >g.smt2
run 0 case add g.smt2
cell=$mnt/toy/commits/v3/scrambled/1/cases/g.smt2
test_that "that of a scrambled input, too" '
	remount && grep -q "\"disturbed\": true" "$cell/run.json" && waiting 1 && setting remeasure 100 && disturb ENODATA && remount && await "waiting 0" &&
	grep -q "\"disturbed\": false" "$cell/run.json"'
test_that "its wrong answer is told" 'run 0 status && has err "WRONG ANSWER: toy .* says sat on case .*scrambled.1.g.smt2.*, whose status is unsat"'
run 0 unmount "$mnt"
disturb EBUSY
run 0 run toy v1 d.smt2 --again
test_that "a disturbed run counts for nothing beside another" '[ "$(field 9)" = - ] && waiting 0'
printf '; answer: sat\n(check-sat) ; 7\n' >h.smt2
run 0 case add h.smt2
run 0 run toy v1 f.smt2 h.smt2
test_that "a case that was removed is not measured, one beside it is" '
	waiting 2 && run 0 case remove f.smt2 && disturb ENODATA && remount && await "waiting 0" && run 0 run toy v1 h.smt2 && [ "$(field 9)" = - ]'
test_that "nothing is built for it" '
	run 0 unmount "$mnt" && disturb EBUSY && run 0 run toy v1 e.smt2 && run 0 gc --keep 0 && waiting 1 && disturb ENODATA && remount && await "waiting 0" &&
	run 0 run toy v1 e.smt2 --print run.json && has out "\"disturbed\": true"'
run 0 unmount "$mnt"

echo "1..$n"
