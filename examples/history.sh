#!/bin/sh
# A solver's times along its history, read from a mount: a line for each commit of the first-parent line that changed PATH, oldest
# first, a column for each case. A time stands for a decided case; anything else is said in words. Every number is read with
# cat, so what is not measured yet is built and run by this, and the second time everything is there.
#
#     examples/history.sh [-t LIMIT] MOUNT/SOLVER PATH [CASE…]
#     examples/history.sh -t 5s /mnt/solvers/strand examples/strand 1 2 3
set -eu
usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cells=cases
while getopts t: option; do
        case $option in
        t) cells=timeout/$OPTARG/cases ;;
        *) usage ;;
        esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
solver=$1 path=$2
shift 2
[ -d "$solver/commits" ] || { echo "history.sh: $solver is not a solver's folder of a mount" >&2; exit 2; }
if [ $# -eq 0 ]; then # ids are numbers: no name to be careful with
        # shellcheck disable=SC2046,SC2012
        set -- $(ls "$solver/head/cases" | sort -n)
fi

# The first-parent line, newest first, is where parents/1 leads to.
line() {
        at=$(readlink "$solver/head") && at=${at##*/}
        while :; do
                ! grep -q "	$path" "$solver/commits/$at/changes" || echo "$at"
                at=$(readlink "$solver/commits/$at/parents/1") || break
                at=${at##*/}
        done
}

cell() {
        result=$(tail -n 1 "$1/result" 2>/dev/null) || result='?'
        case $result in
        sat | unsat) printf '%.3f' "$(cat "$1/time")" ;;
        *) printf %s "$result" ;;
        esac
}

printf '%-10s' commit
for case; do printf ' %9s' "$case"; done
printf '  %s\n' subject
line | tac | while read -r sha; do
        printf '%-10.10s' "$sha"
        for case; do printf ' %9.9s' "$(cell "$solver/commits/$sha/$cells/$case")"; done
        printf '  %.60s\n' "$(head -n 1 "$solver/commits/$sha/message")"
done
