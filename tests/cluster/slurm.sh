#!/bin/bash
# Runs on a real Slurm, set up here for this script alone and taken away behind it: two nodes of one machine, with munge, slurmctld and slurmd of Debian's
# packages, as root, without systemd. Prints TAP. Usage: tests/cluster/slurm.sh SOLVERFS
. "$(dirname "$0")/../tools/command.sh"
for program in munged slurmctld slurmd srun scancel scontrol; do
	command -v $program >/dev/null || PATH=$PATH:/usr/sbin
	command -v $program >/dev/null || { echo "1..0 # SKIP no $program: apt-get install munge slurmctld slurmd slurm-client"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP slurmd wants root"; exit 0; }

slurm=$(mktemp -d /tmp/slurm.XXXXXX) # a socket's path may be no longer
dir=$top/mnt
daemons=()
clean_up() {
	mountpoint -q "$dir" && "$solverfs" unmount -q "$dir"
	scancel --user="$(id -un)" 2>/dev/null
	for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
	for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null; done
	rm -rf "$slurm"
}
until_that() { # until_that SECONDS COMMAND...: 0 as soon as it is so
	local end=$((SECONDS + $1))
	shift
	until eval "$*"; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}

# -- Slurm --

dd if=/dev/urandom of="$slurm/key" bs=1024 count=1 status=none
chmod 400 "$slurm/key"
chmod 755 "$slurm"
munged --foreground --force --key-file="$slurm/key" --socket="$slurm/munge" --pid-file="$slurm/munged.pid" --log-file="$slurm/munged.log" \
	--seed-file="$slurm/seed" >"$slurm/munged.out" 2>&1 &
daemons+=($!)
export SLURM_CONF=$slurm/slurm.conf
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool-%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd-%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd-%n.log
SlurmctldPort=16817
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
ReturnToService=2
DefMemPerCPU=100
KillWait=2
InactiveLimit=30
NodeName=n[1-2] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[16818-16819] CPUs=$(nproc) RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes=n[1-2] Default=YES State=UP OverSubscribe=NO
END
mkdir "$slurm/state"
until_that 10 '[ -S "$slurm/munge" ]'
slurmctld -D -c >"$slurm/ctld.out" 2>&1 &
daemons+=($!)
start_node() { # start_node NAME OPTION...
	slurmd -D -N "$@" >"$slurm/$1.out" 2>&1 &
	daemons+=($!)
}
for node in n1 n2; do
	mkdir "$slurm/spool-$node"
	start_node $node -c
done
until_that 30 '[ "$(sinfo -h -o %T 2>/dev/null | sort -u)" = idle ]'
test_that "two nodes are idle" '[ "$(srun --quiet -N2 -n2 --mem=10 sh -c "echo \$SLURMD_NODENAME" | sort | paste -sd" ")" = "n1 n2" ]'

sinfo -h >/dev/null || { cat "$slurm"/*.log; echo "1..$n"; exit 1; }

# -- a store whose cells are there --

make_toy
# Builds that wait for a file in their tree, each with a text that no other has, and with a process in the background.
mark=1000.$$
for version in build scancel worker; do
	printf ': %s\nsleep %s &\ncat /proc/sys/kernel/random/uuid\nwhile ! [ -e go ]; do sleep 0.05; done\necho ended\ncp toy.sh toy; chmod +x toy\n' $version $mark >toy/build.sh
	toy_commit 4 $version && git -C toy tag $version
done
sed -i 's/^\ttimeout = .*/&\n\tbuild-timeout = 3m\n\tbuild-memory = 1g/' recipes/toy.recipe # what a job here has
mkdir cases "$dir"
for i in $(seq 20); do printf '(set-info :status sat)\n; answer: sat\n; number %s\n(check-sat)\n' "$i" >cases/$i.smt2; done
for i in 1 2; do printf '; number %s\n; sleep: 4\n; answer: unsat\n(check-sat)\n' "$i" >cases/slow$i.smt2; done
run 0 init
run 0 solver add toy toy --recipe recipes/toy.recipe
run 0 case add cases
sed -i 's/^\tversion = 1/&\n\truns = lab/' store/config
worker_options="--slots 1 --folder '$top/node'"
cat >>store/config <<END
[cluster "lab"]
	launch = "srun --quiet --nodes=1 --ntasks=1 --cpus-per-task=1 --mem=1500 --time=5 --job-name=$(basename "$slurm") {worker} $worker_options"
	workers = 2
	idle = 3s
[cluster "step"]
	launch = "srun --quiet --overlap --ntasks=1 {worker} $worker_options"
END
jobs_now() { local list; list=$(squeue -h -t R,PD,CG -o "%i") && echo -n "$list" | grep -c .; }
first_job() { squeue -h -t R -o %i | head -1; }
workers_now() { pgrep -f -- "--folder $top/node" | grep -v "^$$\$"; }
slow() { basename "$(readlink "$dir/cases/by-name/slow$1.smt2")"; }
runs_now() { ls -d node/scratch/run-*/ >/dev/null 2>&1; }
nothing_left() { [ "$(jobs_now)" = 0 ] && [ -z "$(workers_now)" ]; }

run 0 mount "$dir"
id=$(basename "$(readlink "$dir/cases/by-name/1.smt2")")
test_that "cat is answered by a node" '[ "$(cat "$dir/toy/tags/v1/cases/$id/result")" = sat ] && grep -q "\"machine\": \"lab/" "$dir/toy/tags/v1/cases/$id/run.json"'
test_that "in a job of Slurm" '[ "$(jobs_now)" -ge 1 ]'
cat >Makefile <<END
all: \$(patsubst %,%.result,\$(shell ls "$dir/cases" | grep '^[0-9]'))
%.result:
	cat "\$(MNT)/toy/tags/v1/cases/\$*/result" >\$@
END
test_that "make -j over the mount" 'MNT="$dir" timeout 120 make -s -j8 && [ $(cat *.result | grep -c "sat$") = 22 ]'
test_that "with both nodes at work" '[ "$(jobs_now)" = 2 ]'
run 0 compare toy@v1 toy@v3 1-3
ok $? "a comparison of two versions, by a process with workers of its own"

run 0 fuzz toy --name away --on lab --reference v1 --target v3 --for 10s --timeout 1s --threshold 0.5s --jobs 2 --no-localize --no-reduce --json
status=$?
test_that "a campaign" '[ $status = 0 ] && [ -s out ] && jq -e ".inputs > 0 and .runs > 0" out >/dev/null && has store/campaigns/toy/away/machine "^lab/"'
run 4 run --again --timeout 10m toy v1 1
test_that "a run that takes longer than a job may is refused: the worker asked when its job ends" 'has err "a run of up to 10m fits into no worker of the cluster lab"'

# interrupted CASE DISTURBANCE: asks anew for a slow cell, disturbs, and wants the right answer all the same
interrupted() {
	local what=$1 disturb=$2 reader
	timeout 100 "$solverfs" run --again --on lab toy v1 "$(slow 1)" >again.out 2>again.err &
	reader=$!
	until_that 30 'runs_now && [ "$(jobs_now)" -ge 1 ]'
	eval "$disturb"
	wait $reader
	ok $(($? != 0 || $(grep -c "	unsat	" again.out) != 1)) "$what"
	sed 's/^/# /' again.err
}
run 0 unmount "$dir"
until_that 30 nothing_left
test_that "no job is left behind the mount" nothing_left
run 0 mount "$dir"
interrupted "scancel in the middle of a run: it is done again" 'scancel "$(first_job)"'
interrupted "the end of the job's time in the middle of a run" 'scontrol update JobId=$(first_job) EndTime=now+1seconds'
interrupted "kill -9 of srun" 'kill -9 $(pgrep -f "srun.*$(basename "$slurm")" | head -1)'
interrupted "kill -9 of the worker" 'kill -9 $(workers_now | tail -1)'
node_of_job() { squeue -h -t R -o %N | head -1; }
interrupted "kill -9 of slurmd" 'node=$(node_of_job); kill -9 $(pgrep -f "slurmd -D -N $node")'
start_node "$node"
until_that 60 '[ "$(sinfo -h -o %T | sort -u)" = idle ]'
test_that "the node is there again" '[ "$(sinfo -h -o %T | sort -u)" = idle ]'

"$solverfs" run --again toy v1 "$(slow 1)" >again.out 2>&1 &
head=$!
until_that 30 runs_now
kill -9 $head
wait $head 2>/dev/null
until_that 60 nothing_left
test_that "kill -9 of the head: no job and no worker is left" nothing_left

# Slurm requeues no job of srun. The head in a batch job of its own: requeued, it begins again.
cat >head.sh <<END
#!/bin/sh
exec '$solverfs' run --again --on step toy v1 $(slow 2)
END
job=$(sbatch --parsable --requeue --open-mode=append --ntasks=2 --nodes=1 --mem=1500 --time=5 --output=requeued.out head.sh)
until_that 30 runs_now
scontrol requeue "$job"
until_that 30 '[ "$(squeue -h -j "$job" -o %T)" = PENDING ]' && scontrol update JobId="$job" StartTime=now
until_that 90 '[ -z "$(squeue -h -j "$job" -o %T)" ]'
test_that "scontrol requeue of the job that asks" '[ $(grep -c "	unsat	" requeued.out) = 1 ]'
sed 's/^/# /' requeued.out

# -- and its builds --

run 0 unmount "$dir"
sed -i 's/^\truns = lab/&\n\tbuilds = lab/' store/config
run 0 mount "$dir"
printed() { sed -n 2p "$dir/toy/tags/$1/build/so-far" | grep -- -; } # printed VERSION: the text that no other build has
builds_now() { pgrep -f "sleep $mark" >/dev/null; }
# go_on PROCESS: lets every build go on until the process has ended; its status
go_on() {
	while kill -0 "$1" 2>/dev/null; do
		for tree in node/work/?; do [ -d "$tree" ] && touch "$tree/go"; done 2>/dev/null
		sleep 0.1
	done
	wait "$1"
}
timeout 200 cat "$dir/toy/tags/build/cases/$id/result" >built.out &
reader=$!
until_that 60 'printed build >/dev/null'
test_that "a build of the mount is in a job of Slurm, and its log so far is there" 'builds_now && [ "$(jobs_now)" -ge 1 ] && [ "$(cat "$dir/toy/tags/build/build/status")" = building ]'
go_on $reader
test_that "and the cell that waits for it is answered" '[ $? = 0 ] && is built.out sat'
getfattr --absolute-names --only-values -n user.solverfs.reason "$dir/toy/tags/build/build/log" 2>/dev/null | sed 's/^/# /'
test_that "its log is kept" '[ "$(tail -1 "$dir/toy/tags/build/build/log")" = ended ]'
until_that 30 '! builds_now'
test_that "and nothing of it goes on" '! builds_now'

# lost VERSION WHAT DISTURBANCE: disturbs a build in its middle, and wants it built all the same
lost() {
	local version=$1 what=$2 disturb=$3 reader follower first old status
	timeout 200 cat "$dir/toy/tags/$version/build/log" >built.out &
	reader=$!
	until_that 60 "printed $version >/dev/null"
	first=$(printed $version)
	timeout 200 "$solverfs" build --log toy $version >out.follower 2>err.follower &
	follower=$!
	until_that 60 'grep -q -- "$first" out.follower'
	old=$(pgrep -f "sleep $mark")
	eval "$disturb"
	until_that 100 'printed $version | grep -qv -- "$first"'
	test_that "$what: nothing of it goes on" 'for pid in $old; do until_that 30 "! kill -0 $pid 2>/dev/null" || exit 1; done'
	go_on $reader
	status=$?
	wait $follower
	test_that "$what: it is built again" '[ $? = 0 ] && [ $status = 0 ] && [ "$(tail -1 built.out)" = ended ] && ! has built.out "$first"'
	test_that "$what: who looks at its log is told" 'has out.follower "this build ended without a result: the worker on .* was lost" && [ "$(tail -1 out.follower)" = ended ]'
	sed 's/^/# /' out.follower err.follower
}
lost scancel "scancel in the middle of a build" 'scancel $(squeue -h -t R -o %i)'
lost worker "kill -9 of the worker in the middle of a build" 'for pid in $(workers_now); do [ "$(ps -o comm= -p "$pid")" = solverfs ] && kill -9 "$pid"; done'

run 0 unmount "$dir"
until_that 60 nothing_left
test_that "nothing is left" 'nothing_left && ! builds_now && ! pgrep -f "$top"'
run 0 fsck
ok $? "the store is whole"
echo "1..$n"
