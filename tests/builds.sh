#!/bin/bash
# Builds everything, tests included, in each configuration that people build in; a warning is an error here. Prints a line for each; 0: all were built.
#
#     tests/builds.sh FOLDER [NAME…]        in FOLDER, which may stay: the next time only what has changed is compiled
#
# Without names it is all of them. One whose compiler is not installed is skipped.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: tests/builds.sh FOLDER [NAME…]}
shift
wanted=("$@")
names=()
failed=0
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 1
cache=$(command -v ccache)

# tried NAME COMPILER COMMAND…: its line; what the command prints is in a file.
tried() {
	local name=$1 compiler=$2 log=$folder/$1.log
	shift 2
	names+=("$name")
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " = *" $name "* ]] || return
	if ! command -v "$compiler" >/dev/null; then
		echo "$name: skipped, no $compiler"
	elif CC="${cache:+ccache }$compiler" "$@" "$folder/$name" >"$log" 2>&1 </dev/null; then
		echo "$name: built"
	else
		failed=1
		echo "$name: failed, $(grep -cE '(error|warning): ' "$log") messages in $log"
		grep -E '(error|warning): ' "$log" | sort -u | head -n 20
	fi
}
# Meson's options first, the folder last.
by_meson() {
	local build=${!#}
	{ [ -f "$build/build.ninja" ] || meson setup -Dwerror=true "$@" "$source"; } && ninja -k 0 -C "$build"
}
# strand has a Makefile of its own.
by_make() {
	rm -rf "$1" && cp -r "$source/examples/strand" "$1" && make -C "$1" clean && make -C "$1" -k "-j$(nproc)" "CC=$CC" "CFLAGS=-O2 -g -Werror" strand tests/labels fuzz/differ
}

tried default gcc by_meson
tried debug gcc by_meson --buildtype=debug
tried plain gcc by_meson --buildtype=plain
tried release gcc by_meson --buildtype=release
tried minsize gcc by_meson --buildtype=minsize
tried lto gcc by_meson -Db_lto=true
tried no-asserts gcc by_meson -Db_ndebug=true
tried debian gcc by_meson --buildtype=plain "-Dc_args=-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wdate-time" # as dpkg-buildflags would
tried clang clang by_meson
tried clang-release clang by_meson --buildtype=release
tried strand gcc by_make
tried strand-clang clang by_make
for name in "${wanted[@]}"; do
	[[ " ${names[*]} " = *" $name "* ]] || { echo "no configuration $name; there are: ${names[*]}" >&2 && failed=1; }
done
exit $failed
