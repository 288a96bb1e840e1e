#!/bin/bash
# Builds strand as it was at each of its commits and runs it on a folder of cases: its speed-ups and slow-downs.
#
#   ./history.sh FOLDER [COMMIT...]      (default: every commit that changed this folder, oldest first)
#
# Case names begin with sat- or unsat-. TIMEOUT (seconds, default 2) limits each run. Prints a Markdown table.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cases=$(cd "${1:?usage: history.sh FOLDER [COMMIT...]}" && pwd)
shift
limit=${TIMEOUT:-2}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
prefix=$(git -C "$here" rev-parse --show-prefix)
top=$(git -C "$here" rev-parse --show-toplevel)
[ $# -gt 0 ] || set -- $(git -C "$here" log --reverse --format=%h -- .)

echo "| commit | what | solved | unknown | timeout | wrong | time (s) |"
echo "|---|---|---|---|---|---|---|"
for c in "$@"; do
        rm -rf "$tmp/src" && mkdir "$tmp/src"
        git -C "$top" archive "$c:${prefix%/}" | tar -x -C "$tmp/src"
        subject=$(git -C "$here" log -1 --format=%s "$c" | sed 's/^strand: //')
        if ! make -C "$tmp/src" CFLAGS=-O1 > "$tmp/log" 2>&1; then
                echo "| $c | $subject | does not build | | | | |"
                continue
        fi
        solved=0 unknown=0 late=0 wrong=0
        begin=$(date +%s%N)
        for f in $(find -L "$cases" -name '*.smt2' | LC_ALL=C sort); do
                want=$(basename "$f" | cut -d- -f1)
                got=$(timeout "$limit" "$tmp/src/strand" "$f" 2> /dev/null)
                status=$?
                got=$(echo "$got" | grep -E -m1 '^(sat|unsat|unknown)$')
                if [ $status = 124 ]; then late=$((late + 1))
                elif [ "$got" = "$want" ]; then solved=$((solved + 1))
                elif [ "$got" = sat ] || [ "$got" = unsat ]; then wrong=$((wrong + 1))
                else unknown=$((unknown + 1)); fi
        done
        echo "| $c | $subject | $solved | $unknown | $late | $wrong | $((($(date +%s%N) - begin) / 10000000 / 100)).$(printf %02d $((($(date +%s%N) - begin) / 10000000 % 100))) |"
done
