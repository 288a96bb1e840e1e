#!/bin/bash
# The command's mount and unmount from outside, on the real kernel. Prints TAP. Usage: test_command_mount.sh SOLVERFS
. "$(dirname "$0")/command.sh"

if [ ! -w /dev/fuse ]; then
	echo "1..0 # SKIP no /dev/fuse here"
	exit 0
fi
mnt=$top/mnt
mkdir "$mnt"
mounted() { grep -q "$(printf '%s' "$1" | sed 's/ /\\\\040/g') fuse.solverfs" /proc/self/mounts; }
daemon() { pgrep -n -f "mount .*${top##* }/mnt"; } # the newest that has the scratch folder's own name: the one before may still be dying
kill_daemon() {
	await 'daemon >pid' && kill -9 "$(cat pid)"
}
# Its locks are free: what is left of it is gone in a moment, or waits for init to look.
gone() { await "[ ! -d /proc/$1 ] || grep -sq ^State:.Z /proc/$1/status"; }
one_reader() { grep -q " running, [0-9]* queued, 1 reader" "$mnt/.solverfs/status"; }
clean_up() {
	mounted "$mnt" && timeout 200 "$solverfs" -q unmount --lazy "$mnt"
	cd /
}

run 0 init -q
make_toy
printf '; answer: sat\n(check-sat)\n' >a.smt2
printf '; sleep: 30\n; answer: sat\n(check-sat)\n' >slow.smt2
run 0 solver add toy toy --recipe recipes/toy.recipe -q
run 0 case add a.smt2 slow.smt2

test_that "when mount returns, the mount answers" 'run 0 mount "$mnt" && [ -r "$mnt/README" ] && has err "is mounted at"'
test_that "its source is the store" 'mounted "$mnt" && [ "$(findmnt -n -o SOURCE "$mnt")" = "$SOLVERFS_STORE" ]'
test_that "the daemon has no terminal, no folder of ours, and logs to the store" '
	pid=$(daemon) && [ "$(readlink "/proc/$pid/cwd")" = / ] && [ "$(readlink "/proc/$pid/fd/0")" = /dev/null ] && [ "$(ps -o tty= -p "$pid")" = "?" ] &&
	grep -q "is mounted at" "$SOLVERFS_STORE/log" && [ "$(stat -c %a "$SOLVERFS_STORE/log")" = 600 ]'
test_that "a file that a shell writes, which is empty at its first close, is not logged as refused; one that stays empty is" '
	echo "; full" >"$mnt/cases/full.smt2" && run 0 case remove full.smt2 && : >"$mnt/cases/void.smt2" && await "grep -q \"was not added: .void.smt2. is empty\" store/log" && ! grep "full.smt2. is empty" store/log'
test_that "mounting there again is refused" 'run 1 mount "$mnt" && has err "already"'
test_that "the command and the mount share what is known" 'run 0 run toy v1 a.smt2 --print time && cmp -s out "$mnt/toy/commits/v1/cases/1/time"'
not_begun='crlf [0-9a-f]{12}: the program cannot be executed: No such file or directory; its interpreter or loader is missing'
test_that "a cell whose program did not begin says why in an attribute" '
	git init -q crlf && printf "#!/bin/sh\r\necho sat\n" >crlf/p && chmod +x crlf/p && git -C crlf add p && git -C crlf -c user.name=x -c user.email=x commit -qm p &&
	toy_recipe crlf "build = true" "output = p" && run 0 -q solver add crlf crlf -r crlf.recipe && await "[ -d \"$mnt/crlf\" ]" &&
	[ "$(cat "$mnt/crlf/head/cases/1/result")" = error ] && getfattr --absolute-names -n user.solverfs.reason "$mnt/crlf/head/cases/1/time" >out && has out "$not_begun" &&
	! getfattr -n user.solverfs.reason "$mnt/toy/commits/v1/cases/1/time" >out 2>err && has err "No such attribute"'
test_that "a new commit shows after solver update, without a new mount" '
	echo "# 4" >>toy/toy.sh && toy_commit 4 fourth && run 0 solver update && await "[ -d \"$mnt/toy/commits/$(git -C toy rev-parse HEAD)\" ]"'
test_that "doctor knows the mount" 'run 0 doctor || run 1 doctor; has out "^mount	ok	.*/mnt serves"'
test_that "a busy mount is not unmounted, and that is said" 'cd "$mnt" && OLD=$PWD && { timeout 200 "$solverfs" unmount "$mnt" >"$top/out" 2>"$top/err"; [ $? = 1 ]; } && grep -q "in use" "$top/err"; r=$?; cd "$top"; (exit $r)'
test_that "unmount cancels what runs, and returns when the daemon has gone" '
	pid=$(daemon); cat "$mnt/toy/commits/v1/cases/2/time" >got 2>goterr & sleep 1.5; kill $!; wait $!; run 0 unmount "$mnt" && ! mounted "$mnt" && gone "$pid"'
test_that "and leaves no lock" '[ -z "$(ls "$SOLVERFS_STORE/mounts" "$SOLVERFS_STORE/engines" "$SOLVERFS_STORE/claims" | grep -v : | grep .)" ]'
test_that "unmount a second time is status 3" 'run 3 unmount "$mnt"'
test_that "a mount that cannot be made is told by who asked" 'run 1 mount -o no_such_option "$mnt" || run 4 mount -o no_such_option "$mnt"; has err "option" && ! mounted "$mnt"'

unprivileged() { setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$solverfs" "$@" >out 2>err; }
as_root "without the right to mount, as in a container: mount and doctor say what is missing, and mount names the log" '
	! unprivileged mount "$mnt" && has err "cannot mount at .*SYS_ADMIN.*$SOLVERFS_STORE/log" && grep -q "not permitted" "$SOLVERFS_STORE/log" && ! unprivileged doctor && has out "^fuse	failed	.*SYS_ADMIN" && ! has out "solverfs doctor. says"'

test_that "what a mount is known by is not to be given" 'for o in fsname=other subtype=other; do run 1 mount -o $o "$mnt" && has err "fsname and subtype" && ! mounted "$mnt" || exit 1; done'
test_that "mount from a caller without standard descriptors" 'timeout 200 "$solverfs" mount "$mnt" <&- >&- 2>&- && [ -r "$mnt/README" ] && [ "$(readlink "/proc/$(daemon)/fd/2")" = "$SOLVERFS_STORE/log" ] && run 0 unmount "$mnt"'

test_that "mount over files is refused, and done with -o nonempty" '
	mkdir full && touch full/mine && run 1 mount full && has err "files in it.*-o nonempty" && ! mounted "$top/full" && run 0 mount -o nonempty full && [ -r full/README ] && run 0 unmount full && [ -e full/mine ]'
run 0 mount "$mnt" -q
test_that "its README says how to ask for many at once, and that names work under cached/" \
	'grep -q "is one reader, which waits for one run at a time" "$mnt/README" && grep -q "xargs -P" "$mnt/README" && grep -q "cached/v1.0 is what is" "$mnt/README"'
test_that "unmount ends what a reader waits for" '
	cat "$mnt/toy/commits/v1/cases/2/time" >got 2>goterr & reader=$!
	await one_reader
	run 0 unmount "$mnt" && ! mounted "$mnt" && ! wait $reader && grep -q Interrupted goterr'
run 0 mount "$mnt" -q
test_that "bash completes mounts after unmount, by their path and as seen from here, also behind a quote" '
	complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _solverfs; printf "%s\n" "${COMPREPLY[@]}"; }
	. "$source_dir/tools/completions/solverfs.bash"; cd "$top"
	[ "$(complete_line solverfs unmount "$top")" = "$mnt" ] && [ "$(complete_line solverfs unmount --lazy m)" = mnt ] && [ -z "$(complete_line solverfs unmount full)" ] &&
	[ "$(complete_line solverfs unmount "$(printf %q "$mnt")")" = "$mnt" ] && [ "$(complete_line solverfs unmount "\"$top/")" = "$mnt" ] &&
	[ "$(complete_line solverfs unmount "" | grep -xF -e "$mnt" -e mnt)" = "$mnt"$'\''\n'\''mnt ]'
test_that "unmount leaves a reader alone when somebody else keeps the mount in use" '
	exec 3<"$mnt/README"; cat "$mnt/toy/commits/v1/cases/2/time" >got 2>goterr & reader=$!
	await one_reader
	run 1 unmount "$mnt" && has err "in use" && grep -q "1 reader" "$mnt/.solverfs/status" && kill $reader && ! wait $reader'
pid=$(daemon)
exec 3<"$mnt/README"
test_that "behind unmount --lazy with a file open, unmount and mount say who still serves it" '
	run 0 unmount --lazy "$mnt" && run 1 unmount "$mnt" && has err "detached already.*process $pid" && run 1 mount "$mnt" && has err "detached already.*process $pid" && grep -q solverfs <&3'
exec 3<&-
test_that "and when it is closed, mount mounts" 'gone "$pid" && run 0 mount "$mnt" && run 0 unmount "$mnt" && run 3 unmount "$mnt"'

# In the foreground, under a service manager.
test_that "mount -f tells systemd when it answers, and ends by SIGTERM with 0" '
	python3 -c "
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(\"notify\"); s.settimeout(200)
print(s.recv(100).decode(), flush=True); print(s.recv(100).decode(), flush=True)" >told & listener=$!
	await "[ -S notify ]"
	NOTIFY_SOCKET=$top/notify "$solverfs" mount -f "$mnt" >out 2>err & pid=$!
	await "grep -q READY=1 told"
	grep -q READY=1 told && [ -r "$mnt/README" ] && kill -TERM $pid && wait $pid && wait $listener && grep -q STOPPING=1 told && ! mounted "$mnt"'
test_that "... and a signal that its caller ignores, as nohup does, does not end it" '
	(trap "" HUP INT; exec "$solverfs" mount -f "$mnt" >out 2>err) & pid=$!
	await "[ -r \"$mnt/README\" ]" && kill -HUP $pid && kill -INT $pid && sleep 0.5 && [ -r "$mnt/README" ] && kill -TERM $pid && wait $pid && ! mounted "$mnt" && ! has err "signal [12]:"'
# refused_in_foreground OPTION...: what `mount -f` logs while a file is refused as a case; in err
refused_in_foreground() {
	"$solverfs" "$@" mount -f "$mnt" >out 2>err & pid=$!
	await '[ -r "$mnt/README" ]' && ! cp "$source_dir/README.md" "$mnt/cases/no.cnf" 2>/dev/null
	kill -TERM $pid && wait $pid
}
test_that "... its log says what the log of one in the background says" 'refused_in_foreground && has err "is mounted at" && has err "no.cnf.*DIMACS"'
test_that "... and nothing of it with --quiet" 'refused_in_foreground -q && empty err'

# Another mount namespace has a copy of the mount, as a container or a sandbox may.
elsewhere() { unshare ${UID:+$([ $UID = 0 ] || echo -r)} -m --propagation private sh -c "$1" & other=$!; await "[ -e ready ]"; rm ready; }
run 0 mount "$mnt" -q
elsewhere "touch ready; exec sleep 20 >/dev/null 2>&1"
pid=$(daemon)
test_that "unmount ends the daemon of a mount that another namespace has too" 'run 0 unmount "$mnt" && [ ! -s err ] && gone "$pid"'
kill $other
run 0 mount "$mnt" -q
elsewhere "exec 3<\"$mnt/README\"; touch ready; until [ -e go ]; do sleep 0.02; done; cat <&3 >read_there"
test_that "what is open there is read to its end, and unmount says what it waits for" '
	{ run 0 unmount "$mnt" & } && await "has err \"another mount namespace\""; touch go; wait $! && await "grep -q solverfs read_there"'

# A mount of another mount namespace, and of another PID namespace, where its number may be that of a stranger here.
alone() { unshare ${UID:+$([ $UID = 0 ] || echo -r)} -m --propagation private "$@"; }
if alone true 2>err; then
	rm -f go
	alone sh -c "\"$solverfs\" -q mount \"$mnt\"; touch ready; until [ -e go ]; do sleep 0.02; done; \"$solverfs\" unmount \"$mnt\"" & other=$!
	await "[ -e ready ]"
	rm ready
	pid=$(daemon)
	test_that "mount and unmount say that a mount of another namespace is one, and whose; it stays" '
		for c in mount unmount; do run 1 $c "$mnt" && has err "process $pid has .* in another mount namespace.*kill $pid" && ! has err "detached|KILL" || exit 1; done; [ -d "/proc/$pid" ]'
	touch go
	wait $other
	ok $? "and there it is unmounted"
	rm go
	alone -p -f --mount-proc sh -c "\"$solverfs\" -q mount \"$mnt\"; touch ready; until [ -e go ]; do sleep 0.02; done; \"$solverfs\" unmount \"$mnt\"" & other=$!
	await "[ -e ready ]"
	rm ready
	pid=$(daemon)
	test_that "behind another PID namespace nobody is advised to kill by a number" '
		for c in mount unmount; do run 1 $c "$mnt" && has err "cannot be seen from here.*container" && ! has err "kill|process" || exit 1; done'
	touch go
	wait $other
	ok $? "and there it is unmounted, too"
	rm go
	unsanitized test_that "without /proc nothing is called detached, or mounted" '
		run 0 mount "$mnt" && { alone sh -c "mount -t tmpfs none /proc && \"$solverfs\" unmount \"$mnt\"" 2>err; [ $? = 4 ]; } && has err "cannot read /proc/self/mounts" && run 0 unmount "$mnt" &&
		{ alone sh -c "mount -t tmpfs none /proc && \"$solverfs\" mount \"$mnt\"" 2>err; [ $? = 4 ]; } && has err "cannot read /proc/self/mounts"'
else
	skip "mounts of other namespaces" "no namespaces here"
fi

as_root "a daemon that ends leaves what was mounted over it" '
	run 0 mount "$mnt" -q && pid=$(daemon) && mount -t tmpfs over "$mnt" && kill -TERM $pid && gone "$pid" && grep -q "^over .* tmpfs" /proc/self/mounts && umount "$mnt"; r=$?; "$solverfs" -q unmount --lazy "$mnt" 2>/dev/null; (exit $r)'
test_that "unmount waits for no successor" '
	for i in 1 2 3 4 5; do
		run 0 mount "$mnt" -q && { timeout 60 "$solverfs" -q unmount "$mnt" & } && unmounting=$! && await "\"\$solverfs\" -q mount \"\$mnt\" 2>/dev/null" && wait $unmounting && run 0 unmount "$mnt" || exit 1
	done'

# Killed outright. What is being killed holds its locks a moment longer than its name is in /proc; nobody has to wait for that.
run 0 mount "$mnt" -q
kill_daemon
await '[ -z "$(daemon)" ]'
test_that "doctor calls a dead mount stale" 'run 0 doctor || run 1 doctor; has out "^mount	warning	.*stale"'
test_that "mount takes a dead mount away first" 'run 0 mount "$mnt" && [ -r "$mnt/README" ]'
test_that "mount comes at once behind a kill, many times" 'for i in 1 2 3 4 5 6 7 8; do kill_daemon; run 0 mount "$mnt" -q && [ -r "$mnt/README" ] || exit 1; done'
kill_daemon
await '[ -z "$(daemon)" ]'
test_that "unmount takes a dead mount away" 'run 0 unmount "$mnt" && ! mounted "$mnt" && run 0 mount "$mnt" -q && run 0 unmount "$mnt"'
test_that "a store with a number sign in its path: doctor knows its mount, and unmount returns when the daemon has gone" '
	export SOLVERFS_STORE="$top/s#t" && run 0 init -q && run 0 mount "$mnt" -q && { run 0 doctor || run 1 doctor; has out "^mount	ok	.*/mnt serves"; }; r=$?
	run 0 unmount "$mnt" && [ -z "$(ls "$SOLVERFS_STORE/mounts")" ] && (exit $r)'
hold_cores
test_that "readers of a mount with --wait give up: no core is free" '
	run 0 mount "$mnt" -q --wait 0 && ! timeout 100 cat "$mnt/toy/commits/v1/cases/2/time" 2>err && has err "temporarily unavailable"'
test_that "... and of its daemon that begins anew" '
	kill -SEGV "$(daemon)" && await "cat \"$mnt/README\" >got 2>&1" && ! timeout 20 cat "$mnt/toy/commits/v1/cases/2/time" 2>err && has err "temporarily unavailable"; r=$?
	run 0 unmount "$mnt" && (exit $r)'
let_cores_go

echo "1..$n"
