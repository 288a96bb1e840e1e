#!/bin/bash
# Built programs are files of the store, and the index is none of its truth: what a lost index, a damaged file, a kill and two processes at once
# come to. Prints TAP. Usage: test_programs.sh SOLVERFS
. "$(dirname "$0")/command.sh"

export SOLVERFS_FAULTS=$top/faults
mkdir faults
deltas=$SOLVERFS_STORE/deltas
# built N: so many build commands have been started since the last call (cache/base/fault.h)
seen=0
built() {
	local now
	now=$(stat -c %s faults/build.command.met 2>/dev/null || echo 0)
	[ $((now - seen)) = "$1" ] || { echo "# $((now - seen)) builds, not $1"; return 1; }
}
counted() { seen=$(stat -c %s faults/build.command.met 2>/dev/null || echo 0); }
# at PLACE ORDER STATUS ARGUMENT...: run STATUS ARGUMENT... with that order (cache/base/fault.h)
at() {
	local status
	echo "$2" >"faults/$1" && run "${@:3}" 2>/dev/null
	status=$?
	rm "faults/$1"
	return $status
}
files() { find "$deltas" -type f -name '[0-9a-f]*' | wc -l; }
# Its programs are some 60 kB that cannot be compressed, and one line: neighbours are small deltas.
make_script toy
python3 -c 'import random; r = random.Random(1); print("# " + "".join(chr(r.randrange(0x4e00, 0x9fff)) for i in range(20000)))' >toy/ballast
echo 'cat toy.sh ballast >toy && chmod +x toy' >toy/build.sh
for i in 1 2 3 4; do script_commit toy $i "echo version $i >&2"; done
toy_recipe toy
printf '(check-sat)\n' >a.smt2
printf '(check-sat) ; b\n' >b.smt2
run 0 init && run 0 solver add toy toy --recipe ./toy.recipe && run 0 case add a.smt2 && run 0 case add b.smt2 || echo "# no store"
counted
for i in 1 2 3 4; do run 0 build toy v$i; done # one behind the other: each is a neighbour of the last
run 0 run toy v1 v2 v3 v4 1 && cp out results
says() { run 0 run toy "v$1" "$2" --again --print stderr && is out "version $1"; } # says N CASE: version N runs, and answers

test_that "a program is a file that nobody else may read" 'built 4 && [ "$(files)" = 4 ] && [ -z "$(find "$deltas" -perm /077)" ]'
counted
test_that "neighbours are small" '[ "$(find "$deltas" -type f -name "[0-9a-f]*" -size -8k | wc -l)" = 3 ]'
test_that "without the index every result is there, and nothing is built again" '
	rm -r "$SOLVERFS_STORE/lmdb" && run 0 run toy v1 v2 v3 v4 1 && cmp -s out results && built 0 &&
	run 0 build toy v1 v2 v3 v4 && built 0 && for i in 1 2 3 4; do says $i 2 || exit 1; done; built 0'
test_that "nor without the index and the copies" '
	rm -r "$SOLVERFS_STORE/lmdb" "$SOLVERFS_STORE/programs" && for i in 1 2 3 4; do says $i 1 || exit 1; done; built 0'
test_that "nor is that damage to fsck" 'rm -r "$SOLVERFS_STORE/lmdb" && run 0 fsck && has out "^note	store	there was no index; .* from the journal" && has err "all is well" && run 0 fsck && empty out && has err "4 programs"'

test_that "a copy of the store without what can be made again has all" '
	mkdir copied && (cd "$SOLVERFS_STORE" && tar -c --exclude=./lmdb --exclude=./programs --exclude=./work .) | tar -xC copied && counted &&
	run 0 --store copied run toy v1 v2 v3 v4 1 && cmp -s out results && run 0 --store copied fsck && for i in 1 2 3 4; do run 0 --store copied run toy v$i 1 --again || exit 1; done; built 0'

keyframe=$(find "$deltas" -type f -name '[0-9a-f]*' -size +8k)
run 0 build -q --output prog toy v4 && end=$deltas/$(sha256sum <prog | cut -c 1-64)
keep() { rm -rf kept && cp -a "$deltas" kept; }
put_back() { rm -rf "$deltas" "$SOLVERFS_STORE/programs" && cp -a kept "$deltas" && mkdir -m 700 "$SOLVERFS_STORE/programs"; }
keep
spoiled() { # spoiled COMMAND...: with `keyframe` so, fsck finds it, and so does a run, which builds it again; without its copy
	put_back && "$@" && run 1 fsck -n && has out "^damaged	programs	program .* did not come out right" && [ "$(files)" -ge 3 ] &&
		run 1 fsck && has out "^repaired	programs	program .* was dropped" && has out "4 programs are not kept" && [ "$(files)" = 0 ] && run 0 fsck || return
	put_back && "$@" && counted && says 4 2 && built 1 && says 1 2 && built 2 && run 0 fsck
}
# flip FILE OFFSET: all bits of a byte, so that it is another one whatever it was
flip() { printf "\\$(printf %03o $((255 - $(od -An -tu1 -j "$2" -N 1 "$1"))))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
test_that "a flipped bit in the frame" 'spoiled flip "$keyframe" 30000'
test_that "a flipped bit in the header" 'spoiled flip "$keyframe" 20'
test_that "a truncated file" 'spoiled truncate -s 20000 "$keyframe"'
test_that "an empty file" 'spoiled truncate -s 0 "$keyframe"'
test_that "a removed file" 'spoiled rm "$keyframe"'
test_that "one of them at the end of a chain takes none with it" '
	put_back && flip "$end" 120 && run 1 fsck && has out "1 program is not kept" && [ "$(files)" = 3 ]'
test_that "a damaged copy is taken away, and made anew" '
	put_back && counted && says 4 1 && copy=$(find "$SOLVERFS_STORE/programs" -type f) && chmod u+w "$copy" && flip "$copy" 99 &&
	run 1 fsck -n && has out "^damaged	programs	the copy of program" && [ -e "$copy" ] && run 1 fsck && has out "^repaired	programs	the copy of program" && [ ! -e "$copy" ] &&
	says 4 1 && [ -e "$copy" ] && run 0 fsck && built 0'
test_that "a file that is none is told, and left alone" 'put_back && echo mine >"$deltas/notes" && run 0 fsck && has out "^note	programs	.*/deltas/notes is no program" && run 0 gc && rm "$deltas/notes"'
test_that "what a killed process left half written goes with gc" 'echo half >"$deltas/$(printf %064d 0).a1B2c3" && run 0 gc -n && [ "$(ls "$deltas" | wc -l)" = 5 ] && run 0 gc && [ "$(ls "$deltas" | wc -l)" = 4 ]'

# -- a kill between the program and the record of its build --

test_that "killed behind the program: it is of no build, and the build is done again" '
	rm -rf "$SOLVERFS_STORE" && run 0 init && run 0 solver add toy toy --recipe ./toy.recipe && run 0 case add a.smt2 &&
	at build.keep "kill" 137 build toy v1 && [ "$(files)" = 1 ] && run 0 fsck && has out "^note	programs	1 program is of no build" && counted && run 0 gc && [ "$(files)" = 1 ] &&
	run 0 build toy v1 && built 1 && [ "$(files)" = 1 ] && run 0 fsck && empty out'
test_that "gc takes one of no build when it has been there for an hour" '
	at build.keep "kill" 137 build toy v2 && [ "$(files)" = 2 ] && run 0 gc && [ "$(files)" = 2 ] && touch -d "2 days" "$deltas"/* && run 0 gc -n && [ "$(grep ^programs out | cut -f 2)" = 1 ] && touch -d "2 hours ago" "$deltas"/* && run 0 gc -n && [ "$(grep ^programs out | cut -f 2)" = 1 ] &&
	run 0 gc && [ "$(grep ^programs out | cut -f 2)" = 1 ] && [ "$(files)" = 1 ] && says 1 1'
test_that "killed before it is in its place: nothing is left" 'at programs.place "kill" 137 build toy v3 && [ "$(files)" = 1 ] && run 0 fsck && empty out'
test_that "a full quota is the disk's failure, too" 'echo "(check-sat);q" >quota.smt2 && at cases.place "fail EDQUOT" 4 case add quota.smt2 && has err "quota"'
test_that "a full disk is told, and nothing is left" 'at programs.place "fail ENOSPC" 4 build toy v3 && has err "No space left" && [ "$(files)" = 1 ] && run 0 build toy v3'
test_that "what cannot be read is told, and fsck drops it" '
	at programs.read "fail EIO" 4 run toy v3 1 && has err "cannot read .*deltas/" && run 0 run toy v3 1 &&
	at programs.read "fail EIO" 1 fsck && has out "^repaired	programs	program .* was dropped" && [ "$(files)" = 0 ] && counted && says 3 1 && built 1'

# -- at once --

test_that "two processes that build the same and neighbours at once" '
	counted; "$solverfs" build toy v1 v2 v3 v4 >first 2>&1 & "$solverfs" build toy v4 v3 v2 v1 >second 2>&1; wait $! &&
	[ "$(files)" = 4 ] && run 0 fsck && empty out && for i in 1 2 3 4; do says $i 1 || exit 1; done'
test_that "gc takes the base of a program that is about to be stored as a delta" '
	run 0 build toy v1 && rm -rf "$SOLVERFS_STORE/work/toy" && run 0 gc --keep 0 && [ "$(files)" = 0 ] && run 0 build toy v1 && echo block >faults/programs.place &&
	before=$(stat -c %s faults/programs.place.met) || exit 1
	"$solverfs" build toy v2 >second 2>&1 &
	await "[ \$(stat -c %s faults/programs.place.met) -gt $before ]" && run 0 gc --keep 0 && [ "$(files)" = 0 ]; r=$?
	rm faults/programs.place; wait $! && [ $r = 0 ] && [ "$(files)" = 1 ] && run 0 case add a.smt2 && says 2 1 && run 0 fsck'

echo "1..$n"
