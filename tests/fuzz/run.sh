#!/bin/bash
# Builds the fuzz targets and runs them, one after the other: tests/fuzz/run.sh [SECONDS [TARGET...]] (60 each, all of them).
# New inputs go to build-fuzz/corpus; `run.sh --keep` then adds to tests/fuzz/corpus what reaches something new. A finding stays in build-fuzz/findings.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(readlink -m "${SOLVERFS_FUZZ_BUILD:-build-fuzz}")
seeds=$PWD/tests/fuzz/corpus
all="recipe verdict decode journal remote smtlib path message finished"

[ -d "$build" ] || CC=clang meson setup "$build" -Dfuzz=true >/dev/null || exit 1
# shellcheck disable=SC2086
ninja -C "$build" $(printf 'tests/fuzz/fuzz_%s ' $all) >"$build/build.log" || { tail -20 "$build/build.log"; exit 1; }
if [ "${1:-}" = --keep ]; then
	for target in $all; do
		[ -d "$build/corpus/$target" ] && "$build/tests/fuzz/fuzz_$target" -merge=1 -max_len=4096 "$seeds/$target" "$build/corpus/$target" 2>&1 | tail -1
	done
	exit
fi
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- $all
mkdir -p "$build/findings"
failed=0
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 LSAN_OPTIONS="suppressions='$PWD/tests/fuzz/lsan':print_suppressions=0"
for target; do
	mkdir -p "$build/corpus/$target"
	"$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=30 -print_final_stats=1 -verbosity=1 \
		-artifact_prefix="$build/findings/$target-" "$build/corpus/$target" "$seeds/$target" >"$build/$target.log" 2>&1
	status=$?
	echo "$target: $(sed -n 's/^stat::number_of_executed_units: //p' "$build/$target.log" | tail -1) executions in ${seconds} s, status $status"
	[ $status = 0 ] || failed=1
done
rm -rf /dev/shm/solverfs-fuzz-*
exit $failed
