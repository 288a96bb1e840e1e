#!/bin/bash
# Shows what solverfs does, on this very repository: its history holds strand, a small string solver that builds in seconds. Installs
# what is missing, builds, makes a store in a temporary folder, mounts it, reads from it, and takes everything away again.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh

# -- what it needs --

fail() {
	echo "$*" >&2
	exit 1
}

packages_install
# A root shell may look at a checkout that is somebody else's; git and libgit2 do so only when told.
git_safe() { git -c safe.directory="$PWD" "$@"; }
git_safe rev-parse --git-dir >/dev/null 2>&1 ||
	fail "This folder has no git history (an unpacked archive?), and the demo walks through one: clone the repository instead, with 'git clone'."
[ "$(git_safe rev-parse --is-shallow-repository)" = false ] ||
	fail "This checkout is a shallow clone, and the demo walks through its history: get the rest with 'git fetch --unshallow'."
# The commits of the solver in order, oldest first; those that came before its Makefile cannot be built.
mapfile -t commits < <(git_safe rev-list --first-parent --reverse HEAD -- examples/strand)
[ ${#commits[@]} -ge 2 ] || fail "The history of this checkout holds no versions of examples/strand to show; is it on a branch of your own?"

build=$(packages_build_folder)
packages_build "$build"
export PATH="$PWD/$build/tools:$PATH"
case $build in /*) export PATH="$build/tools:$PATH" ;; esac

# -- the stage --

temp=$(mktemp -d "${TMPDIR:-/tmp}/solverfs-demo-XXXXXX")
export SOLVERFS_STORE=$temp/store
mnt=$temp/mnt
cleanup() {
	status=$?
	[ -z "${watcher:-}" ] || kill "$watcher" 2>/dev/null || true
	cd /
	[ $status -eq 0 ] || [ ! -s "$SOLVERFS_STORE/log" ] || { echo "The mount's log:" && tail -n 5 "$SOLVERFS_STORE/log"; } >&2
	solverfs -q unmount "$mnt" 2>/dev/null || solverfs -q unmount --lazy "$mnt" 2>/dev/null || true
	rm -rf --one-file-system "$temp" # it may be mounted still
}
trap cleanup EXIT
trap 'exit 130' INT TERM

bold="" plain=""
if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi
say() { printf '\n%s\n' "$*"; }
shown() { printf '%s$ %s%s\n' "$bold" "${*//$mnt/mnt}" "$plain"; }
show() {
	shown "$@"
	"$@"
}
TIMEFORMAT='                                   (%R seconds)'
timed() {
	shown "$@"
	time "$@"
}

# What a build says while a reader waits for it: on a terminal, a line that goes when the answer is there.
watcher=""
watch_build() { # FOLDER of its commit
	[ -t 2 ] || return 0
	while sleep 1; do
		printf '\r\033[K   %s: %.60s' "$(cat "$1/build/status")" "$(tail -n 1 "$1/build/so-far" 2>/dev/null)" >&2
	done &
	watcher=$!
}
end_watch() {
	[ -n "$watcher" ] || return 0
	kill "$watcher" 2>/dev/null || true
	wait "$watcher" 2>/dev/null || true
	watcher=""
	printf '\r\033[K' >&2
}

# -- the play --

say "1. A store, a solver with its history, and a few cases"
show solverfs init
repository=$PWD
if [ ! -O "$repository" ]; then # libgit2 does not read what is another's: take a copy that is ours
	printf '[safe]\n\tdirectory = *\n' >"$temp/gitconfig"
	GIT_CONFIG_GLOBAL=$temp/gitconfig git clone -q --bare "$repository" "$temp/copy.git"
	repository=$temp/copy.git
fi
show solverfs solver add strand "$repository"
show solverfs case add examples/cases

mkdir "$mnt"
if [ ! -c /dev/fuse ]; then
	say "This machine has no /dev/fuse (in a container: --device /dev/fuse --cap-add SYS_ADMIN), so nothing can be mounted. The command asks the same questions:"
	timed solverfs run strand HEAD all
	say "A second time nothing has to be worked out:"
	timed solverfs run strand HEAD all
	exit 0
fi
say "2. Mounted, it is a tree of files"
show solverfs mount "$mnt"
show ls "$mnt" "$mnt/strand" "$mnt/cases"

say "3. Reading a file that nobody has read before: the commit is built, which takes a moment, and run on the case"
watch_build "$mnt/strand/head"
timed cat "$mnt/strand/head/cases/1/time"
end_watch
say "   Once more. It is known now, for good"
timed cat "$mnt/strand/head/cases/1/time"
show cat "$mnt/strand/head/cases/1/result"
show ls "$mnt/strand/head/cases/1"

old=${commits[$(((${#commits[@]} - 1) / 3))]}
old=${old:0:12} # any unambiguous prefix names a commit
say "4. The same for any commit that ever was: this one says"
show cat "$mnt/strand/commits/$old/message"
watch_build "$mnt/strand/commits/$old"
timed cat "$mnt/strand/commits/$old/cases/1/result"
end_watch
say "   Its program can be run from where it is"
show ls -l "$mnt/strand/commits/$old/bin/strand"
shown "$mnt/strand/commits/$old/bin/strand" "$mnt/cases/1/input.smt2"
"$mnt/strand/commits/$old/bin/strand" "$mnt/cases/1/input.smt2" || echo "(exit status $?)"

say "5. What is known is under cached/, where nothing ever starts work: made for grep, tar and backups"
shown "ls $mnt/strand/cached | wc -l"
find "$mnt/strand/cached" -mindepth 1 -maxdepth 1 | wc -l
say "   (Commits that did not touch the solver share its build, and its results)"
shown "grep . $mnt/strand/cached/$old/cases/*/{time,result}"
grep . "$mnt/strand/cached/$old"/cases/*/{time,result} | sed "s|$mnt|mnt|"
say "   The command sees the same store, mounted or not"
show solverfs run strand HEAD all

say "6. And away with it"
show solverfs unmount "$mnt"
cleanup
trap - EXIT
say "That was the whole tour. Your own solver: solverfs init, then solverfs solver add NAME REPO; see README.md."
