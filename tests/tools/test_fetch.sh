#!/bin/bash
# Git servers that accept a connection and say nothing; a repository that gets a commit while it is copied.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"

make_toy
python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
kept = []
while True:
    kept.append(s.accept())
    open("accepted", "a").write("x\n")
' >port &
server=$!
clean_up() { kill $server; }
until [ -s port ]; do sleep 0.05; done
silent=git://127.0.0.1:$(cat port)/toy
# Interrupts a command that has reached the server.
interrupt() {
	local pid
	rm -f accepted
	env --default-signal=INT "$solverfs" "$@" >out 2>err </dev/null &
	pid=$!
	until [ -e accepted ]; do sleep 0.05; done
	kill -INT $pid
	wait $pid
	[ $? = 130 ]
}
helpers() { pgrep -f "solverfs-fetch $top" || [ $? = 1 ]; }

run 0 init -q
git config --file store/config solverfs.fetch-timeout 0s
test_that "the timeout is at least a second" 'run 4 solver list && has err "must be a time of at least a second"'
git config --file store/config --unset solverfs.fetch-timeout
test_that "Ctrl-C ends an add that waits for a server" 'interrupt solver add toy "$silent" --recipe recipes/toy.recipe && [ -z "$(helpers)" ]'
test_that "which leaves nothing" '[ -z "$(ls store/repos | grep -v lock)" ] && run 0 solver list && empty out'
rm -f accepted
env --default-signal=INT "$solverfs" solver add toy "$silent" --recipe recipes/toy.recipe >first 2>&1 </dev/null &
adding=$!
await '[ -e accepted ]'
timeout -s INT -k 20 1 env --default-signal=INT "$solverfs" solver add other toy --recipe recipes/toy.recipe >out 2>err </dev/null
test_that "... and one that waits for another add" '[ $? = 124 ] && has err "interrupted"'
kill -INT $adding && wait $adding
git config --file store/config solverfs.fetch-timeout 1s
test_that "a silent server is given up, and the sentence says what to do" '
	run 4 solver add toy "$silent" --recipe recipes/toy.recipe && has err "cannot fetch from $silent: nothing came from the server for 1 s; try again later, or .*fetch-timeout"'
test_that "the solver can be added from elsewhere then" 'run 0 solver add toy toy --recipe recipes/toy.recipe && run 0 solver list && [ "$(field 1,2 | head -1)" = "toy	3" ]'

git config --file store/config solver.toy.repository "$silent"
test_that "an update from it fails" 'run 4 solver update && has err "^solverfs: toy: cannot fetch from $silent: nothing came"'
test_that "what is there stays and is sound" 'run 0 build toy v1 -o prog && cmp prog <(git -C toy show v1:toy.sh) && run 0 fsck && git --git-dir=store/repos/toy.git fsck --strict'
test_that "watch says so and goes on with what is there" '
	printf "; answer: sat\n(set-logic QF_LIA)\n(check-sat)\n" >a.smt2 && run 0 case add a.smt2 && run 1 watch toy --once && has err "cannot fetch toy: .*nothing came.*tried again at the next turn"'
git config --file store/config --unset solverfs.fetch-timeout
git config --file store/config solver.toy.repository "${silent/:\/\//://somebody:password@}"
begin_update() { # leaves it waiting for the server, as $pid
	rm -f accepted
	env --default-signal=INT "$solverfs" solver update >out 2>err </dev/null &
	pid=$!
	until [ -e accepted ]; do sleep 0.05; done
}
begin_update
arguments=$(for p in $(helpers); do tr '\0' ' ' <"/proc/$p/cmdline"; done)
kill -INT $pid && wait $pid
test_that "an address's password is nobody's to read" '[[ $arguments = *solverfs-fetch* && $arguments != *password* ]]'
git config --file store/config solverfs.fetch-timeout 1s
test_that "nor is it in the message" 'run 4 solver update && has err "cannot fetch from git://somebody:…@127.0.0.1:[0-9]*/toy: nothing came"'
git config --file store/config --unset solverfs.fetch-timeout
git config --file store/config solver.toy.repository "$silent"
begin_update
kill -KILL "$(helpers)"
wait $pid
test_that "a helper that is killed is an error" '[ $? = 4 ] && has err "cannot fetch from $silent: solverfs-fetch was ended by signal 9"'
test_that "Ctrl-C ends an update" 'interrupt solver update && [ -z "$(helpers)" ]'
git config --file store/config solver.toy.repository "$top/toy"
test_that "the next update works" 'echo x >toy/x && toy_commit 4 "fourth" && run 0 solver update && [ "$(field 1,2,3)" = "toy	1	4" ]'

# A commit in a folder that is copied late, with its tree in one that is copied early.
cp -r toy ahead && sed '/^.variant/,$d' recipes/toy.recipe >recipes/copied.recipe
for i in $(seq 100); do
	echo "$i" >ahead/number && git -C ahead add number && tree=$(git -C ahead write-tree) && pair=$(git -C ahead commit-tree -p HEAD -m "$i" "$tree") || break
	[[ $tree < 8 && ! $pair < 8 ]] && git -C ahead branch pair "$pair" && break
done
test_that "a commit that arrives while its repository is copied is whole" '
	mkdir faults && echo "block after 128" >faults/history.copy && { SOLVERFS_FAULTS=$top/faults "$solverfs" solver add copied toy --recipe recipes/copied.recipe >out 2>err </dev/null & } &&
	await "[ \"\$(stat -c %s faults/history.copy.met 2>/dev/null)\" = 129 ]" && git -C toy fetch -q ../ahead pair:pair && [ -e "toy/.git/objects/${pair:0:2}/${pair:2}" ] && rm faults/history.copy && wait $! &&
	git -C store/repos/copied.git fsck --strict 2>err && [ "$(git -C store/repos/copied.git rev-parse pair)" = "$pair" ]'

sed "/^\[solver\]/a submodule = lib=$silent
/^\[variant/,\$d" recipes/toy.recipe >recipes/sub.recipe
git config --file store/config solverfs.fetch-timeout 1s
test_that "a submodule's silent server is given up, too" 'run 4 solver add sub toy --recipe recipes/sub.recipe && has err "submodule lib: cannot fetch from $silent: nothing came"'

git config --file store/config --unset solverfs.fetch-timeout
sed "/^\[solver\]/a download = http://127.0.0.1:$(cat port)/part.tar $(printf %064d 1)
/^\[variant/,\$d" recipes/toy.recipe >recipes/loads.recipe
test_that "Ctrl-C ends a download, and curl with it" '
	interrupt solver add loads toy --recipe recipes/loads.recipe && has err "interrupted" && ! pgrep -f "curl .*127.0.0.1:$(cat port)/part.tar" && [ -z "$(ls -A store/downloads)" ]'

# A disk that takes 6 s for what was fetched: whoever waits for a child of vfork() waits as one who waits for a disk.
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int fsync(int fd)
{
	static int n;

	if (n++ == 0 && strcmp(program_invocation_short_name, "solverfs-fetch") == 0 && vfork() == 0) {
		sleep(6);
		_exit(0);
	}
	return syscall(SYS_fsync, fd);
}
END
daemon=$(git --exec-path)/git-daemon
if [ -x "$daemon" ]; then
	cc -shared -fPIC -o slow.so slow.c
	daemon_port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
	"$daemon" --listen=127.0.0.1 --port="$daemon_port" --reuseaddr --export-all --base-path="$top" &
	serving=$!
	clean_up() { kill $server $serving; }
	until git ls-remote "git://127.0.0.1:$daemon_port/toy" >/dev/null 2>&1; do sleep 0.05; done
	git config --file store/config solverfs.fetch-timeout 1s
	test_that "a slow disk is no silent server" '
		LD_PRELOAD=./slow.so ASAN_OPTIONS=verify_asan_link_order=0 run 0 solver add slow "git://127.0.0.1:$daemon_port/toy" --recipe recipes/copied.recipe && git -C store/repos/slow.git fsck --strict'
	git config --file store/config --unset solverfs.fetch-timeout
else
	skip "a slow disk is no silent server" "no git-daemon"
fi

# A container that forbids pidfd_open() (434 everywhere), by seccomp.
cat >without_pidfd.py <<'END'
import ctypes, os, struct, sys
rules = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, 434, 0x06, 0, 0, 0x00050001, 0x06, 0, 0, 0x7FFF0000)
code = ctypes.create_string_buffer(rules, len(rules))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(code)))
prctl = ctypes.CDLL(None).prctl
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, program, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
END
echo part >part.txt
sed "/^\[solver\]/a download = $(top_url)/part.txt $(sha256sum part.txt | cut -c 1-64)
/^\[variant/,\$d" recipes/toy.recipe >recipes/part.recipe
test_that "a download ends where processes have no descriptors" '
	timeout -k 5 60 python3 without_pidfd.py "$solverfs" solver add part toy --recipe recipes/part.recipe >out 2>err </dev/null && [ -n "$(ls -A store/downloads)" ]'

echo "1..$n"
