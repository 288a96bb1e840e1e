#!/bin/sh
# For `git bisect run` over a mount: is this commit slow on that case? Nothing is checked out, and nothing is built or run twice.
#
#     git bisect start --no-checkout --term-old=fast --term-new=slow TARGET REFERENCE
#     git bisect run examples/bisect.sh MOUNT/SOLVER CASE SECONDS
#
# Slow is a run that takes more than SECONDS, or is not decided by then. `solverfs localize` asks the same with noise in mind.
set -u
[ $# -eq 3 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 255; }
cell=$1/commits/$(git rev-parse BISECT_HEAD 2>/dev/null || git rev-parse HEAD)/cases/$2
# 255 stops the bisection: no answer is no answer, and neither fast nor slow.
result=$(tail -n 1 "$cell/result") || exit 255
case $result in
sat | unsat) ;;
unbuildable) exit 125 ;; # git takes another commit
*) exit 1 ;;
esac
seconds=$(cat "$cell/time") || exit 255
awk -v seconds="$seconds" -v limit="$3" 'BEGIN { exit seconds > limit }'
