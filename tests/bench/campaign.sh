#!/bin/bash
# Inputs a second of a campaign whose two versions take some CPU time each, on all cores; what an input costs beside it; and what a campaign leaves.
#
#   tests/bench/campaign.sh SOLVERFS [SECONDS [MILLISECONDS]]      20 s, versions of 10 ms
#
# The target runs first, and the reference only where that was slow; one input in two thousand is. CPU time is of the campaign with all that it started, so
# that it can be compared on a loaded machine. The journal, its checkpoint and the store are in bytes; killed by SIGKILL in the middle, it is taken up again.
set -eu
[ $# -ge 1 ] || {
	sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
	exit 2
}
solverfs=$(realpath "$1")
seconds=${2:-20}
export MS=${3:-10}
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cd "$top"
export SOLVERFS_STORE=$top/store

for name in old new; do
	cat >$name.c <<END
#include <stdio.h>
#include <sys/resource.h>
#include <string.h>
#include <time.h>
int main(int n, char **args)
{
	struct timespec t;
	char text[1 << 16] = "";
	FILE *f = fopen(args[n - 1], "r");
	size_t size = fread(text, 1, sizeof(text) - 1, f), sum = 0, i;
	double until = $MS / 1e3;

	for (i = 0; i < size; i++)
		sum = sum * 31 + (unsigned char)text[i];
	if (sizeof("$name") == sizeof("new") && *"$name" == 'n' && sum % 2000 == 0)
		until += 1.5;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec + t.tv_nsec / 1e9 < until);
	puts("sat");
	return 0;
}
END
	cc -O1 -static -o $name $name.c
	echo $name >>$name # other bytes: another version
done
git init -q repository
git -C repository -c user.name=bench -c user.email=bench@example.org commit -q --allow-empty -m none
printf '[solver]\n\tformat = smt2\n\tbuild = true\n\toutput = f\n\trun = {bin} {case}\n\ttimeout = 2s\n' >recipe
"$solverfs" -q init
"$solverfs" -q solver add bench repository --recipe ./recipe

campaign() { # campaign SECONDS: prints `out`; CPU seconds and peak memory in `used`
	/usr/bin/env python3 -c '
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=open("out", "w")).returncode
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(u.ru_utime + u.ru_stime, u.ru_maxrss)
sys.exit(status)' "$solverfs" -q fuzz bench --reference "exec:'$top/old'" --target "exec:'$top/new'" --for "$1s" --threshold 1s --timeout 2s \
		--name bench --no-localize --no-reduce >used
}
sizes() {
	(cd "$SOLVERFS_STORE" && stat -c '%n %s' campaigns/bench/bench/journal* campaigns/bench/bench/progress.tsv campaigns/bench/bench/log && du -sb . | sed 's/\t.*//;s/^/store /')
}
echo "$(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
campaign "$seconds"
awk -v ms="$MS" 'FNR == NR { cpu = $1; rss = $2; next } $1 == "inputs" { n = $2 } $1 == "runs" { runs = $2 } $1 == "worked" { t = $2 + 0 } $1 == "finds" { finds = $2 }
	END { printf "%d inputs, %d runs in %d s, %d finds\t%.1f inputs a second\t%.2f ms of CPU time an input, %.2f ms of it its runs\tpeak %d MB\n",
	      n, runs, t, finds, n / t, 1000 * cpu / n, ms * runs / n, rss / 1024 }' used out
sizes
# Killed in the middle of a second session, then taken up again for no time at all: what is left to replay.
timeout -s KILL $((seconds / 2 + 1)) "$solverfs" -q fuzz bench --reference "exec:'$top/old'" --target "exec:'$top/new'" --for "$((2 * seconds))s" --threshold 1s \
	--timeout 2s --name bench --no-localize --no-reduce >/dev/null 2>&1 || true
began=$(date +%s.%N)
campaign 0.001
awk -v began="$began" -v ended="$(date +%s.%N)" 'FNR == NR { cpu = $1; next } $1 == "inputs" { n = $2 }
	END { printf "taken up again behind %d inputs: %.1f s, %.2f s of CPU time\n", n, ended - began, cpu }' used out
sizes
