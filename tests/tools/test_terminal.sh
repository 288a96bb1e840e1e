#!/bin/bash
# What a person sees: tables and help in a terminal of 80 columns.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"

# on COLUMNS LINES COMMAND...: runs it with a terminal of that size for all its output, which becomes the file screen
on() {
	python3 - "$@" <<'END' >screen
import fcntl, os, pty, struct, sys, termios
columns, lines, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    while os.get_terminal_size() != (columns, lines): pass  # set below
    os.environ["TERM"] = "xterm"
    os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
seen = b""
try:
    while part := os.read(fd, 4096): seen += part
except OSError: pass  # the end of it
os.waitpid(pid, 0)
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
END
}
widest() { LC_ALL=C.UTF-8 wc -L <"$1"; }

make_toy
name=a-case-whose-name-is-much-longer-than-the-terminal-of-eighty-columns-in-which-it-is-to-be-listed.smt2
printf '; answer: sat\n(set-info :status sat)\n(check-sat)\n' >"$name"
printf '; answer: sat\n(set-info :status unsat)\n(check-sat)\n' >wrong.smt2
run 0 init -q && run 0 case add -q "$name" wrong.smt2 && run 0 solver add toy toy --recipe recipes/toy.recipe
run 0 run toy v1 v3 1
first=$(git -C toy rev-parse v1)

test_that "a table keeps to the terminal" '
	for command in "history toy 1 --known" "compare toy@v1 toy@v3 1 --known" "case list" "build toy v1 v3" "status"; do
		on 80 24 "$solverfs" $command && [ "$(widest screen)" -le 80 ] || { echo "# $command" && cat screen && exit 1; }
	done'
test_that "what is cut says so" 'on 80 24 "$solverfs" case list && has screen "^ +1 .* a-case-whose.*…$" && [ "$(widest screen)" = 80 ]'
test_that "a commit is what names it, a number has its unit" '
	on 80 24 "$solverfs" history toy 1 --known && has screen "TIME .s." && has screen " ${first:0:12} " && ! has screen "$first"'
test_that "a wide terminal shows all columns" 'on 200 24 "$solverfs" run toy v1 1 && has screen "CPUTIME .s. +MEMORY .B. +COMMIT +CHECK +NAME +DISTURBED" && has screen "$name"'
test_that "a pipe has everything, whole" 'run 0 history toy 1 --known && has out "^1	$first	" && run 0 case list && has out "	$name$"'

test_that "a worker that is begun by hand leaves the terminal as it was" '
	python3 -c "
import os, pty, subprocess, sys, termios
terminal = pty.openpty()[1]
before = termios.tcgetattr(terminal)
assert subprocess.run(sys.argv[1:], stdin=terminal, stdout=terminal, stderr=terminal).returncode == 4
assert termios.tcgetattr(terminal) == before" "$solverfs" worker --folder "$top/kept"'

test_that "the first Ctrl-C ends a question" '
	python3 -c "
import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
seen = b\"\"
while b\"[y/N]\" not in seen: seen += os.read(fd, 4096)
os.write(fd, b\"\x03\")
for i in range(200):
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended: break
    time.sleep(0.05)
else: os.kill(pid, signal.SIGKILL)
sys.exit(not (ended and os.waitstatus_to_exitcode(status) in (130, -signal.SIGINT)))" "$solverfs" gc --keep 0 && run 0 gc --keep 0 --dry-run && has out "^programs	[1-9]"'

run 0 portfolio add p toy@v1 toy@v3
test_that "the tables of a portfolio are aligned, without tabs" '
	on 80 24 "$solverfs" portfolio show p && has screen "^arm +kind +what +seed +problem$" && has screen "^virtual best +[0-9]" && ! grep -q "	" screen &&
	has screen " ${first:0:12} " && [ "$(grep -v "^#" screen >table; widest table)" -le 80 ]'

# The help of every command, as argp wraps it for 80 columns: an example that is broken cannot be pasted.
test_that "no line of help is broken behind an indented one" '
	"$solverfs" --help | sed -n "s/^  \([a-z]*\( [a-z]*\)\?\)  *[A-Za-z\[].*/\1/p" | sed "s/ [A-Z].*//" >commands
	[ "$(wc -l <commands)" -gt 40 ] || exit 1
	echo >>commands
	while read -r command; do
		COLUMNS=80 "$solverfs" $command --help </dev/null >help 2>&1
		awk -v c="$command" "/^[a-z(-]/ && before ~ /^  / { print \"# \" c \": \" \$0; bad = 1 } { before = \$0 } END { exit bad }" help || exit 1
	done <commands'

printf '; answer: sat\n; sleep: 2\n(check-sat)\n' >lasting.smt2
run 0 case add lasting.smt2
test_that "a bar of progress has gone before the first row, also of a pipeline" '
	on 80 24 sh -c "\"\$0\" run toy v1 lasting.smt2 | cat" "$solverfs" && LC_ALL=C grep -aqP "case 3\r\x1b\[K3\tsat\t" screen'

# A name that would clear the screen, ring, turn the text round (U+202E, U+2066), hide (U+200B) and set a title (C1), with a byte that is no UTF-8.
evil=$(printf 'e\033[2J\a\342\200\256vil\342\201\246\342\200\213\302\235\377.smt2')
shown='e\\x1b\[2J\\x07\\xe2\\x80\\xaevil\\xe2\\x81\\xa6\\xe2\\x80\\x8b\\xc2\\x9d\\xff.smt2'
printf '; answer: sat\n(set-info :status unsat)\n(check-sat)\n(exit)\n' >"$evil"
git -C toy tag "$(printf 'tag\342\200\256')" v3
is_safe() { # nothing but text, new lines, tabs, and what a terminal gets from us: the ends of bars, and red
	sed 's/\x1b\[\(1;31\|0\|K\)\?[mK]//g; s/\r//g' "$@" | LC_ALL=C grep -qaE "$(printf '[\001-\010\013-\037\177\377]|\302[\200-\237]|\342\200[\213\256]|\342\201\246')" && return 1
	return 0
}
test_that "a name with control characters, or such as turn or hide text, is shown by their bytes" '
	run 0 case add "$evil" && has out "$shown$" && is_safe out err && run 1 case add "nosuch$evil" && has err "nosuch$shown" && is_safe err &&
	run 3 case remove "nosuch$evil" && is_safe err && run 2 case add --status "$evil" x && is_safe err && run 3 run "$evil" HEAD 1 && is_safe err && run 3 run toy "$evil" 1 && is_safe err'
run 0 solver update toy
test_that "... in every table, to a file and to a terminal" '
	run 1 run toy v1 v3 "$evil" -q
	run 2 set add "s$evil" 1 && is_safe err || exit 1
	for command in "case list" "run toy v1 all" "history toy all --known" "compare toy@v1 toy@v3 --known" "status" "set list" "solver list" "steps toy" "export -f csv" "export -f jsonl" "doctor" "fsck"; do
		for json in "" --json; do
			"$solverfs" $command $json >out 2>err
			is_safe out err && on 200 24 "$solverfs" $command $json && is_safe screen || { echo "# $command $json" && cat -v out err screen && exit 1; }
		done
	done'

run 1 run toy v1 wrong.smt2
test_that "an alarm is red, unless NO_COLOR says otherwise" '
	on 80 24 "$solverfs" status && grep -q "$(printf "\033\[1;31m")solverfs: WRONG ANSWER" screen &&
	on 80 24 env NO_COLOR=1 "$solverfs" status && has screen "^solverfs: WRONG ANSWER" && ! grep -q "$(printf "\033")" screen'

echo "1..$n"
