#!/bin/bash
# Builds on a cluster whose workers are processes of this machine, while this end cannot build: the shim of its builds is refused. Prints TAP.
# Usage: test_cluster_builds.sh SOLVERFS
. "$(dirname "$0")/command.sh"
dir=$top/mnt
clean_up() { mountpoint -q "$dir" && "$solverfs" unmount -q "$dir"; }

make_toy
head -c 3000000 /dev/urandom >toy/large # bytes that no compression makes fewer
mkdir toy/sub && ln -s ../toy.sh toy/sub/link && : >toy/sub/empty
echo 'set -e; test -L sub/link; test -e sub/empty; test "$(wc -c <large)" = 3000000; echo building; cp toy.sh toy; chmod +x toy' >toy/build.sh
toy_commit 4 "large" && git -C toy tag v4
echo '# another line' >>toy/toy.sh
toy_commit 5 "a line" && git -C toy tag v5
echo 'touch begun; sleep 6; cp toy.sh toy; chmod +x toy' >toy/build.sh
toy_commit 6 "slow" && git -C toy tag v6
echo 'touch begun; sleep 1000' >toy/build.sh
toy_commit 7 "endless" && git -C toy tag v7
head -c 16000000 /dev/urandom >toy/larger # takes longer to send than builds need to begin
echo 'cp toy.sh toy; chmod +x toy' >toy/build.sh
toy_commit 8 "larger" && git -C toy tag v8
echo '# one more line' >>toy/toy.sh
toy_commit 9 "one more line" && git -C toy tag v9
mkdir cases
printf '(set-info :status sat)\n; answer: sat\n(check-sat)\n' >cases/1.smt2
run 0 init
run 0 solver add toy toy --recipe recipes/toy.recipe
run 0 case add cases
sed -i 's/^\tversion = 1/&\n\tbuilds = lab/' store/config
add_lab SOLVERFS_SHIM
export SOLVERFS_SHIM=/nonexistent
await_begun() { await '[ -e node/work/0/begun ]'; }
new_files() { comm -13 "$1" "$2" | sed 's,^,node/programs/,'; }

run 0 build toy v4
test_that "a commit is built there" '[ $(wc -l <launched) = 1 ]'
run 0 build toy v4 --log
test_that "its log is known, and it is not built again" 'has out "^\+ sh build.sh" && has out "^building" && [ $(wc -l <launched) = 1 ]'
run 0 run toy v4 1
test_that "its program came back, and runs here" 'has out "	sat	" && [ $(wc -l <launched) = 1 ]'
ls node/programs | sort >first
run 0 build toy v5
ls node/programs | sort >second
test_that "a second commit sends what is new: a source, the list of them, and makes a program" \
	'[ $(new_files first second | wc -l) -le 3 ] && [ $(new_files first second | xargs cat | wc -c) -lt 5000 ]'
run 1 build toy v3~1
test_that "a build that fails is an answer" 'cat out err | grep -q "exited with status 7"'
run 1 build toy v3~1 --log
test_that "with its log" 'has out "^no luck today"'
: >launched
test_that "so is a commit with arguments of its own" 'run 0 diverge --no-calls toy 1 v1:--again v4 && [ $(wc -l <launched) = 1 ] && run 0 build toy v1 && [ $(wc -l <launched) = 1 ]'

# -- one that dies, one that is given up --

: >launched
"$solverfs" build toy v6 >out 2>err &
building=$!
await_begun
kill -9 "$(head -1 launched)"
wait $building
status=$?
test_that "a worker that is killed in the middle of a build costs the build, which is done again" '[ $status = 0 ] && [ $(wc -l <launched) = 2 ]'
: >launched
"$solverfs" build toy v7 >out 2>err &
building=$!
await_begun
kill -TERM $building
wait $building
left_of launched >left
test_that "one that is ended ends there, too" '[ -s launched ] && empty left'

# -- a mount --

mkdir "$dir"
run 0 mount "$dir"
test_that "cat of a cell builds there" '[ "$(cat "$dir/toy/tags/v3/cases/1/result")" = sat ]'
test_that "and bin/ has the program" 'git -C toy show v3:toy.sh | cmp - "$dir/toy/tags/v3/bin/toy"'
run 0 unmount "$dir"

# -- two slots --

cp store/config lab
sed -i '/^\[cluster "lab"\]/,$d' store/config
printf '[cluster "lab"]\n\tlaunch = "echo >>launched; unset SOLVERFS_SHIM; exec {worker} --slots 2 --folder cold"\n' >>store/config
: >launched
test_that "two builds that begin together on one worker both want a file, which is sent once" 'run 0 build toy v8 v9 && [ $(wc -l <launched) = 1 ]'
two=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')
sed -i "s/exec {worker}/exec taskset -c $two {worker}/" store/config
"$solverfs" build toy v6 v7 --again >out 2>err &
building=$!
await '[ -n "$(find cold/work -name begun)" ]'
sleep 1
test_that "a worker's second build waits for cores that its first one does not have" '[ "$(find cold/work -name begun | wc -l)" = 1 ]'
kill -TERM $building
wait $building
cp lab store/config

test_that "another recipe leaves the place of builds, and of runs" '
	sed -i "s/^    repository = .*/&\n\tbuilds = lab\n\truns = local/" store/config && sed "s/timeout = 10s/timeout = 9s/" recipes/toy.recipe >later.recipe && run 0 solver add --replace toy --recipe later.recipe &&
	[ "$(git config --file store/config solver.toy.builds) $(git config --file store/config solver.toy.runs) $(git config --file store/config solver.toy.timeout)" = "lab local 9s" ]'
cp lab store/config

# -- within another solver --

make_repository host
printf 'cp deps/toy/toy.sh toy && chmod +x toy\n' >host/build.sh
git -c protocol.file.allow=always -C host submodule --quiet add "$top/toy" deps/toy >/dev/null 2>&1
git -C host add -A && git -C host commit -q -m "host"
sed "/^\[variant/,\$d; s,^.*output = .*,&\n    within = deps/toy=$top/host $(git -C host rev-parse HEAD)," recipes/toy.recipe >within.recipe
test_that "a commit is built within another solver there" 'run 0 solver add inside toy --recipe within.recipe && run 0 build inside v9 && run 0 run inside v9 1 && has out "	sat	"'

# -- another toolchain there --

# Both builds are asked for under the old key. The first one finds the new toolchain, which is then known, and the second one must not be built under the
# old key all the same.
make=$(readlink -f "$(command -v make)")
if unshare -m true 2>/dev/null; then
	cp "$make" other-make && echo >>other-make && chmod 755 other-make
	printf 'mount --bind "%s" "%s" && exec "$@"\n' "$top/other-make" "$make" >other-tools
	sed -i "s,exec {worker},exec unshare -m sh \\\\\"\$top/other-tools\\\\\" {worker}," store/config
	run 4 build toy v8 v9 --again
	test_that "builds asked for before the toolchain changed are all refused" '[ "$(grep -c "were changed since this build was asked for: ask again" err)" = 2 ]'
	test_that "asked again, they are built" 'run 0 build toy v8 v9'
	cp lab store/config
else
	skip "builds asked for before the toolchain changed" "no mount namespaces here"
fi

# -- what cannot be --

sed -i 's/^\tbuilds = lab/\tbuilds = moon/' store/config
run 4 build toy v4
test_that "a place that the config does not name is refused" 'has err "builds = moon, but there is no \[cluster .moon.\]"'
sed -i 's/^\tbuilds = moon/\tbuilds = local/' store/config
run 4 build toy v1
test_that "this end cannot build" 'has err "SOLVERFS_SHIM"'
echo "1..$n"
