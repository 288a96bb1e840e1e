#!/bin/bash
# Inputs a second of a campaign whose two versions take 10 ms of CPU time each, on all cores.
#
#   tests/bench/campaign.sh SOLVERFS [SECONDS]
#
# The target runs first, and the reference only where that was slow.
set -eu
[ $# -ge 1 ] || {
	sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
	exit 2
}
solverfs=$(realpath "$1")
seconds=${2:-20}
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cd "$top"
export SOLVERFS_STORE=$top/store

for name in old new; do
	cat >$name.c <<END
#include <stdio.h>
#include <time.h>
int main(void)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_nsec < 10000000);
	puts("sat"); /* $name */
	return sizeof("$name") == 0;
}
END
	cc -O1 -DNAME="\"$name\"" -o $name $name.c
	echo $name >>$name # other bytes: another version
done
git init -q repository
git -C repository -c user.name=bench -c user.email=bench@example.org commit -q --allow-empty -m none
printf '[solver]\n\tformat = smt2\n\tbuild = true\n\toutput = f\n\trun = {bin} {case}\n\ttimeout = 2s\n' >recipe
"$solverfs" -q init
"$solverfs" -q solver add bench repository --recipe ./recipe

echo "$(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
"$solverfs" -q fuzz bench --reference "exec:$top/old" --target "exec:$top/new" --for "${seconds}s" --threshold 1s --timeout 2s \
	--name bench --no-localize --no-reduce >out
awk '$1 == "inputs" { n = $2 } $1 == "runs" { runs = $2 } $1 == "worked" { t = $2 + 0 }
	END { printf "%d inputs, %d runs in %d s\t%.1f inputs a second\n", n, runs, t, n / t }' out
