# shellcheck shell=bash
# What the black-box tests of the command share: a scratch folder of their own, TAP, and a toy solver. Sourced; $1 is the command.
set -u
solverfs=$(readlink -f "$1")
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
top=$(mktemp -d "${TMPDIR:-/tmp}/solverfs command 1XXXXXX") # with spaces and a digit behind one, as a home may have
outside=() # files and folders that a script has beside $top, which are removed, too
trap 'clean_up; let_cores_go; cd /; rm -rf "$top" "${outside[@]}"' EXIT
clean_up() { :; } # a script may have more to do
is_mounted() { grep -q "$(printf '%s' "$1" | sed 's/ /\\\\040/g') fuse.solverfs" /proc/self/mounts; } # is_mounted FOLDER
# make_mount: a folder $mnt, which is unmounted at the end.
make_mount() {
	mnt=$top/mnt
	mkdir "$mnt"
	clean_up() { ! is_mounted "$mnt" || timeout 200 "$solverfs" -q unmount --lazy "$mnt"; }
}
cd "$top" || exit 1
export top HOME=$top/home SOLVERFS_STORE=$top/store SOLVERFS_SLOTS=$top/slots GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C.UTF-8
unset SOLVERFS_RECIPES XDG_DATA_HOME NOTIFY_SOCKET
mkdir "$HOME"
# Not empty: built with sanitizers, which reserve terabytes, have large stack frames, load all libraries and need /proc.
sanitized=$(ldd "$solverfs" | grep -E 'lib[at]san')
export LSAN_OPTIONS="suppressions='$source_dir/tests/support/leaks.txt':print_suppressions=0"

# -- TAP --

n=0
ok() { # ok CONDITION-STATUS DESCRIPTION
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# out: /' out
		sed 's/^/# err: /' err
	fi
}
# run STATUS ARGUMENT...: calls solverfs, for $limit seconds (200) at most, times $CK_TIMEOUT_MULTIPLIER; keeps `out` and `err`; 0 when it ends with STATUS.
run() {
	local want=$1 got
	shift
	timeout -k 5 $((${limit:-200} * ${CK_TIMEOUT_MULTIPLIER:-1})) "$solverfs" "$@" >out 2>err </dev/null
	got=$?
	[ $got = "$want" ] || {
		echo "# 'solverfs $*' ended with $got, not $want"
		return 1
	}
}
# has FILE PATTERN: as grep -qE, without a process where the file is short.
has() {
	local lines line
	mapfile -t -n 100 lines <"$1"
	[ ${#lines[@]} -lt 100 ] || { grep -qE -- "$2" "$1"; return; }
	for line in "${lines[@]}"; do [[ $line =~ $2 ]] && return; done
	return 1
}
is() { [ "$(<"$1")" = "$2" ]; } # is FILE TEXT
empty() { [ ! -s "$1" ]; }
test_that() { # test_that DESCRIPTION COMMAND...: a conjunction given as one string
	(eval "$2")
	ok $? "$1"
}
skip() { n=$((n + 1)) && echo "ok $n - $1 # SKIP $2"; } # skip DESCRIPTION WHY
# where CONDITION WHAT test_that DESCRIPTION COMMAND...: that test where it holds; else it is skipped, as it needs WHAT
where() { if (eval "$1") >/dev/null; then "${@:3}"; else skip "$4" "needs $2"; fi; }
as_root() { where '[ "$(id -u)" = 0 ]' root test_that "$@"; } # as_root DESCRIPTION COMMAND...
unsanitized() { where '[ -z "$sanitized" ]' "no sanitizers" "$@"; } # unsanitized test_that DESCRIPTION COMMAND...
# await CONDITION: until it holds. False when something hangs: a busy machine may need many times what a quiet one does.
await() {
	local i
	for i in $(seq 2400); do (eval "$1") && return 0; sleep 0.05; done
	echo "# never: $1"
	return 1
}
# The system's own where there is one: another in PATH may be a script that looks for it each time, which takes ten times as long.
[ ! -x /usr/bin/python3 ] || { shopt -s expand_aliases && alias python3=/usr/bin/python3; }
random_bytes() { python3 "$source_dir/tests/support/seed.py" "$1"; }
# Those of the processes in FILE that do not end.
left_of() { # left_of FILE
	for pid in $(cat "$1"); do await "! kill -0 $pid 2>/dev/null" || echo "$pid is left"; done
}
# The scratch folder for a browser, whatever is in its name.
top_url() { python3 -c 'import pathlib, sys; print(pathlib.Path(sys.argv[1]).as_uri())' "$top"; }
# Fields of rows are separated by tabs.
field() { cut -f "$1" out; }

# -- time --

# Runs last as long as their programs say ("lasts 0.25" on standard error; core/run/simulated_clock.h), and not as long as this machine takes for them.
# A test then measures the same however busy the machine is, and a timeout takes no time.
tell_time() { # tell_time [FOLDER]: in that folder of faults; else in $top/faults, and from now on in every process
	local folder=${1:-$top/faults}
	[ $# = 1 ] || export SOLVERFS_FAULTS=$folder
	mkdir -p "$folder" && echo "fail ETIME" >"$folder/run.clock"
}

# -- cores --

# terminal COMMAND...: its output as a terminal shows it, each progress on a line, in `out`.
terminal() { TERM=xterm timeout 60 script -qec "${*@Q}" /dev/null </dev/null | tr '\r' '\n' >out; }

# hold_cores [FIRST]: holds every core, from FIRST on, as other work does, until let_cores_go.
hold_cores() {
	rm -f held
	mkdir -p "$SOLVERFS_SLOTS"
	python3 -c '
import fcntl, os, struct, sys, time
test = os.getppid()
files = [open(f"{sys.argv[1]}/cpu{i}", "a") for i in range(int(sys.argv[2]), os.cpu_count())]
for f in files:
    fcntl.fcntl(f, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
open("held", "w").close()
while os.getppid() == test: time.sleep(1)' "$SOLVERFS_SLOTS" "${1:-0}" &
	cores_held=$!
	await '[ -e held ]'
}
let_cores_go() {
	[ -n "${cores_held:-}" ] && kill "$cores_held" && wait "$cores_held" 2>/dev/null
	cores_held=
}

# -- a recipe of a toy solver --

# toy_recipe NAME [LINE...]: writes NAME.recipe, of a program NAME that build.sh makes. A LINE takes the place of the one with its key, or joins them.
toy_recipe() {
	local file=$1.recipe line
	printf '[solver]\n' >"$file"
	printf '\t%s\n' 'format = smt2' 'build = sh build.sh' "output = $1" 'run = {bin} {case}' 'samples = 1' >>"$file"
	for line in "${@:2}"; do sed -i "/^\t${line%% *} = /d" "$file"; done
	for line in "${@:2}"; do printf '\t%s\n' "$line" >>"$file"; done
}

# -- solvers that are shell scripts, in git repositories --

make_repository() { git init -q -b main "$1" && printf '[user]\n\tname = Toy\n\temail = toy@example.org\n' >>"$1/.git/config"; }
day_commit() { # day_commit REPOSITORY DAY MESSAGE
	git -C "$1" add -A && GIT_COMMITTER_DATE="2024-01-0$2T00:00:00Z" git -C "$1" commit -q --date "2024-01-0$2T00:00:00Z" -m "$3"
}

# make_script NAME: a solver without commits; script_commit NAME N BODY: one that answers sat behind BODY, tagged vN.
make_script() { make_repository "$1" && echo "cp $1.sh $1 && chmod +x $1" >"$1/build.sh"; }
script_commit() {
	printf '#!/bin/sh\nfor case; do :; done\n%s\necho sat\n' "$3" >"$1/$1.sh"
	day_commit "$1" "$2" "commit $2" && git -C "$1" tag "v$2"
}

# The toy: with a commit that cannot be built and one that answers wrongly.
toy_commit() { day_commit toy "$1" "$2"; }
make_toy() {
	make_repository toy
	cat >toy/toy.sh <<'END'
#!/bin/sh
# Answers what the case says in a comment, after as many seconds as it says.
for case; do :; done
[ "$1" = --seed ] && echo "seed $2" >&2
sleep "$(sed -n 's/^; sleep: //p' "$case" | grep . || echo 0)"
sed -n 's/^; answer: //p' "$case"
END
	echo 'cp toy.sh toy && chmod +x toy' >toy/build.sh
	toy_commit 1 "first" && git -C toy tag v1
	echo 'echo no luck today; exit 7' >toy/build.sh
	toy_commit 2 "broken"
	echo 'cp toy.sh toy && chmod +x toy' >toy/build.sh
	sed -i 's/^sed -n .*answer.*/echo sat/' toy/toy.sh
	toy_commit 3 "always sat" && git -C toy tag v3
	mkdir recipes && (cd recipes && toy_recipe toy 'run = {bin} {seed} {case}' 'seed = --seed {n}' 'timeout = 10s' 'memory = 1g')
	printf '[variant "toy-again"]\n\targuments = --again\n' >>recipes/toy.recipe
}

# -- a cluster --

# add_lab [VARIABLE]: two workers on this machine, with one node's folder; each notes its pid in `launched`. They do not have the VARIABLE of the head,
# which may make the head unable to do the work itself.
add_lab() {
	cat >>store/config <<-END
		[cluster "lab"]
		launch = "echo \$\$ >>\"\$top/launched\"; ${1:+unset $1; }exec {worker} --slots 1 --folder \"\$top/node\""
		workers = 2
	END
}
