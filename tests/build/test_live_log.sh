#!/bin/bash
# The log of a build is read while it builds: here, at a worker of a cluster, through a mount. Builds wait for a file that the test puts into their tree.
# Prints TAP. Usage: test_live_log.sh SOLVERFS
. "$(dirname "$0")/../tools/command.sh"
dir=$top/mnt
builder='' follower=''
clean_up() {
	for pid in $builder $follower; do kill -9 "$pid" 2>/dev/null; done
	mountpoint -q "$dir" && "$solverfs" unmount -q "$dir"
}

make_toy
# slow_version VERSION TEXT: a build with this in its middle, which then waits
slow_version() {
	printf 'echo begun\n%s\nwhile ! [ -e go ]; do sleep 0.02; done\n. ./go\necho ended\ncp toy.sh toy; chmod +x toy\n' "$2" >toy/build.sh
	toy_commit 4 "$1" && git -C toy tag "$1"
}
flood='yes 0123456789abcdef | head -c 20000000'
slow_version plain 'printf "half a line"'
slow_version twice ''
slow_version flood "$flood"
slow_version full 'echo "cannot be shown"'
slow_version seen ': seen'
slow_version cancelled ': cancelled'
slow_version unread "$flood; :"
slow_version mounted 'echo mounted'
slow_version away 'echo there; printf "half a line"'
slow_version away-flood "echo there; $flood"
slow_version away-twice 'cat /proc/sys/kernel/random/uuid'
run 0 init
run 0 solver add toy toy --recipe recipes/toy.recipe
begin() { "$solverfs" build toy "$1" >out.builder 2>err.builder </dev/null & builder=$!; }
follow() { # into a new file: what is awaited in it is of this follower
	rm -f out.follower
	: >out.follower
	"$solverfs" build --log toy "$1" >out.follower 2>err.follower </dev/null &
	follower=$!
}
# go TEXT: the build goes on with it, in whichever tree it is
go() { for tree in store/work/toy*/? node/work/?; do [ -d "$tree" ] && echo "$1" >go.new && chmod 644 go.new && mv go.new "$tree/go"; done 2>/dev/null; }
goes() { kill -0 "$1" 2>/dev/null; }
# finish TEXT STATUS PROCESS: goes on with TEXT, as often as it is begun, until the process has ended with STATUS
finish() {
	local got end=$((SECONDS + 200 * ${CK_TIMEOUT_MULTIPLIER:-1}))
	while goes "$3"; do
		go "$1"
		[ $SECONDS -lt $end ] || { echo "# it never ended"; kill -9 "$3"; }
		sleep 0.02
	done
	wait "$3"
	got=$?
	[ $got = "$2" ] || { echo "# it ended with $got, not $2"; return 1; }
}
finish_both() { # finish_both TEXT STATUS-OF-BUILDER STATUS-OF-FOLLOWER
	finish "$1" "$2" $builder && finish "$1" "$3" $follower
}
# The end of what the follower printed is the log that is kept, when it was printed from its beginning.
ends_with_log() { tail -c "$(stat -c %s out)" out.follower | cmp - out; }
nothing_left() { [ -z "$(ls store/building)" ]; }

# -- here --

begin plain
follow plain
await 'grep -q "half a line" out.follower'
test_that "what a build has printed is there before it ends" 'goes $builder && has out.follower "^\+ sh build.sh" && has out.follower "^begun"'
test_that "and that it goes on is said" 'has err.follower "toy [0-9a-f]{12} is being built: its output so far"'
test_that "status names the build" "await 'run 0 status && has out \"build toy [0-9a-f]{12}	sh build.sh\"'" # it is told a few times a second
"$solverfs" build --log toy plain >out.third 2>err.third </dev/null &
third=$!
await 'grep -q "half a line" out.third'
kill -TERM $third
wait $third
status=$?
test_that "one that looks and is ended does not end the build" '[ $status = 130 ] && goes $builder && [ "$(tail -1 out.third)" = "half a line" ]'
"$solverfs" build --log toy plain 2>err.third </dev/null | head -1 >out.third
status=${PIPESTATUS[0]}
test_that "nor does one whose reader has gone, and ends with it" '[ $status = 141 ] && goes $builder && is out.third "+ sh build.sh"'
finish_both : 0 0
status=$?
run 0 build --log toy plain
test_that "what was printed is the log that is kept, to the last byte" '[ $status = 0 ] && cmp out out.follower && [ "$(grep -c . out)" = 3 ] && [ "$(tail -1 out)" = "half a lineended" ]'
test_that "and nothing of it is left beside the store" nothing_left

begin twice
follow twice
await 'grep -q begun out.follower'
go 'echo mishap; exit 143'
await 'grep -q "may have come from outside" out.follower'
finish_both : 0 0
status=$?
run 0 build --log toy twice
test_that "a build that was begun again has its whole log at the end" '[ $status = 0 ] && ends_with_log && has out "^ended"'
test_that "which is said" 'has out.follower "^mishap" && has err.follower "has another log from here on"'

begin flood
follow flood
await 'grep -q "the rest is shown when the build has ended" out.follower'
test_that "a flood is shown up to 16 MiB" '[ "$(stat -c %s store/building/*)" -le $(((16 << 20) + 100)) ] && [ "$(stat -c %s out.follower)" -ge $((16 << 20)) ]'
finish_both 'exit 3' 1 1
status=$?
run 1 build --log toy flood
test_that "and the log is whole in the end" '[ $status = 0 ] && tail -3 out | cmp - <(tail -3 out.follower) && has err.follower "another log" && has out.follower "failed: command 1"'

mkdir faults
echo 'fail ENOSPC after 1' >faults/build.live
export SOLVERFS_FAULTS=$top/faults
begin full
follow full
await '[ "$(stat -c %s faults/build.live.met 2>/dev/null)" = 2 ]'
finish_both : 0 0
status=$?
unset SOLVERFS_FAULTS
run 0 build --log toy full
test_that "a full disk ends the look, with a warning, and not the build" '[ $status = 0 ] && cmp out out.follower && has out "cannot be shown" && has <(cat err.builder err.follower) "cannot be shown while it builds: No space left"' # whichever of them builds it

# -- its end without a result --

begin cancelled
await 'grep -qs begun store/building/*'
kill -TERM $builder
wait $builder
status=$?
test_that "a build that is cancelled leaves nothing" '[ $status = 130 ] && nothing_left'
begin cancelled
await 'grep -qs begun store/building/*'
follow cancelled
await 'grep -q begun out.follower'
kill -TERM $builder
await '! goes $builder && grep -q "without a result" out.follower'
test_that "who looks is told so" 'has out.follower "this build ended without a result: cancelled"'
finish : 0 $follower
status=$?
run 0 build --log toy cancelled
test_that "builds it in its turn, and has the log" '[ $status = 0 ] && [ "$(grep -c ^begun out)" = 1 ] && [ "$(tail -1 out.follower)" = ended ] && nothing_left'

begin seen
await 'grep -qs begun store/building/*'
follow seen
await 'grep -q begun out.follower'
kill -9 $builder
{ wait $builder; } 2>/dev/null
finish : 0 $follower
status=$?
run 0 build --log toy seen
test_that "so does who looks at a build that is killed" '[ $status = 0 ] && cmp out out.follower && has out "^ended" && nothing_left'

# -- in the mount --

# A file that a killed build left is none.
begin mounted
await 'grep -qs begun store/building/*'
kill -9 $builder
{ wait $builder; } 2>/dev/null
left=$(ls store/building)
echo 'what was before' >"store/building/$left"
mkdir "$dir"
run 0 mount "$dir"
build=$dir/toy/tags/mounted/build
test_that "a mount takes away what a killed build left" nothing_left
echo 'what was before' >"store/building/$left"
test_that "and shows none that is left: so-far is empty, and builds nothing" 'empty "$build/so-far" && is "$build/so-far" "" && is "$build/status" none'
cat "$build/log" >out.mount 2>err.mount &
reader=$!
follow mounted
await 'grep -q "^mounted" out.follower && cmp -s "$build/so-far" out.follower'
test_that "so-far is what the build has printed" 'is "$build/status" building && ! has out.follower "what was before"'
finish : 0 $reader && finish : 0 $follower
status=$?
test_that "a reader of log waits for the whole of it" '[ $status = 0 ] && cmp out.mount out.follower && has out.mount "^ended"'
test_that "which so-far is then, too" 'cmp out.mount "$build/so-far"'
test_that "and not in cached/" '[ "$(ls "$dir/toy/cached/mounted/build" | paste -sd" ")" = "log status" ]'
run 0 unmount "$dir"

# -- a reader that does not read --

mkfifo pipe
exec 7<>pipe
begin unread
await '[ "$(cat store/building/* 2>/dev/null | wc -c)" -gt 1000000 ]'
"$solverfs" build --log toy unread >pipe 2>err.follower </dev/null 7<&- &
follower=$!
"$solverfs" build --log toy unread >pipe 2>err.third </dev/null 7<&- &
third=$!
await 'grep -q "is being built" err.follower && grep -q "is being built" err.third'
kill -TERM $third
wait $third
status=$?
test_that "one whose reader does not read can be ended" '[ $status = 130 ]'
finish : 0 $builder
test_that "and keeps no build from its end" '[ $? = 0 ] && goes $follower'
cat <pipe >out.follower 7<&- &
reader=$!
exec 7<&-
wait $follower
status=$?
wait $reader
run 0 build --log toy unread
test_that "once it reads it has everything" '[ $status = 0 ] && tail -3 out | cmp - <(tail -3 out.follower) && [ "$(stat -c %s out.follower)" -gt $((16 << 20)) ]'

# -- elsewhere --

sed -i 's/^\tversion = 1/&\n\tbuilds = lab/' store/config
add_lab SOLVERFS_SHIM
export SOLVERFS_SHIM=/nonexistent

begin away
follow away
await 'grep -q "half a line" out.follower'
test_that "the output of a worker's build is there before it ends" 'goes $builder && has out.follower "^\+ sh build.sh" && has out.follower "^begun"'
finish_both : 0 0
status=$?
run 0 build --log toy away
test_that "and is the log that is kept" '[ $status = 0 ] && cmp out out.follower && [ "$(tail -1 out)" = "half a lineended" ]'

: >launched
begin away-twice
await '[ "$(grep -sc . store/building/*)" = 3 ]' # + sh build.sh, begun, a text that no other build has
first=$(tail -1 store/building/*)
follow away-twice
await 'grep -q "$first" out.follower'
for pid in $(cat launched); do pgrep -P "$pid" >/dev/null && kill -9 "$pid"; done # the one that has something to do
await 'said=$(cat store/building/* 2>/dev/null); [ "$(grep -c . <<<"$said")" = 3 ] && [ "$(tail -1 <<<"$said")" != "$first" ]' # at one look
finish_both : 0 0
status=$?
run 0 build --log toy away-twice
test_that "a worker that is lost in the middle leaves one log at the end" '[ $status = 0 ] && tail -2 out | cmp - <(tail -2 out.follower) && ! has out "$first" && has out "^ended"'
test_that "which who looks is told" 'has out.follower "this build ended without a result: the worker on .* was lost"'

begin away-flood
follow away-flood
await 'grep -q "the rest is shown when the build has ended" out.follower'
finish_both : 0 0
status=$?
run 0 build --log toy away-flood
test_that "a flood of a worker's is bounded, and the log is whole in the end" '[ $status = 0 ] && tail -3 out | cmp - <(tail -3 out.follower) && has out "ended$"'
test_that "and nothing is left" nothing_left
echo "1..$n"
