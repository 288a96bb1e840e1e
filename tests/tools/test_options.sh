#!/bin/bash
# The options that give lost speed back. Prints TAP. Usage: test_options.sh SOLVERFS
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
tell_time

# 600 options, all of them false, at random places: three which give v2 its speed back together, one that crashes it, one that makes its answer another
# one, one that it refuses, and one that makes it slow whatever there is, whose default is another one in v3.
read -r -a at <<<"$(python3 -c 'import random, sys; random.seed(int(sys.argv[1])); print(*random.sample(range(600), 7))' "${SOLVERFS_TEST_SEED:-1}")"
make_repository toy
cat >toy/toy.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	static int on[600];
	int at[] = {AT}, seed = 0, n;
	on[at[6]] = FLIPPED;
	for (int i = 1; i < argc; i++) {
		char value[9];
		if (!strcmp(argv[i], "--list")) {
			for (int k = 0; k < 600; k++)
				printf("  --opt%d=bool   what it does [%s]\n", k, on[k] ? "true" : "false");
			puts("  --help   no other value\n  --=x");
			return 0;
		}
		if (sscanf(argv[i], "--opt%d=%8s", &n, value) == 2)
			on[n] = !strcmp(value, "true");
		sscanf(argv[i], "-s%d", &seed);
	}
	if (on[at[3]]) abort();
	if (on[at[5]]) return puts("(error \"no such option\")"), 2;
	int slow = SLOW && !(on[at[0]] && on[at[1]] && on[at[2]]);
	fprintf(stderr, "lasts %f\n", (slow || on[at[6]] ? 8 : 0.25) * (1 + seed % 7 * 0.02));
	puts(on[at[4]] ? "unsat" : "sat");
	return 0;
}
END
version() { # version TAG SLOW FLIPPED
	echo "cc -DAT=$(IFS=,; echo "${at[*]}") -DSLOW=$2 -DFLIPPED=$3 -o toy toy.c" >toy/build.sh
	git -C toy add -A && git -C toy commit -q --allow-empty -m "$1" && git -C toy tag "$1"
}
version v1 0 0 && version v1-again 0 0 && version v2 1 0 && version v3 0 1 && version v4 1 1
toy_recipe toy 'timeout = 10s' 'run = {bin} {seed} {case}' 'seed = -s{n}' 'options = --list'
printf '[variant "mute"]\n\toptions = --nothing\n[variant "short"]\n\ttimeout = 4s\n[variant "brief"]\n\ttimeout = 10s\n\tcputime = 2s\n' >>toy.recipe
printf '(declare-const p Bool)(assert p)(check-sat)\n' >one.smt2
run 0 init && run 0 solver add --recipe toy.recipe toy toy && run 0 case add one.smt2 || { cat err; exit 1; }
o="options toy one.smt2 --reference v1 --target"
value() { python3 -c 'import json, sys; print(eval(sys.argv[1], {"j": json.load(open("out"))}))' "$1"; }

test_that "three options of 600 that matter together, in at most 200 runs" '
	run 0 $o v2 --json && [ "$(value "sorted(f[\"argument\"] for f in j[\"flips\"])")" = \
		"$(printf "%s\n" "${at[@]:0:3}" | python3 -c "import sys; print(sorted(f\"--opt{n.strip()}=true\" for n in sys.stdin))")" ] &&
	[ "$(value "j[\"runs\"] <= 200 and j[\"flipped\"][\"fast\"] == j[\"flipped\"][\"seeds\"] == 12")" = True ]'
echo "# $(value "j[\"runs\"], j[\"line\"]")"
test_that "what breaks a run is dropped, and it is said why" '
	[ "$(value "all({f\"--opt${at[3]}=true\": \"crash\", f\"--opt${at[4]}=true\": \"another answer\", f\"--opt${at[5]}=true\": \"refused\", f\"--opt${at[6]}=true\": \"slows the reference, too\"}[d[\"argument\"]] == d[\"why\"] for d in j[\"dropped\"])")" = True ]'
test_that "lists are counted" '[ "$(value "j[\"target\"][\"options\"], j[\"target\"][\"passed_over\"], j[\"target\"][\"unread\"]")" = "(600, 1, 1)" ]'
hold_cores
test_that "--wait gives up: no core is free" 'limit=30 run 75 $o v2 --wait 0 && has err "waits for a core: somebody has core"'
let_cores_go
test_that "a default that differs comes first, in one line, and is tried the other way round" '
	run 0 $o v3 && is out "--opt${at[6]}=false restores it (0.260s; 12 of 12 seeds)" && has err "^[34][0-9] runs, 1 sets of 600 options" &&
	has err "the other way round: the reference with --opt${at[6]}=true is slow in 3 of 3 runs"'
test_that "a finding has its versions" '
	run 0 compare toy@v1 toy@v3 --pairs 12 --keep && run 0 options toy spr/1 && has out "^--opt${at[6]}=false restores it"'
mkdir mounted && "$solverfs" mount mounted >/dev/null 2>&1
run 0 options toy spr/1 --target v2 --seeds 5
test_that "the report of the finding has that answer from now on, and none for other versions" 'grep -A 2 "^## Which options" mounted/toy/spr/1/report.md >out; has out "^--opt${at[6]}=false restores it"'
"$solverfs" unmount mounted >/dev/null 2>&1
test_that "runs that are used up, which says nothing of the options behind" '
	run 1 $o v2 --runs 25 && has out "^no options are known to restore it: 25 runs were used up after [0-9]+ sets of 600 options$" && has err "no runs are left"'
test_that "--timeout above the recipe's is a limit of CPU time, too: the target ends by itself after 8 s" '
	run 0 options short one.smt2 --reference v1 --target v3 --timeout 20s --seeds 5 --json && [ "$(value "8 <= j[\"target\"][\"seconds\"] < 10")" = True ]'
test_that "a run that a smaller cputime ends has had that time, and not the whole timeout" '
	run 0 options brief one.smt2 --reference v1 --target v3 --seeds 5 --json && [ "$(value "j[\"target\"][\"seconds\"]")" = 2.0 ]'
test_that "the change of a culprit names options" 'run 0 $o v3 --culprit v3 --seeds 5 && has out "; 5 of 5 seeds"'

# v2 of this one has 60 options that v1 has not. Two of them give the speed back together, and so does another one alone, which the change to v3 names.
make_repository many
cat >many/toy.c <<'END'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	static int on[60];
	int seed = 0;
	for (int i = 1; i < argc; i++) {
		char value[9], a, b;
		if (!strcmp(argv[i], "--list")) {
			puts("  --base=bool   what it does [false]");
			for (int k = 0; k < (SLOW ? 60 : 0); k++)
				printf("  --alpha%c%c=bool   what it does [false]\n", 'a' + k / 10, 'a' + k % 10);
			return 0;
		}
		if (sscanf(argv[i], "--alpha%c%c=%8s", &a, &b, value) == 3)
			on[(a - 'a') * 10 + b - 'a'] = !strcmp(value, "true");
		sscanf(argv[i], "-s%d", &seed);
	}
	fprintf(stderr, "lasts %f\n", (SLOW > 1 && !(on[3] && on[8]) && !on[57] ? 8 : 0.25) * (1 + seed % 7 * 0.02));
	puts("sat");
	return 0;
}
END
for slow in 0 1 2; do
	printf 'cc -DSLOW=%d -o many toy.c # %s\n' $slow "$([ $slow = 2 ] && echo alphafh)" >many/build.sh
	git -C many add -A && git -C many commit -q -m v$((slow + 1)) && git -C many tag v$((slow + 1))
done
toy_recipe many 'timeout = 10s' 'run = {bin} {seed} {case}' 'seed = -s{n}' 'options = --list'
test_that "... and these come before the other new ones" '
	run 0 solver add --recipe many.recipe many many && run 0 options many one.smt2 --reference v1 --target v3 --culprit v3 --seeds 8 && has out "^--alphafh=true restores it"'

# -- what cannot be done --

test_that "two versions that do not differ" 'run 1 $o v1-again && has err "is not slower than the reference" && empty out'
test_that "one version twice" 'run 2 $o v1 && has err "they do not differ"'
test_that "no versions" 'run 2 options toy one.smt2 && has err "name the versions"'
test_that "a case of another format" 'printf "p cnf 1 1\n1 0\n" >a.cnf && run 0 case add a.cnf && run 2 options toy a.cnf --reference v1 --target v2 && has err "takes no DIMACS"'
test_that "several cases, none, a wrong word" 'run 2 options toy one.smt2 two && run 2 options one.smt2 && run 3 options toy two.smt2 --reference v1 --target v2'
test_that "no list of options" '
	run 1 options mute one.smt2 --reference v1 --target v3 && has err "v3 prints no list of options when it is called with --nothing; name the arguments"'
test_that "programs of the machine; the usual words for a list, and the worst of lists" '
	printf "#!/bin/sh\n[ \"\$1\" != --help ] || { seq -f \"  --x%%g=bool   y [false]\" 5000; head -c 100000 /dev/zero; printf \"\\n  --go=bool  z [true]\\n\"; exit; }\ncase \$* in *--go=false*) ;; *) echo lasts 3 >&2 ;; esac\necho sat\n" >slow &&
	printf "#!/bin/sh\n[ \"\$1\" != --help ] || { echo \"  --go=bool  z [false]\"; exit; }\necho sat\n" >fast && chmod +x slow fast &&
	run 0 options one.smt2 --reference "exec:'"'"'$top/fast'"'"'" --target "exec:'"'"'$top/slow'"'"'" && has out "^--go=false restores it .* of 12 runs" &&
	has err "target: fast in 0 of [0-9]+ runs .*; 5001 options"'
test_that "interrupted" '
	"$solverfs" $o v2 >out 2>err & pid=$!
	await "[ -n \"\$(ls store/scratch)\" ]" && kill -TERM $pid; wait $pid; [ $? = 130 ] && empty out && has err interrupted'
hold_cores
test_that "interrupted while it builds" '
	"$solverfs" $o v4 >out 2>err & pid=$!
	await "\"$solverfs\" -q status | grep -q \"running.*build toy\"" && kill -TERM $pid; wait $pid; [ $? = 130 ] && empty out'
let_cores_go

echo "1..$n"
