#!/bin/bash
# The whole suite under sanitizers: once under ASan and UBSan, once under TSan. Ends with a line for each, and with status 0 when nothing was found.
#
#     tests/sanitize.sh [address|thread] [TEST…]        both, and all tests, unless named; build-address/ and build-thread/ stay for the next time
#
# On two cores it takes half an hour and an hour. A finding ends its test, whose log has it (meson-logs/testlog.txt). Memory is bounded, as
# what reads damaged data under TSan may touch much of it.
set -u
cd "$(dirname "$0")/.." || exit 1
case ${1:-} in
address | thread) kinds=("$1") && shift ;;
*) kinds=(address thread) ;;
esac
# Faults are ours to handle: a page that cannot be read, a process that is lost.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:detect_stack_use_after_return=1:handle_segv=0:handle_sigbus=0}"
export LSAN_OPTIONS="${LSAN_OPTIONS:-print_suppressions=0:suppressions=$PWD/tests/support/leaks.txt}" # what is the libraries'
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}" TSAN_OPTIONS="${TSAN_OPTIONS:-second_deadlock_stack=1:history_size=4:handle_segv=0:handle_sigbus=0:handle_abort=0:die_after_fork=0}"
export CK_TIMEOUT_MULTIPLIER=10
failed=0
lines=()
for kind in "${kinds[@]}"; do
	[ -f "build-$kind/build.ninja" ] || meson setup "-Dsanitize=$kind" "build-$kind" . >/dev/null || exit 1
	SOLVERFS_BUILD=build-$kind tools/test.sh --timeout-multiplier 10 "$@" | tee "build-$kind/sanitize.out"
	[ "${PIPESTATUS[0]}" = 0 ] || failed=1
	lines+=("$kind: $(tail -n 1 "build-$kind/sanitize.out")")
done
printf '%s\n' "${lines[@]}"
exit $failed
