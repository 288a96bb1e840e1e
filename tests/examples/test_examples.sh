#!/bin/bash
# The files of examples/, run as they stand over a toy solver's history. Prints TAP. Usage: test_examples.sh SOLVERFS
# shellcheck disable=SC2016
. "$(dirname "$0")/../tools/command.sh"
tell_time
examples=$source_dir/examples
mnt=$top/mnt
PATH=$(dirname "$solverfs"):$PATH
export RESTIC_PASSWORD=toy BORG_PASSPHRASE=toy BORG_BASE_DIR=$top/borg XDG_CACHE_HOME=$top/cache PYTHONWARNINGS=ignore
clean_up() {
	for mount in "$mnt" "$HOME/solvers"; do
		! grep -q "$(printf '%s' "$mount" | sed 's/ /\\\\040/g') fuse.solverfs" /proc/self/mounts || timeout 20 "$solverfs" -q unmount --lazy "$mount"
	done
}
skip() { # skip DESCRIPTION WHAT-IS-MISSING
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
has_tool() { command -v "$1" >/dev/null; }

# -- ten commits: the third cannot be built, from the seventh on cases that say so take long, the last one knows no answer --

git init -q -b main toy && git -C toy config user.name T && git -C toy config user.email t@example.org
for i in 1 2 3 4 5 6 7 8 9 10; do
	cat >toy/toy.sh <<-END2
		#!/bin/sh
		# $i
		if grep -q 'kind: hard' "\$1" && [ $i -ge 7 ]; then echo "lasts 0.3" >&2; echo "conflicts: 2000" >&2; else echo "conflicts: 1000" >&2; fi
		[ $i -ge 10 ] && echo unknown || echo sat
	END2
	echo "$([ $i != 3 ] || echo 'exit 1;') cp toy.sh toy && chmod +x toy" >toy/build.sh
	git -C toy add -A && git -C toy commit -q -m "commit $i" && git -C toy tag "v$i"
done
cat >toy.recipe <<'END2'
[solver]
	format = smt2
	build = sh build.sh
	output = toy
	run = {bin} {case}
	effort = "conflicts: ([0-9]+)"
	samples = 1
END2
mkdir cases
printf '; kind: hard\n(set-info :status sat)\n(check-sat)\n' >cases/hard.smt2
printf '; kind: easy\n(set-info :status sat)\n(check-sat)\n' >cases/easy.smt2
run 0 init -q && run 0 solver add -q toy toy --recipe toy.recipe && run 0 case add -q cases

# -- continuous integration: no mount --

regression() { SOLVERFS_STORE=$top/ci "$examples/ci/regression.sh" "$top/toy" "$top/toy.recipe" "$top/cases" "$@" >out 2>err; }
test_that "ci/regression.sh lets a commit pass that changes nothing" 'regression v1 v2 && has out "^## .*no change"'
test_that "ci/regression.sh fails on a slowdown, and its summary has the case" '! regression v6 v7 && has out "^## .*1 regression" && has out "hard.smt2 [|] slower"'
test_that "ci/regression.sh fails on a lost answer" '! regression v9 v10 && has out "lost"'
test_that "ci/regression.sh fails when the commit cannot be built" '! regression v2 v3'

# What a forge keeps between jobs is the store; the recipe, the cases and the place of the clone are the next job's.
kept() { # kept CLONE: regression.sh from v1 to v2 with what is in it
	SOLVERFS_STORE=$top/kept "$examples/ci/regression.sh" "$1" "$1/recipe" "$1/cases" v1 v2 >out 2>err
}
git clone -q toy "first clone" && cp -r cases "first clone" && cp toy.recipe "first clone/recipe" && kept "$top/first clone"
test_that "ci/regression.sh takes a kept store, with another case of a name, one less, another recipe, and the clone elsewhere" '
	kept "first clone" && mv "first clone" moved && echo "; else" >>moved/cases/easy.smt2 && rm moved/cases/hard.smt2 &&
	sed -i "s/build.sh/build.sh again/" moved/recipe && kept moved && has out "^## .*no change" && has out "^| solved of 1 |" && grep -q again kept/config'
test_that "and leaves a store alone that has others' solvers" '
	cp -r kept others && solverfs --store others -q solver remove ci && solverfs --store others -q solver add mine toy --recipe toy.recipe && solverfs --store others case list >before &&
	! SOLVERFS_STORE=$top/others "$examples/ci/regression.sh" moved moved/recipe moved/cases v1 v2 >out 2>err && has err "solvers of somebody else" &&
	solverfs --store others case list | cmp - before && solverfs --store others solver list | grep -q "^mine	"'
test_that "and says what is wrong with it" '
	cp moved/recipe recipe && echo nothing >moved/recipe && ! kept moved; [ $? = 0 ] && has err "precedes the first" && has err "cannot be made ready"; r=$?
	mv recipe moved/recipe && exit $r'

if python3 -c 'import yaml' 2>/dev/null; then
	cat >commands.py <<'END2'
import sys, yaml
github = yaml.safe_load(open(sys.argv[1] + "/github.yml"))["jobs"]["compare"]["steps"]
gitlab = yaml.safe_load(open(sys.argv[1] + "/gitlab.yml"))["regression"]["script"]
print({"github": github[-1]["run"], "gitlab": "\n".join(gitlab)}[sys.argv[2]])
END2
	mkdir toy/ci && cp "$examples/ci/regression.sh" toy/ci && cp toy.recipe toy/ci/solver.recipe && cp -r cases toy/ci
	job() { # job FORGE BASE HEAD: what its job runs, in a checkout
		(cd toy && SOLVERFS_STORE=$top/ci BASE=$2 HEAD=$3 CI_MERGE_REQUEST_DIFF_BASE_SHA=$2 CI_COMMIT_SHA=$3 GITHUB_STEP_SUMMARY=$top/summary \
			bash -eo pipefail -c "$(python3 ../commands.py "$examples/ci" "$1")" >../out 2>../err)
	}
	for forge in github gitlab; do
		test_that "the job of $forge.yml passes, and fails on a regression" "job $forge v1 v2 && ! job $forge v6 v7 && has out 'slower'"
	done
	# It began at v7, which is slow; main has become fast since.
	tip=$(git -C toy commit-tree -p v7 -m 'main is fast again' v6^{tree}) && git -C toy tag tip "$tip"
	pull=$(git -C toy commit-tree -p v7 -m 'a pull request' v8^{tree}) && git -C toy tag pull "$pull"
	test_that "a pull request that main has gone on from is compared with where it began" 'job github tip pull && has out "no change"'
	git -C toy tag -d tip pull >/dev/null
else
	skip "the jobs of github.yml and gitlab.yml" "no python3-yaml"
fi

# -- over a mount --

if [ ! -w /dev/fuse ]; then
	skip "everything over a mount" "no /dev/fuse"
	echo "1..$n"
	exit 0
fi
mkdir mnt && run 0 mount -q "$mnt"

test_that "git bisect run with bisect.sh names the commit, beside one that cannot be built" '
	cd toy && git bisect start --no-checkout --term-old=fast --term-new=slow v9 v1 >/dev/null && git bisect run "$examples/bisect.sh" "$mnt/toy" hard.smt2 0.2 >../out 2>../err
	r=$?; git bisect reset >/dev/null 2>&1; cd .. && [ $r = 0 ] && has out "is the first slow commit" && has out "commit 7$"'
test_that "bisect.sh ends the bisection where there is no answer" '(cd toy && "$examples/bisect.sh" "$mnt/toy" nosuch 1) >out 2>err; [ $? = 255 ]'
test_that "slower.sh lists what got slower" '"$examples/slower.sh" "$mnt/toy" v6 v7 3 >out 2>err && head -n 1 out | grep -qE "^[0-9.]+	sat 0\.[0-9]+	sat 0\.[3-9][0-9]*	hard.smt2$"'
test_that "history.sh shows each commit that changed a path" '"$examples/history.sh" "$mnt/toy" toy.sh 1 >out 2>err && [ $(wc -l <out) = 11 ] && has out "unbuildab.*commit 3"'

if has_tool make; then
	report() { make -f "$examples/report.mk" MOUNT=mnt SOLVER=toy COMMITS="v1 v7" >out 2>err; }
	# What another process did shows within a second.
	report_has() { await "report && has report.tsv '$1'"; }
	test_that "report.mk makes a table of all cells" 'report && has out "4 cells" && [ $(wc -l <report.tsv) = 5 ] && has report.tsv "^v7	hard.smt2	sat	0\.[3-9]"'
	test_that "and not again when nothing changed" 'cp -p report.tsv before && report && empty out && [ ! report.tsv -nt before ]'
	printf '; kind: new\n(check-sat)\n' >cases/new.smt2
	test_that "a case more makes it again" 'cp cases/new.smt2 mnt/cases/ && report_has "^v1	new.smt2" && has out "6 cells"'
	test_that "a changed case, too" '
		run 0 case remove new.smt2 && printf "; kind: hard\n(check-sat)\n" >cases/new.smt2 && run 0 case add cases/new.smt2 && report_has "^v7	new.smt2	sat	0\.[3-9]"'
	# On a busy machine a run that waited for its core does not take the place of one that did not.
	test_that "and a measurement that was made anew" 'await "run 0 run toy v7 hard.smt2 --again && report && has out \"6 cells\""'
	test_that "with -j4 as well" 'rm report.tsv && make -j4 -f "$examples/report.mk" MOUNT=mnt SOLVER=toy COMMITS="v8 v9" >out 2>err && [ $(wc -l <report.tsv) = 7 ]'
else
	skip "report.mk" "no make"
fi

# -- copies: what is restored is what cached/ has, byte for byte --

same() { diff -r --no-dereference "$mnt/toy/cached" "$1/toy/cached" >out 2>err && diff -r --no-dereference "$mnt/cases" "$1/cases" >out 2>err && [ -s "$1/toy/cached/$(git -C toy rev-parse v7)/cases/1/time" ]; }
finished() { find "$mnt/toy/cached" -type f | wc -l; }
for tool in rsync tar restic borg; do
	if ! has_tool $tool; then
		skip "backup.sh $tool" "no $tool"
		continue
	fi
	case $tool in
	rsync) to=copy restore='ln -s "$top/copy" restored' ;;
	tar) to=copy.tar restore='mkdir restored && tar xf copy.tar -C restored' ;;
	restic) to=$top/restic restore='restic -q -r "$top/restic" restore latest --target restored' ;;
	borg) to=$top/borg.repository restore='mkdir restored && cd restored && borg extract "$top/borg.repository::$(borg list --short --last 1 "$top/borg.repository")" && cd ..' ;;
	esac
	test_that "backup.sh $tool: restored byte for byte, and nothing was started" '
		before=$(finished) && "$examples/backup.sh" $tool "$mnt" "$to" >out 2>err && rm -rf restored && eval "$restore" >out 2>err && [ ! -e restored/toy/commits/$(git -C toy rev-parse v8)/bin ] && same restored && [ "$(finished)" = $before ]'
done
test_that "backup.sh refuses what is no mount" '! "$examples/backup.sh" tar "$HOME" x.tar 2>err && has err "no mount of solverfs"'
run 0 unmount "$mnt"

# -- systemd, fstab --

service=$examples/systemd/solverfs.service
mkdir "$HOME/solvers"
word() { sed -n "s/^$1=//p" "$service" | sed "s|%h|$HOME|"; }
cat >notified.py <<'END2'
import os, socket, subprocess, sys
own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
own.bind("notify")
own.settimeout(50)
process = subprocess.Popen(sys.argv[1:], env=dict(os.environ, NOTIFY_SOCKET=os.path.abspath("notify")))
while b"READY=1" not in own.recv(4096):
    pass
print(process.pid)
END2
test_that "solverfs.service: its command tells systemd when the mount answers, and is stopped" '
	IFS=" " read -r command verb flag <<<"$(word ExecStart | cut -d " " -f 1-3)" && python3 notified.py "$solverfs" "$verb" "$flag" "$HOME/solvers" >out 2>err && [ "$command" = solverfs ] &&
	[ -r "$HOME/solvers/README" ] && [ "$(word ExecStop)" = "solverfs unmount $HOME/solvers" ] && run 0 unmount "$HOME/solvers"'
if has_tool systemd-analyze; then
	mkdir -p bin && ln -sf "$solverfs" bin/solverfs # systemd looks for commands in its own PATH
	sed "s|^\(Exec[A-Z][a-z]*=\)solverfs|\1$(printf %s "$top" | sed 's/ /\\\\x20/g')/bin/solverfs|" "$service" >solverfs.service
	test_that "solverfs.service: systemd-analyze finds no fault" 'systemd-analyze verify --user --man=no "$top/solverfs.service" >out 2>err; ! has err "solverfs.service"'
else
	skip "solverfs.service: systemd-analyze finds no fault" "no systemd-analyze"
fi
if [ "$(id -u)" = 0 ] && has_tool findmnt; then
	sed "s|^/home/ada/.local/share/solverfs|$(printf %s "$SOLVERFS_STORE" | sed 's/ /\\\\040/g')|; s|/home/ada/solvers|$(printf %s "$HOME/solvers" | sed 's/ /\\\\040/g')|; s|setuid=ada|setuid=root|" "$examples/fstab" >fstab
	# In a view of the machine that has the helper in /sbin.
	cat >fstab.sh <<'END2'
mkdir helper && ln -s "$1/tools/mount.solverfs" helper && ln -s "$2" helper && export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t overlay -o "lowerdir=helper:/usr/sbin" overlay /usr/sbin || exit 77
mount -T fstab "$3" && cat "$3/toy/head/cases/1/result" && "$3/toy/head/bin/toy" /dev/null && umount "$3"
END2
	unshare -m bash fstab.sh "$source_dir" "$solverfs" "$HOME/solvers" >out 2>err
	r=$?
	[ $r = 77 ] && skip "fstab: mount(8) mounts its line, and programs run there" "no overlayfs" || { [ "$(sort -u out)" = unknown ] && [ "$(wc -l <out)" = 2 ]; ok $? "fstab: mount(8) mounts its line, and programs run there"; }
else
	skip "fstab: mount(8) mounts its line, and programs run there" "not root, or no findmnt"
fi
echo "1..$n"
