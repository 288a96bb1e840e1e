#!/bin/bash
# solverfs diverge over made-up versions. Prints TAP. Usage: test_diverge.sh SOLVERFS
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
tell_time

# -- versions of a script, which tells what it does with -v --

make_script toy
cat >toy/search.c <<'END'
static int lookahead (int n)
{
  return n;
}

int search (int n)
{
  return lookahead (n) + 1;
}
END
touch toy/conflict.c toy/conf.c toy/conflict.txt
# trace LEVELS RESTART STEP: a banner, then a line for each level, with numbers that change by themselves, and a restart behind one of them
trace() {
	cat <<END
case \$* in *-v*) ;; *) echo "lasts 0.$3" >&2; echo sat; exit;; esac
grep -q hard "\$case" || { echo "toy version $3 of $(printf '%07x' $((0xabc1234 + $3)))"; echo sat; exit; }
echo "toy version $3 of $(printf '%07x' $((0xabc1234 + $3)))"
echo "seeded with \$(od -An -N4 -tu4 /dev/urandom) at \$(date +%s%N)"
echo "nobody knows: \$(od -An -N8 -tx1 /dev/urandom | tr '0-9 ' 'g-pz')"
for i in 1 2 3 4 5 6 7 8; do
	echo "level \$i, \$((i * $3)) conflicts, 0.\$i s"
	[ \$i != $2 ] || echo "restart"
done
echo "conflicts: $1" >&2
echo "restarts: 40" >&2
echo "lasts 0.$3" >&2
END
}
script_commit toy 1 "$(trace 100 0 1)"
sed -i 's/return n;/return 2 * n;/' toy/search.c
script_commit toy 2 "$(trace 5000 6 2)"
script_commit toy 3 "$(trace 100 0 1 | sed 's/\[ .i != 0 \].*/[ $i != 4 ] || kill -SEGV $$/')"
script_commit toy 4 'trap "" TERM; yes "one of a great many lines, as long as those of a solver are: 123 conflicts, 45 restarts" & yes "and another" >&2; wait'
echo 'exit 1' >toy/build.sh && script_commit toy 5 ''
toy_recipe toy 'trace = -v' 'timeout = 20s'
printf '[variant "short"]\n\ttimeout = 150ms\n' >>toy.recipe
printf '; hard\n(set-logic QF_S)\n(check-sat)\n' >hard.smt2
run 0 init -q && run 0 solver add -q toy toy --recipe toy.recipe && run 0 case add -q hard.smt2

test_that "the first line that differs in a number, and the first that differs in its words, with lines around and numbers on both sides" '
	run 0 diverge --no-calls toy hard.smt2 v1 v2 && has out "^value	out	a	4	>	level 1, 1 conflicts, 0.1 s$" && has out "^value	out	b	4	>	level 1, 2 conflicts, 0.1 s$" &&
	has out "^line	out	a	10	>	level 7," && has out "^line	out	b	10	>	restart$" && has out "^line	out	b	9		level 6," && has out "^line	out	b	11		level 7,"'
test_that "what differs between two runs of one version, or on an empty input, is passed over" '
	! grep ">" out | grep -E "nobody|seeded|version" && has out "^standard output: .* 2 lines passed over"'
test_that "the statistics that differ, and by how much" 'has out "^statistic	conflicts	100	5000	49.5$" && ! has out "^statistic	restarts"'
test_that "a statistic that a source file has the name of is a lead" 'has out "^a lead: the statistic conflicts, 100 before and 5000 after, is by its name of conflict.c$"'
test_that "the functions that the commit changed" 'has out "^changed	search.c	lookahead	-1	\+1$" && ! has out "^changed	search.c	search	"'
sed "s/^\[solver\]$/&\n\tpaths = :!search.c\n\tpaths = :!conflict.c/; /variant/,\$d" toy.recipe >era.recipe && printf '[era "v2.."]\n\tpaths = :!nothing\n' >>era.recipe
test_that "... in the paths of that commit's era" '
	run 0 solver add -q --recipe era.recipe era toy && run 0 diverge --no-calls era 1 v1 v2 && has out "^changed	search.c	lookahead	" && has out "^a lead: .* conflict.c$"'
test_that "the versions are given the same way round as they are asked for" 'run 0 diverge --no-calls toy 1 v2 v1 && has out "^line	out	a	10	>	restart$" && ! has out "^changed"'
hold_cores
test_that "--wait gives up: no core is free" 'limit=30 run 75 diverge --no-calls toy 1 v2 v1 --wait 0 && has err "waits for a core: somebody has core"'
let_cores_go
test_that "a version and itself part nowhere" 'run 0 diverge --no-calls toy 1 v1 v1 && has out "^standard output: the same kinds of lines, 12 and 12" && ! has out "^line|^value|^statistic"'
test_that "--trace takes the place of the recipe, and a version may have arguments" '
	run 0 diverge --no-calls toy 1 v1 v2 --trace --quick && ! has out "^line" && has out "^standard output: the same kinds of lines, 1 and 1" && run 0 diverge --no-calls toy 1 v1 v2:-x --trace "-q -v" && has out "^line	out	b	10	>	restart$"'
test_that "--json has the same" '
	run 0 diverge --no-calls toy 1 v1 v2 --json && python3 -c "
import json
j = json.load(open(\"out\"))
assert j[\"streams\"][\"stdout\"][\"line\"][\"b\"][\"line\"] == 10 and j[\"streams\"][\"stdout\"][\"value\"][\"a\"][\"line\"] == 4, j
assert j[\"statistics\"][0][\"values\"] == [100, 5000] and j[\"changed\"][-1][\"name\"] == \"lookahead\" or j[\"changed\"][0][\"name\"] == \"lookahead\", j
assert [r[\"verdict\"] for r in j[\"runs\"]] == [\"sat\", \"sat\"], j"'
test_that "not as both" 'run 2 diverge --no-calls toy 1 v1 v2 --markdown --json && has err "exclude each other"'
test_that "--markdown is a section for an issue" 'run 0 diverge --no-calls toy 1 v1 v2 --markdown && has out "^## Where the runs part$" && has out "^    line	out	b	10	>	restart$" && has out "^    statistic	conflicts	100	5000"'

# -- what is hostile --

test_that "a crash in the middle is where it ends" 'run 0 diverge --no-calls toy 1 v1 v3 && has out "v3: crash" && has out "^line	out	a	8	>	level 5" && has out "^line	out	b	-	>	.the end.$"'
test_that "a trace without an end, of a program that ignores signals, is cut off" '
	SOLVERFS_FAULTS= run 0 diverge --no-calls toy 1 v4 v4 --timeout 300ms && has out "timeout after .*, its trace cut off" && has out "^standard output: the same kinds of lines up to where one was cut off" && has out "^standard error: the same"'
test_that "--timeout above the recipe's is a limit of CPU time, too" '
	run 0 diverge --no-calls short 1 v1 v2 && has out "v2: timeout" && run 0 diverge --no-calls short 1 v1 v2 --timeout 20s && ! has out "timeout|cut off"'
if [ "$(id -u)" = 0 ]; then
	test_that "a trace that cannot be kept: why" '
		unshare -m sh -c "mount -t tmpfs -o size=4k none store/scratch && exec \"$solverfs\" diverge --no-calls toy 1 v1 v2" >out 2>err; [ $? = 4 ] && has err "cannot keep a trace: No space left" && empty out'
else
	skip "a trace that cannot be kept" "needs root"
fi
test_that "and nothing is left in the store" '[ -z "$(ls store/scratch)" ]'
test_that "a version that cannot be built is named" 'run 1 diverge --no-calls toy 1 v1 v5 && has err "cannot be built at v5" && empty out'
test_that "wrong words are said to be wrong" '
	run 2 diverge toy && run 2 diverge --no-calls toy 1 v1 && run 3 diverge --no-calls toy 1 v1 nosuch && run 3 diverge toy 9 v1 v2 && run 3 diverge toy spr/9 && run 2 diverge --no-calls toy 1 v1 v2 --seed 1 && has err "no .seed."'

git -C toy show v1:toy.sh >one.sh && git -C toy show v2:toy.sh >two.sh && chmod +x one.sh two.sh
one="exec:'$top/one.sh' -v" two="exec:'$top/two.sh' -v"
printf '#!/bin/sh\necho "looking ahead"\necho sat\necho unsat\n' >three.sh && chmod +x three.sh && three="exec:'$top/three.sh'"
test_that "of a trace with lines like answers the last counts" 'run 0 diverge --no-calls programs 1 "$three" "$three" && has out ": unsat after"'
test_that "two programs of the machine" 'run 0 diverge programs 1 "$one" "$two" && has out "^line	out	b	10	>	restart$" && ! has out "^changed"'

# -- a finding knows its case and versions --

test_that "a finding is compared between the versions it was found with" '
	run 0 compare toy@v1 toy@v2 1 --keep && has err "1 regression kept" && run 0 diverge --no-calls toy spr/1 && has out "^line	out	b	10	>	restart$"'
test_that "... under its time limit" '
	run 0 compare short@v1 short@v2 1 --keep --timeout 20s && has err "1 regression kept" && run 0 diverge --no-calls short spr/1 && has out "^line	out	b	10	>	restart$" && ! has out "timeout|cut off"'

# -- a profile --

make_repository slow
cat >slow/slow.c <<'END'
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int count (unsigned n)
{
  volatile unsigned x = 0;
  for (unsigned i = 0; i < n; i++)
    x += i;
  return (int) x;
}

__attribute__((noinline)) static int steady (void)
{
  return count (30000000u) + 1;
}

__attribute__((noinline)) static int search (void)
{
  return 1;
}

int main (void)
{
  int r = steady () + search ();
  printf ("c %d\ns UNSATISFIABLE\n", r);
  return 20;
}
END
echo 'gcc -g -O1 -o slow slow.c' >slow/build.sh
day_commit slow 1 one && git -C slow tag v1
sed -i 's/^  return 1;/  int r = 0;\n  for (int i = 0; i < 5; i++)\n    r += count (30000000u);\n  return r;/' slow/slow.c
printf 'int odd (void)\n{\n  return 1;\n}\n' >"slow/$(printf 'o\tdd\377.c')"
day_commit slow 2 two && git -C slow tag v2
toy_recipe slow 'format = cnf'
printf 'p cnf 1 2\n1 0\n-1 0\n' >two.cnf
run 0 solver add -q slow slow --recipe slow.recipe && run 0 case add -q two.cnf
test_that "a case that the versions do not take" 'run 2 diverge toy two.cnf v1 v2 && has err "v1 takes no DIMACS"'
if [ "$(uname -m)" = x86_64 ] && command -v addr2line gcc >/dev/null; then
	test_that "--profile names function and file, and the caller has the time of what it calls" '
		run 0 diverge --no-calls slow two.cnf v1 v2 --profile && has out "the extra time is in search .slow.c." && has out "^function	count	slow.c	" &&
		grep "^function	search	slow.c	" out | awk -F "\t" "{ exit !(\$5 < 0.5 * \$7 && \$7 > 2 * \$6) }"'
	sed "s/run = /run = stdbuf -oL /" slow.recipe >behind.recipe
	test_that "also where another program starts the solver" '
		run 0 solver add -q behind slow --recipe behind.recipe && run 0 diverge --no-calls behind two.cnf v1 v2 --profile && has out "the extra time is in search .slow.c."'
	sed "s/run = /run = no-such-program /" slow.recipe >nothing.recipe
	test_that "where nothing was sampled no profile is claimed" '
		run 0 solver add -q nothing slow --recipe nothing.recipe && run 0 diverge --no-calls nothing two.cnf v1 v2 --profile && has err "v1 gave no samples"'
else
	skip "--profile names function and file" "no addr2line or gcc, or another processor"
fi
printf '#!/bin/sh\necho "no tracing here" >&2\nexit 3\n' >sampler && chmod +x sampler
test_that "where nothing can be sampled it is said, and all else is shown" 'SOLVERFS_SAMPLE=$top/sampler run 0 diverge --no-calls slow two.cnf v1 v2 --profile && has err "no tracing here" && has out "^changed	slow.c	search"'

test_that "a file whose name is no text is named all the same" '
	run 0 diverge --no-calls slow two.cnf v1 v2 && has out "^changed	o..dd..ff.c	odd	" && run 0 diverge --no-calls slow two.cnf v1 v2 --json && has out "o[^ ]*dd[^ ]*ff.c"'

# -- calls --

make_repository calls
cat >calls/main.c <<'END'
#include <stdio.h>
int decide (int i);
int act (int i);
int main (void)
{
  unsigned sum = 0;
  for (int i = 0; i < 20000; i++)
    if (decide (i))
      sum += (unsigned) act (i);
  printf ("c %u\ns UNSATISFIABLE\n", sum);
  return 20;
}
END
cat >calls/decide.c <<'END'
static int is_due (int i)
{
  return i % 7 == 3;
}
int decide (int i)
{
  return is_due (i);
}
END
cat >calls/act.c <<'END'
static int twice (int i)
{
  return 2 * i;
}
int act (int i)
{
  return twice (i);
}
END
echo 'gcc -O2 -c decide.c && gcc -o calls main.c decide.o act.c' >calls/build.sh
calls_commit() { day_commit calls 1 "$1" && git -C calls tag "$1"; }
calls_commit base
calls_branch() { git -C calls checkout -q -b "of-$1" base; }
calls_branch decision && sed -i 's/i % 7 == 3/i % 7 == 3 \&\& i != 10006/' calls/decide.c && calls_commit decision
calls_branch slower && sed -i 's/return 2/for (volatile int n = 0; n < 50; n++) ; return 2/' calls/act.c && calls_commit slower
calls_branch renamed && sed -i 's/twice/doubled/' calls/act.c &&
	sed -i 's/^int main/#include <pthread.h>\nstatic void *run (void *p) { return decide (3) ? p : NULL; }\nint main/; s/unsigned sum = 0;/unsigned sum = 0; pthread_t t; pthread_create (\&t, NULL, run, NULL); pthread_join (t, NULL);/' calls/main.c && calls_commit renamed
calls_branch random && sed -i 's/^int main/#include <stdlib.h>\n#include <time.h>\nint main/; s/unsigned sum = 0;/struct timespec t; unsigned sum = (clock_gettime (CLOCK_MONOTONIC, \&t), srand ((unsigned) t.tv_nsec), 0);/; s/if (decide (i))/if (decide (rand ()))/' calls/main.c && calls_commit random
calls_branch endless && sed -i 's/i < 20000/1/; s/int i = 0/unsigned i = 0/' calls/main.c && calls_commit endless
calls_branch endless2 && git -C calls reset -q --hard endless && sed -i 's/i % 7 == 3/i % 7 == 3 \&\& i != 10006/' calls/decide.c && calls_commit endless2
calls_branch around && sed -i 's,gcc,/usr/bin/gcc,g' calls/build.sh && calls_commit around
calls_branch refuses && echo 'test -z "$SOLVERFS_BUILD_TRAIL" || exit 1; gcc -o calls main.c decide.c act.c' >calls/build.sh && calls_commit refuses
toy_recipe calls 'format = cnf'
run 0 solver add -q calls calls --recipe calls.recipe
if command -v addr2line gcc >/dev/null; then
	test_that "the file in which a decision is changed is named, with the line, the callers, and what both do there" '
		run 0 diverge calls two.cnf base decision && has out "^file	decide.c	calls$" && has out "they part after [0-9]+ in is_due .decide.c:2.: base returns from is_due, decision compares at decide.c:3" &&
		has out "^open	is_due	decide.c" && has out "^open	decide	decide.c" && has out "^open	main	main.c" && has err "decision is built once more"'
	test_that "--json has the same, and the builds were kept" '
		run 0 diverge calls two.cnf base decision --json && ! has err "built once more" && python3 -c "
import json
j = json.load(open(\"out\"))
c = j[\"calls\"]
assert j[\"file\"] == {\"name\": \"decide.c\", \"by\": \"calls\"} and c[\"parted\"] and not c[\"unsteady\"] and not c[\"cut\"], j
assert [f[\"name\"] for f in c[\"place\"][\"open\"]] == [\"is_due\", \"decide\", \"main\"], c
assert [n[\"kind\"] for n in c[\"place\"][\"next\"]] == [\"return\", \"comparison\"], c"'
	test_that "a loop that changes no decision is where it is" 'run 0 diverge calls two.cnf base slower && has out "^file	act.c	calls$"'
	test_that "a renamed function is no difference, nor what another thread does, which is said" '
		run 0 diverge calls two.cnf base renamed && has out "^calls: .* of the main thread, and others have some more, the same in both" && ! has out "^file"'
	test_that "a program that does not do the same twice is said to be one" '
		run 0 diverge calls two.cnf random random && has out "random does not take the same ones twice, .* they part after [0-9]+ in (is_due|main|decide)" && ! has out "^file"'
	test_that "what is killed at its limit is compared as far as it came" '
		SOLVERFS_FAULTS= run 0 diverge calls two.cnf endless endless2 --timeout 100ms && has out "up to where one was cut off" && has out "^file	decide.c	calls$"'
	toy_recipe late 'format = cnf' 'output = calls' "run = /bin/sh -c 'sleep 0.4 && exec \$0 \$1' {bin} {case}" && run 0 solver add -q late calls --recipe late.recipe
	test_that "a program that is killed before it begins lists its functions all the same" '
		SOLVERFS_FAULTS= run 0 diverge late two.cnf endless endless2 --timeout 200ms && has out "endless: timeout" && has out "^file	decide.c	calls$"'
	test_that "a build that goes around the compilers on its PATH is said to be one" 'run 0 diverge calls two.cnf base around && has err "around: the build makes no use of the compilers on its PATH" && ! has out "^calls"'
	test_that "a build that fails with it, too, and a program without sources" '
		run 0 diverge calls two.cnf base refuses && has err "refuses cannot be built with -finstrument-functions: command 1" &&
		run 0 diverge programs 1 "$one" "$two" && has err "is a program without sources"'
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >secret.c && gcc -g -o secret secret.c
	make_repository liar
	liar_commit() { # liar_commit TAG OUTCOME
		cat >liar/liar.sh <<END
#!/bin/sh
at=$(nm secret | awk '$3 == "main" { print $1 }')
case \$SOLVERFS_TRAIL in
names) printf 'N main\n' >&9 ;;
chunks) printf 'K a $2\nX\n' >&9 ;;
window*) printf "M 0 $top/secret\nF 0 0 \$at main\nS 0\nT 0 $2 0 \$at\n" >&9 ;;
esac
echo 's UNSATISFIABLE'
exit 20
END
		echo 'cp liar.sh liar && chmod +x liar' >liar/build.sh && day_commit liar 1 "$1" && git -C liar tag "$1"
	}
	liar_commit v1 0 && liar_commit v2 1
	toy_recipe liar 'format = cnf' && run 0 solver add -q liar liar --recipe liar.recipe
	test_that "a run that names another file of this machine as its code does not have it read" '
		run 0 diverge liar two.cnf v1 v2 && has out "they part after 0 in main" && ! has out "^file"'
	# The trail is read from the third tick on that finds its pipe full.
	cat >ticks.c <<'END'
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static void __attribute__((no_instrument_function)) tick(int s)
{
	static int full;
	struct pollfd p = {.fd = 9, .events = POLLOUT};

	full += poll(&p, 1, 0) == 0;
	if (full == 3 && write(8, "\n", 1) == 1)
		full++;
}
static void step(void) { __asm__ volatile(""); }
int main(void)
{
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = tick}, 0);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 5000}, {0, 5000}}, 0);
	for (int i = 0; i < 50000; i++)
		step();
	return 0;
}
END
	test_that "a signal while the trail waits for its reader does not end it" '
		gcc -finstrument-functions -o ticks ticks.c "${SOLVERFS_TRAIL_RUNTIME:-$(dirname "$solverfs")/../core/build/solverfs-trail.a}" &&
		mkfifo full trail && { timeout 60 env SOLVERFS_TRAIL="window 0 200000" ./ticks 9>trail 8>full & } && { read -r _ <full; grep -c "^C"; } <trail >out && is out 50001'
	test_that "nothing is left in the store" '[ -z "$(ls store/scratch)" ]'
else
	skip "calls are compared" "no addr2line or gcc"
fi

echo "1..$n"
