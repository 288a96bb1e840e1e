#!/bin/bash
# Reduction from outside: between versions of a toy solver, and by a command. Prints TAP. Usage: test_reduce.sh SOLVERFS
. "$(dirname "$0")/command.sh"
clean_up() { fusermount3 -uz "$top/mnt" 2>/dev/null; }
mkdir tmp mnt && export TMPDIR=$top/tmp
tell_time
fault() { echo "$2" >faults/new && mv faults/new "faults/$1"; } # fault PLACE ORDER, as cache/base/fault.h says
met() { stat -c %s "faults/$1.met" 2>/dev/null || echo 0; }

# v2 is slow where an input measures the length of something, v3 crashes there, v4 does not know. v5 never knows.
make_slow() {
	make_repository slow
	echo 'cp slow.sh slow && chmod +x slow' >slow/build.sh
	slow_commit 1 'echo unsat'
	slow_commit 2 'grep -q str.len "$case" && echo "lasts 20" >&2; echo unsat'
	slow_commit 3 'grep -q str.len "$case" && { echo "bad length at 0x$$" >&2; kill -SEGV $$; }; echo unsat'
	slow_commit 4 'grep -q str.len "$case" && echo unknown || echo unsat'
	slow_commit 5 'echo unknown'
	toy_recipe slow 'timeout = 1500ms'
}
slow_commit() {
	printf '#!/bin/sh\nfor case; do :; done\ngrep -q check-sat "$case" || exit\n%s\n' "$2" >slow/slow.sh
	day_commit slow "$1" "v$1" && git -C slow tag "v$1"
}
make_slow
cat >input.smt2 <<'END'
; found by hand
(set-logic QF_S)
(declare-fun long () String)
(declare-fun other () String)
(declare-fun count () Int)
(assert (= other "nothing of interest"))
(assert (or (= other "") (< 3 (str.len (str.++ long "abc")))))
(assert (> count 12345))
(check-sat)
(exit)
END
echo '(assert (< 0 (str.len "")))
(check-sat)' >smallest.smt2
echo '(declare-fun s () String)(assert (= s "a"))(check-sat)' >quick.smt2
run 0 init && run 0 solver add slow slow --recipe slow.recipe

reduce() { # reduce STATUS ARGUMENT...
	local status=$1 got
	shift
	timeout -k 5 200 "$solverfs" reduce "$@" >out 2>err </dev/null
	got=$?
	[ $got = "$status" ] || { echo "# ended with $got, not $status"; return 1; }
}

# -- between versions --

test_that "a slow input becomes the smallest that is slow" \
	'reduce 0 slow input.smt2 --reference v1 --target v2 --floor 500ms -o slow.smt2 && is slow.smt2 "$(cat smallest.smt2)" && empty out && has err "v1: unsat .* unsat" && has err "v2: timeout .* timeout"'
test_that "one at a time, the same" \
	'reduce 0 slow input.smt2 --reference v1 --target v2 --floor 500ms -j 1 --again && is out "$(cat smallest.smt2)"'
test_that "a crash is kept with its message" \
	'reduce 0 slow input.smt2 --target v3 --json && has out "\"keeps\":\"crash\"" && has out "\"minimal\":true" && has out "str.len" && has out "\"now\":[0-9][0-9]?,"'
test_that "different answers are kept" \
	'reduce 0 slow input.smt2 --reference v1 --target v4 && is out "$(cat smallest.smt2)" && has err "kept: answers"'
test_that "a case of the store is reduced, too" \
	'run 0 case add input.smt2 && reduce 0 slow 1 --reference v1 --target v4 && is out "$(cat smallest.smt2)"'

test_that "the same again is known" '
	begun=$(met reduce.try) && reduce 0 slow 1 --reference v1 --target v4 && is out "$(cat smallest.smt2)" && [ "$(met reduce.try)" = "$begun" ] &&
	reduce 0 slow 1 --reference v1 --target v4 --again && is out "$(cat smallest.smt2)" && [ "$(met reduce.try)" -gt "$begun" ]'

make_script tight
script_commit tight 1 'grep -q str.len "$case" && [ "$(ulimit -s)" -lt 10000 ] && kill -SEGV $$'
toy_recipe tight 'stack = 4m' && run 0 solver add tight tight --recipe tight.recipe
test_that "what crashes within narrow limits is another question within wide ones" '
	reduce 0 tight input.smt2 --target v1 --keep crash && has out str.len && toy_recipe tight "stack = 64m" && run 0 solver add --replace --recipe tight.recipe tight &&
	reduce 2 tight input.smt2 --target v1 --keep crash && has err "does not crash"'

make_script apart
script_commit apart 1 'grep -q 12345 "$case" && echo "lasts 0.3" >&2 || echo "lasts 0.5" >&2'
script_commit apart 2 'echo "lasts 20" >&2'
toy_recipe apart 'timeout = 1500ms' && run 0 solver add apart apart --recipe apart.recipe
test_that "a text on which no run within the timeout can show the ratio is not taken" \
	'reduce 0 apart input.smt2 --reference v1 --target v2 --ratio 4 --floor 500ms -j 1 && has out 12345 && ! has out str.len'

# -- findings: reduced.smt2 --

timeout 200 "$solverfs" fuzz slow --name first --for 100s --threshold 300ms --timeout 800ms --no-localize --no-reduce -j 1 --max-finds 1 --reference v1 --target v2 >out 2>err </dev/null
run 0 mount mnt
reduced=mnt/slow/spr/1/reduced.smt2
state() { getfattr --only-values -n user.solverfs.state "$reduced"; }

test_that "looking at it starts nothing" '[ "$(state)" = cold ] && [ "$(stat -c %s $reduced)" = 4096 ] && ! grep -q "Reduced input" mnt/slow/spr/1/report.md'
test_that "a full disk is an error, and nothing is kept" '
	fault store.commit "fail ENOSPC" && ! cat $reduced >out 2>err && has err "No space left" && [ "$(state)" = failed ]; r=$?; rm -f faults/store.commit; (exit $r)'
test_that "killed in the middle, it goes on from what it had" '
	part="slow input.smt2 --reference v1 --target v2 --floor 400ms --ratio 4 -j 1"
	fault reduce.try "kill after $(($(met reduce.try) + 8))" && reduce 137 $part && rm -f faults/reduce.try &&
	reduce 0 $part --for 1ms --json && has out "\"minimal\":false" && [ "$(sed "s/.*\"now\":\([0-9]*\),.*/\1/" out)" -lt "$(stat -c %s input.smt2)" ] &&
	reduce 0 $part && is out "$(cat smallest.smt2)"'
test_that "killed while it continues one whose time was over, it loses nothing" '
	part="slow input.smt2 --reference v1 --target v2 --floor 300ms --ratio 4 -j 1"
	size() { sed "s/.*\"now\":\([0-9]*\),.*/\1/" out; }
	reduce 0 $part --for 1ms --json && first=$(size) && has out "\"minimal\":false" &&
	fault reduce.try "kill after $(($(met reduce.try) + 8))" && reduce 137 $part && rm -f faults/reduce.try &&
	reduce 0 $part --for 2ms --json && second=$(size) && [ "$second" -lt "$first" ] &&
	fault reduce.try "fail ECANCELED after $(($(met reduce.try) + 8))" && reduce 130 $part -o three.smt2 && rm -f faults/reduce.try &&
	has err "goes on from here" && has three.smt2 str.len && [ "$(stat -c %s three.smt2)" -lt "$second" ] && has err "bytes of .* after .* tests" &&
	reduce 0 $part && is out "$(cat smallest.smt2)" && reduce 0 $part && is out "$(cat smallest.smt2)"'
test_that "interrupted or failed in the middle, it prints the smallest so far, as JSON, too" '
	part="slow input.smt2 --reference v1 --target v2 --floor 350ms --ratio 4 -j 1"
	for error in "ECANCELED 130" "ENOSPC 4"; do
		fault reduce.try "fail ${error% *} after $(($(met reduce.try) + 8))" && reduce ${error#* } $part --json; r=$?; rm -f faults/reduce.try
		[ $r = 0 ] && has out "\"minimal\":false.*\"text\":\".*str.len" || exit 1
	done
	has err "No space left" && fault reduce.try "fail EIO after $(($(met reduce.try) + 2))" && reduce 4 $part -o four.smt2; r=$?; rm -f faults/reduce.try
	[ $r = 0 ] && has four.smt2 str.len'
test_that "two readers and the command: one reduction" '
	begun=$(met engine.compute)
	fault reduce.try "block"
	waits=$(($(met reduce.try) + 1))
	cat $reduced >one & cat $reduced >two &
	until [ "$(met reduce.try)" -ge $waits ]; do sleep 0.1; done
	"$solverfs" reduce slow spr/1 >three 2>err </dev/null &
	until [ "$(met engine.compute)" -gt "$begun" ]; do sleep 0.1; done
	rm faults/reduce.try && wait && has one str.len && cmp one two && cmp one three && [ "$(met engine.compute)" = $((begun + 1)) ]'
test_that "it is there, has its size, and stands in the report" '
	[ "$(state)" = ready ] && [ "$(stat -c %s $reduced)" = "$(wc -c <one)" ] && has mnt/slow/spr/1/report.md "^## Reduced input" && grep -qF "$(head -n 1 one)" mnt/slow/spr/1/report.md'
test_that "the command says where it is" 'begun=$(met reduce.try) && reduce 0 slow spr/1 && cmp out one && has err "kept: slow/spr/1/reduced.smt2" && [ "$(met reduce.try)" = "$begun" ]'
test_that "again, and interrupted: what there was stays" '
	fault reduce.try "delay 300"
	"$solverfs" reduce slow spr/1 --again >three 2>err </dev/null & pid=$!
	waits=$(($(met reduce.try) + 3))
	until [ "$(met reduce.try)" -ge $waits ] || ! kill -0 $pid; do sleep 0.1; done
	kill -TERM $pid; wait $pid; r=$?
	rm -f faults/reduce.try
	[ $r = 130 ] && has err "interrupted; the stored result stays" && empty three && cat $reduced >out && cmp out one'
run 0 unmount mnt

# -- what cannot be reduced is said at once --

test_that "not slow on the target" 'reduce 2 slow quick.smt2 --reference v1 --target v2 && has err "not slow on the target: [0-9a-f]{12} takes .* and [0-9a-f]{12} "'
test_that "versions the wrong way round" 'reduce 2 slow input.smt2 --reference v2 --target v1 && has err "wrong way round"'
test_that "no version solves it" 'reduce 2 slow input.smt2 --reference v5 --target v2 && has err "no version solves it within 1.5s: [0-9a-f]{12} says unknown, [0-9a-f]{12} says timeout"'
make_script unbuilt && script_commit unbuilt 1 'grep -q str.len "$case" && kill -SEGV $$'
echo "exit 7" >unbuilt/build.sh && script_commit unbuilt 2 'kill -SEGV $$'
toy_recipe unbuilt && run 0 solver add unbuilt unbuilt --recipe unbuilt.recipe
test_that "a version cannot be built" 'reduce 1 unbuilt input.smt2 --target v2 --keep crash && has err "unbuilt cannot be built at [0-9a-f]{12}$"'
test_that "the same version twice" 'reduce 2 slow input.smt2 --reference v1 --target v1 && has err "one version"'
test_that "no crash" 'reduce 2 slow input.smt2 --target v1 --keep crash && has err "does not crash"'
test_that "no versions" 'reduce 2 slow input.smt2 && has err "name the versions"'
printf 'p cnf 1 1\n1 0\n' >other.cnf && run 0 case add other.cnf
test_that "a case that the solver does not take" 'reduce 2 slow other.cnf --reference v1 --target v2 && has err "takes no DIMACS"'
test_that "no such finding" 'reduce 3 slow spr/7 && has err "no finding 7"'
test_that "no such input" 'reduce 3 slow nowhere.smt2 --reference v1 --target v2 && has err nowhere'
test_that "a floor of nothing" 'reduce 2 slow input.smt2 --reference v1 --target v2 --floor 0s && has err "greater than zero"'
test_that "a ratio below 1" 'reduce 2 slow input.smt2 --reference v1 --target v2 --ratio 0.5 && has err "from 1 on"'

# -- by a command --

test_that "what a command looks for is kept" \
	'reduce 0 input.smt2 --command "grep -q 12345" -o kept.smt2 && has kept.smt2 12345 && [ $(wc -c <kept.smt2) -le 30 ] && empty out'
test_that "a file that cannot be written is refused before the first test" '
	for name in nosuch/kept.smt2 "$PWD" ""; do reduce 4 input.smt2 --command "touch \"$top/tested\"" -o "$name" && has err "cannot write $name: " && [ ! -e tested ] || exit 1; done'
test_that "... and the result is printed where it is full in the end" '
	reduce 4 input.smt2 --command "grep -q 12345" -o /dev/full && has out 12345 && has err "cannot write /dev/full: No space left" && has err "bytes of .* after .* tests" &&
	reduce 4 input.smt2 --command "grep -q 12345" -o /dev/full --json && has out "\"text\":\".*12345"'
test_that "- is standard output, which JSON has" '
	reduce 0 input.smt2 --command "grep -q check-sat" -o - && is out "(check-sat)" && [ ! -e - ] && reduce 2 input.smt2 --command true -o - --json && has err "standard output"'
test_that "the file stands where {} does, and is in the folder" \
	'reduce 0 input.smt2 --command "grep -q check-sat {} && test -s input.smt2" && is out "(check-sat)"'
plain=$(mktemp -d /tmp/solverfs-test-XXXXXX) && outside+=("$plain")
test_that "... also within quotes, for a shell of its own" '
	TMPDIR=$plain reduce 0 input.smt2 --command "sh -c \"cat {} >seen; grep -q check-sat seen\" && sh -c '"'"'test -s {}'"'"'" && is out "(check-sat)"'
test_that "a file's name is neither run nor taken apart" '
	odd="a\$(touch pwned)\`touch pwned\`.smt2" && cp input.smt2 "$odd" && cp input.smt2 "my file.smt2" && for name in "$odd" "my file.smt2"; do
		reduce 0 "$name" --command "grep -q check-sat \"{}\" && test -s input.smt2 && ! test -e pwned" && is out "(check-sat)" &&
		reduce 0 "$name" --command "grep -q check-sat" && is out "(check-sat)" || exit 1
	done'
test_that "a text that is no script" \
	'printf "one\ntwo needle\nthree (\n" >text && reduce 0 text --command "grep -q needle" && [ $(wc -l <out) = 1 ] && has out needle'
printf '; caf\351\n(check-sat)\n' >latin.smt2
test_that "a result that is not UTF-8, which JSON cannot hold, is printed as it is" '
	byte="LC_ALL=C grep -q \"\$(printf \"\\351\")\"" && reduce 1 latin.smt2 --command "$byte" --json && LC_ALL=C grep -q "$(printf "\351")" out && has err "not valid UTF-8" &&
	reduce 0 latin.smt2 --command "$byte" --json -o latin.out && has out "\"minimal\":true" && reduce 0 latin.smt2 --command "grep -q check-sat" --json && has out "\"text\":"'
test_that "a command that is not interested" 'reduce 2 input.smt2 --command false && has err "not interested in the input: .false. ended with status 1"'
test_that "... also for a caller that ignores the ends of its children" '
	python3 -c "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])" "$solverfs" reduce input.smt2 --command false >out 2>err </dev/null
	[ $? = 2 ] && has err "not interested in the input"'
test_that "... as it cannot be run" '
	printf "#!/bin/sh\n" >here.sh && chmod +x here.sh && reduce 2 input.smt2 --command ./here.sh && has err "cannot run .[.]/here[.]sh., status 127: .*whole path" &&
	reduce 2 input.smt2 --command "sleep 100 #" --timeout 100ms && has err "sleep 100 #. had not ended after 0.1 s" && reduce 2 input.smt2 --command "kill -9 \$\$" && has err "was ended by signal 9"'
test_that "a file that is not there" 'reduce 3 nowhere.smt2 --command true && has err nowhere'
test_that "a folder" 'reduce 2 slow --command true && has err "not a file"'
test_that "versions and a command" 'reduce 2 input.smt2 --command true --target v1 && has err "takes the place"'
test_that "what is for versions, and a command" '
	for o in "--keep slow" "--floor 1s" "--ratio 4" "--seed 2"; do reduce 2 input.smt2 --command true $o && has err "for versions" || exit 1; done'
test_that "a command that hangs is ended" \
	'reduce 0 input.smt2 --command "grep -q str.len {} || sleep 1000" --timeout 1s --for 5s && has out str.len'
test_that "interrupted, the smallest so far is written" '
	"$solverfs" reduce input.smt2 --command "echo >>\"$top/count\"; sleep 0.2; grep -q str.len" -j 1 -o part.smt2 >out 2>err </dev/null &
	pid=$!
	until [ "$(cat count 2>/dev/null | wc -l)" -ge 6 ]; do sleep 0.1; done
	kill -TERM $pid; wait $pid; [ $? = 130 ] && has part.smt2 str.len && has err interrupted'
test_that "a failure in the middle does not lose the smallest so far" '
	broken="grep -q str.len {} || exit 1; [ \$(wc -c <{}) -gt 200 ] || { d=\${PWD%/*}; mv \"\$d\" \"\$d.gone\"; : >\"\$d\"; }"
	reduce 1 input.smt2 --command "$broken" -j 1 -o failed.smt2; r=$?
	rm -rf "$TMPDIR"/*
	[ $r = 0 ] && has failed.smt2 str.len && [ $(wc -c <failed.smt2) -lt $(wc -c <input.smt2) ] && has err "ended early: cannot make the folder"'
test_that "nothing is left behind" '[ -z "$(ls "$TMPDIR")" ]'
test_that "... nor by a killed one, behind the next but that of one that runs" '
	"$solverfs" reduce input.smt2 --command "echo >>\"$top/begun\"; sleep 20 #" --timeout 10m -j 1 >out 2>err </dev/null &
	pid=$!
	await "[ -s begun ]" && kill -9 $pid && wait $pid 2>/dev/null
	killed=$(ls "$TMPDIR") && mkdir "$TMPDIR/solverfs-reduce-others" "$TMPDIR/solverfs-new-abcdef" && touch -d "2 hours ago" "$TMPDIR"/* && rm begun
	"$solverfs" reduce input.smt2 --command "echo >>\"$top/begun\"; sleep 20 #" --timeout 10m -j 1 >out 2>err </dev/null &
	pid=$!
	await "[ -s begun ]" && touch -d "2 days" "$TMPDIR"/* && reduce 0 input.smt2 --command "grep -q check-sat" && [ ! -e "$TMPDIR/$killed" ] && [ "$(ls "$TMPDIR" | wc -l)" = 2 ]
	r=$?
	kill -TERM $pid && wait $pid
	[ $r = 0 ] && [ "$(ls "$TMPDIR")" = solverfs-new-abcdef ]'

echo "1..$n"
