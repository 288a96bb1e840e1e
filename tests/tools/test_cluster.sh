#!/bin/bash
# Runs on a cluster whose workers are processes of this machine: the command, the mount, one that dies, one that cannot be launched. Prints TAP.
# Usage: test_cluster.sh SOLVERFS
. "$(dirname "$0")/command.sh"
dir=$top/mnt
clean_up() { mountpoint -q "$dir" && "$solverfs" unmount -q "$dir"; }

make_toy
mkdir cases
for i in 1 2 3 4 5 6; do printf '(set-info :status sat)\n; answer: sat\n; number %s\n(check-sat)\n' $i >cases/$i.smt2; done
run 0 init
run 0 solver add toy toy --recipe recipes/toy.recipe
run 0 case add cases

run 2 run --on lab toy v1 1
test_that "a place that the config does not name is refused by name" 'has err "no \[cluster .lab.\]"'

cp store/config plain
add_lab
cat >>store/config <<END
[cluster "broken"]
	launch = "echo 'srun: error: invalid partition specified: lab' >&2; exit 1; {worker}"
END
run 0 run toy v1 1 --json
here=$(jq -r .run.machine out)
test_that "nothing runs elsewhere that is not told to" '[ ! -e launched ] && [ -n "$here" ]'

run 0 run --on lab toy v1 all
test_that "--on answers every case" '[ $(grep -c "	sat	" out) = 6 ]'
test_that "two workers did it" '[ $(sort -u launched | wc -l) = 2 ]'
run 0 run --on lab toy v1 1 --json
test_that "the machine of the answer is the cluster's" '[ -s out ] && jq -e ".run.machine | startswith(\"lab/\")" out >/dev/null && jq -e ".run.host.cpu" out >/dev/null'
test_that "what is known is not run again" '[ $(wc -l <launched) = 2 ]'
run 0 run toy v1 1 --json
test_that "and the answer of this machine is another one" '[ -n "$here" ] && [ "$(jq -r .run.machine out)" = "$here" ]'
left_of launched >left
test_that "no worker is left" 'empty left'

run 0 run toy --on lab v3 all
test_that "--machine shows what is known of the cluster, also of a solver that runs here" '
	run 0 run toy v1 all --machine lab --json && [ "$(jq -r .run.machine out | sort -u | cut -d / -f 1)" = lab ] && run 0 export -f csv toy --machine lab && [ $(wc -l <out) = 13 ] &&
	run 0 history toy 1 --machine lab && [ $(wc -l <out) = 2 ]'
test_that "compare --machine compares that, and nothing else" '
	run 0 compare toy@v1 toy@v3 --machine lab --json && jq -e ".set.compared == 6 and (.machine | startswith(\"lab/\"))" out >/dev/null &&
	run 0 compare toy@v1 toy@v3 --machine "$here" --json && jq -e --arg m "$here" ".set.compared == 0 and .machine == \$m" out >/dev/null'

# Three descriptors a worker, and some of our own.
printf '[cluster "wide"]\n\tlaunch = "exec {worker} --slots 1 --folder %s/node"\n\tworkers = 6\n' "'$top'" >>store/config
test_that "more workers than a shell lets a program open files" '(ulimit -Sn 20 && run 0 run --on wide toy v1 all) && [ $(grep -c "	sat	" out) = 6 ]'

run 4 run --on broken toy v1 1
test_that "a launch that fails is told with its last line" 'has err "no worker of the cluster broken can be had: .*ended with status 1.*invalid partition specified: lab"'

# As srun --mem does.
printf '[cluster "narrow"]\n\tlaunch = "ulimit -m 2000; exec {worker} --slots 1 --folder '"'%s'"'"\n' "$top/node" >>store/config
run 4 run --on narrow toy v1 1
test_that "a worker with a lower hard limit than a run needs blames its launch, and no shell" '
	has err "the limit .resident. of a run cannot be .*: the worker has a lower hard limit; change .launch. so that .ulimit -Hm. is not lower, as by a larger --mem of srun" &&
	! has err "shell"'

mkdir doctored
test_that "doctor says how much memory its launch gives a run" '
	run 0 init --store doctored/s && tail -n 2 store/config >>doctored/s/config && { run 0 doctor --store doctored/s || run 1 doctor --store doctored/s; } &&
	has out "^cluster narrow	ok	.*at most 2000k of memory .*srun --mem"'

[ "$(id -u)" != 0 ] || unable='setpriv --bounding-set -sys_nice --inh-caps -sys_nice '
printf '[cluster "nice"]\n\tlaunch = "exec nice -n 5 %s{worker} --slots 1 --folder '"'%s'"'"\n' "${unable-}" "$top/node" >>store/config
run 4 run --on nice toy v1 1
test_that "so does a worker with another niceness than a run needs" '
	has err "a timed run has niceness 0, and the worker may not go back to it .*: change .launch. so that it starts the worker without .nice."'

# The launch waits for its turn until the command has said that it does.
printf '[cluster "patient"]\n\tlaunch = "until [ -e '"'%s'"' ]; do sleep 0.02; done; exec {worker} --slots 1 --folder '"'%s'"'"\n' "$top/turn" "$top/node" >>store/config
script -qec "'$solverfs' run --on patient toy v1 1" /dev/null </dev/null >waits 2>/dev/null &
for ((i = 0; i < 3000; i++)); do grep -q "waits for a worker" waits && break; sleep 0.02; done
touch turn
wait $!
test_that "a run that waits for a worker says so, and not that it waits for a core" 'has waits "run: waits for a worker of patient to begin" && ! has waits "for a core" && has waits "sat"'

# -- a solver whose cluster is not defined --

cp store/config placed
git config --file store/config solver.toy.runs moon
test_that "fsck names the mistake, and does not blame the repository" 'run 1 fsck && has out "^damaged	config	solver toy is left out: there was no \[cluster .moon.\]" && ! cat out err | grep -q backup'
cp placed store/config

# -- a worker that would be ended, or given up, as soon as it is there --

cp store/config longer
for key in idle patience; do
	git config --file store/config cluster.lab.$key 0s
	test_that "$key is at least a second" 'run 4 run --on lab toy v1 1 && has err "key .$key. is .0s., but must be a time of at least a second"'
	cp longer store/config
done

# -- a folder that another user could have made, as the default one is in /tmp --

mkdir open own && chmod 777 open && chmod 755 own && ln -s own link
test_that "a worker refuses a folder that others may write to, and makes nothing in it" '
	run 4 worker --folder open && has err "cannot keep a worker.s files in open: it must be a folder of this user .*--folder" && [ -z "$(ls open)" ]'
test_that "... and a link to a folder" 'run 4 worker --folder link && [ -z "$(ls own)" ]'
as_root "... and one of another user" 'mkdir theirs && chown 65534 theirs && run 4 worker --folder theirs && [ -z "$(ls theirs)" ]'
test_that "one of its own is taken" 'run 0 worker --folder own'

# -- noexec, as /tmp often is --

printf '; answer: sat\n; noexec\n(check-sat)\n' >noexec.smt2
cat >noexec.sh <<'END'
mkdir noexec && mount -t tmpfs -o noexec none noexec || exit
cp -a store noexec/store
"$1" worker --folder noexec/node </dev/null && echo "it served"
"$1" -q case add --store noexec/store noexec.smt2
"$1" -q run --store noexec/store --on lab toy v1 noexec.smt2
END
[ "$(id -u)" != 0 ] || unshare -m bash noexec.sh "$solverfs" >out 2>err
as_root "a worker whose folder is mounted noexec says so, before it says hello" '! has out "SFW2|it served" && has err "noexec/node is on a file system mounted noexec.*--folder"'
as_root "... and where the store of the head is, its workers run programs all the same" 'has out "	sat	"'

rm launched
run 1 doctor
test_that "doctor launches each once: a worker says what it is" 'has out "^cluster lab	ok	.*: .*, [0-9]+ cores?, Linux .*, C library .*, solverfs .*, 1 slot; it was there after" && [ $(wc -l <launched) = 1 ]'
test_that "and of one that cannot be had its last words are shown" 'has out "^cluster broken	failed	no worker can be had: .*ended with status 1.*invalid partition specified: lab"'

run 1 doctor --json
test_that "doctor --json has a line for each" '
	jq -es "any(.[]; .check == \"cluster lab\" and .state == \"ok\" and (.what | test(\"1 slot; it was there after\")))" out >/dev/null &&
	jq -es "any(.[]; .check == \"cluster broken\" and .state == \"failed\" and (.what | test(\"invalid partition specified: lab\")))" out >/dev/null'
cp store/config launchable
cp plain store/config
printf '[cluster "queued"]\n\tlaunch = "echo >%s; exec sleep 1000; {worker}"\n' "'$top/queued'" >>store/config
"$solverfs" doctor --patience 2s >out 2>err
test_that "one that waits in a queue is a warning" '[ -e queued ] && has out "^cluster queued	warning	its worker was launched, and has not begun yet: is there a queue before it"'
run 2 doctor --patience 0s
test_that "a patience of nothing is refused" 'has err "patience must be greater than zero"'
mv launchable store/config

# -- a mount whose cells are there --

sed -i 's/^\tversion = 1/&\n\truns = lab/' store/config
rm launched
mkdir "$dir"
run 0 mount "$dir"
printf '; sleep: 6\n; answer: unsat\n(check-sat)\n' >cases/slow.smt2 # enough to look at it, and to end its worker
cp cases/slow.smt2 "$dir/cases/"
slow=$(basename "$(readlink "$dir/cases/by-name/slow.smt2")")
test_that "cat is answered from there" '[ "$(cat "$dir/toy/tags/v1/cases/2/result")" = sat ] && grep -q "\"machine\": \"lab/" "$dir/toy/tags/v1/cases/2/run.json"'
test_that "without a worker, as it was known" '[ ! -e launched ]'
cat "$dir/toy/tags/v1/cases/$slow/result" >slow.out 2>slow.err &
reader=$!
await '[ -s launched ] && ls -d node/scratch/run-*/ >/dev/null 2>&1'
cat "$dir/.solverfs/status" >status
kill -9 "$(head -1 launched)"
wait $reader
test_that "a worker that is killed costs its run, which is done again" '[ "$(cat slow.out)" = unsat ] && [ $(wc -l <launched) = 2 ]'
test_that "the status shows the cluster" 'has status "cluster lab: 1 of 2 workers, 0 waiting to begin, 1 of 1 slots at work"'
run 0 status
test_that "so does the command, with what was lost" 'has err "cluster lab: 1 of 2 workers.* 1 lost; last trouble: "'
run 0 run --again toy v1 3
sed -i '/^\[solver "toy-again"\]/a\	runs = local' store/config
test_that "versions whose runs are done on two machines are not compared" '
	run 2 compare toy@v1 toy-again@v1 1 && has err "runs of toy are done on lab/.*, and those of toy-again on [^:]*: two machines are not compared"'
test_that "... but on one of the two" 'run 0 compare toy@v1 toy-again@v1 1 --machine "$here" --json && jq -e ".b.known == 0 and .a.known == 1" out >/dev/null'
refused_in_mount() { ! cat "$dir/compare/toy@v1..toy-again@v1/summary.tsv" >out 2>err && has err "cross-device" && empty out; } # a mount looks at the config now and then
test_that "... nor in the mount" 'await refused_in_mount'
summary="$dir/compare/toy@v1..toy-again@v1/summary.tsv"
test_that "... also when another process has read the config before the mount does" '
	for i in 1 2 3; do
		sed "/^\truns = local/d" store/config >other && cp store/config refused && mv other store/config && await "cat \"$summary\" >out 2>err" &&
		mv refused store/config && run 0 case list && { cat "$summary" >out 2>err; await refused_in_mount; } || break
	done; refused_in_mount'
run 0 unmount "$dir"
left_of launched >left
test_that "no worker is left behind the mount" 'empty left'

# -- a slow disk: facts that come while one is being synced go in one commit --

sed -i 's/^\truns = lab/\truns = wide/' store/config
mkdir faults
fault() { echo "$2" >faults/new && mv faults/new "faults/$1"; }
waiting() { awk '$1 == "solverfs_store_waiting" { print $2 }' "$dir/.solverfs/stats"; }
SOLVERFS_FAULTS=$top/faults run 0 mount "$dir"
cat "$dir/toy/tags/v3/cases/6/result" >/dev/null
fault journal.sync block
before=$(wc -c <faults/journal.sync.met)
readers=()
for i in 1 2 3 4 5; do
	cat "$dir/toy/tags/v3/cases/$i/result" >"reader$i" &
	readers+=($!)
done
await '[ "$(waiting)" = 4 ]'
waiting >waiting.out
cat reader? >early
rm faults/journal.sync
wait "${readers[@]}"
test_that "nobody is answered before the fact is on the disk" 'empty early'
test_that "four facts that wait for a fifth are one commit" '[ "$(cat waiting.out)" = 4 ] && [ $(($(wc -c <faults/journal.sync.met) - before)) = 2 ]'
test_that "and every reader has its answer" '[ "$(cat reader?)" = "$(printf "sat\n%.0s" 1 2 3 4 5)" ]'
run 0 unmount "$dir"
printf '; answer: sat\n; answer: unsat\n(check-sat)\n(check-sat)\n' >script.smt2 && run 0 case add script.smt2
test_that "a worker tells when the queries of a script were answered" 'run 0 run --on lab toy v1 script.smt2 --print queries.tsv && has out "^1	3	sat	0.[0-9]+	" && has out "^2	4	unsat	0.[0-9]+	[1-9]"'
echo "1..$n"
