#!/bin/bash
# Memcheck over the runner; five minutes.
#
#     tests/valgrind.sh BUILD                 BUILD: a build folder that is up to date, and not sanitized
#
# First the caller: test_execute and test_measure, the programs they run and the helper left alone. Then the helper, linked dynamically so
# that memcheck sees its malloc(), in every run of test_mount_hostile without the sandbox (in which it could not be found). Prints what
# memcheck says and whether the tests passed; the exit status is 0 when there is nothing. That valgrind does not know system call 434
# (pidfd_open) is no finding: the caller does without.
set -u
build=$(cd "${1:?usage: tests/valgrind.sh BUILD}" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/solverfs-valgrind-XXXXXX") || exit 1
chmod 711 "$work"
trap 'rm -rf "$work"' EXIT
failed=0

check() { # NAME COMMAND…: what its logs say
        name=$1
        shift
        "$@" >"$work/out" 2>&1 || { failed=1; cat "$work/out"; }
        grep -ahvE '^(--|==)[0-9]+(--|==) (WARNING: unhandled amd64-linux syscall: 434|You may be able|Read the file|Nevertheless|it at http)' \
                "$work"/*.log | grep . && failed=1
        n=$(find "$work" -name '*.log' | wc -l)
        echo "$name: $n processes"
        [ "$n" -gt 0 ] || failed=1 # memcheck saw nothing
        rm -f "$work"/*.log
}

export CK_TIMEOUT_MULTIPLIER=10 SOLVERFS_ATTACKER="$build/tests/support/attacker" SOLVERFS_EXEC="$build/core/sandbox/solverfs-exec" SOLVERFS_SHIM="$build/core/build/solverfs-shim"
for suite in execute measure; do
        check $suite valgrind -q --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
                --log-file="$work/%p.log" "$build/tests/test_$suite"
done

cc -std=gnu17 -D_GNU_SOURCE -g -O1 -I"$source" -o "$work/solverfs-exec" "$source"/core/sandbox/exec_{keeper,lend,order,stub,surroundings,tree,watch,world}.c \
        "$source/core/sandbox/core_lock.c" "$source/cache/base/process.c" -pthread || exit 1
printf '#!/bin/sh\nexec valgrind -q --leak-check=no "--log-file=%s/%%p.log" "%s/solverfs-exec"\n' "$work" "$work" >"$work/helper"
chmod 755 "$work/helper"
export SOLVERFS_EXEC="$work/helper" SOLVERFS_COMMAND="$build/tools/solverfs" SOLVERFS_TINY="$build/tests/support/tiny"
check helper env CK_RUN_CASE=test_without_a_sandbox "$build/tests/mount/test_mount_hostile"
exit $failed
