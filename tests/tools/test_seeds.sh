#!/bin/bash
# Seeds by which inputs are scrambled: scrambled/ and by-seed.tsv of a mount, comparisons in it, gc, and stores taken in.
# shellcheck disable=SC2016,SC2034
. "$(dirname "$0")/command.sh"
make_mount
tell_time

# It takes eight milliseconds, half as much again from v2 on, and knows no seed. It says what the formula's status is.
make_repository toy
version() { # version TAG MILLISECONDS
	cat >toy/toy.sh <<END
#!/bin/sh
# $1
for case; do :; done
echo "lasts 0.0$2" >&2
cat "\$case" >&2
sed -n 's/^(set-info :status \([a-z]*\))\$/\1/p; s/^p cnf .*/s SATISFIABLE/p' "\$case"
END
	echo 'cp toy.sh toy && chmod +x toy' >toy/build.sh
	git -C toy add -A && git -C toy commit -q -m "$1" && git -C toy tag "$1"
}
version v1 08 && version v2 12
toy_recipe toy 'timeout = 10s' && toy_recipe dimacs 'format = cnf' 'timeout = 10s' 'output = toy'
formula() { # formula NAME: with a thousand ways to write it
	printf '(set-info :status sat)\n(declare-const %s Bool)\n(declare-const b Bool)\n(declare-const c Bool)\n' "$1"
	for _ in 1 2 3 4 5; do printf '(assert (or %s b (and c %s) (not c)))\n(assert (or (not b) c))\n' "$1" "$1"; done
	echo '(check-sat)'
}
formula a >a.smt2 && formula z >b.smt2 && printf '(set-info :status sat)\n(check-sat)\n' >bare.smt2
printf 'c status sat\np cnf 6 4\n1 -2 3 0\n-1 4 0\n2 5 -6 0\n6 -3 0\n' >c.cnf
printf 'c ind 1 2 0\np cnf 2 1\n1 -2 0\n' >projected.cnf
run 0 init && run 0 solver add --recipe toy.recipe toy toy && run 0 solver add --recipe dimacs.recipe dimacs toy &&
	run 0 case add a.smt2 b.smt2 bare.smt2 c.cnf projected.cnf || { cat err; exit 1; }
mounted() { "$solverfs" mount "$mnt" >/dev/null 2>err || { cat err; exit 1; }; }
mounted
asked() { grep ^solverfs_asked_total "$mnt/.solverfs/stats"; }
s=$mnt/toy/commits/v1/scrambled d=$mnt/dimacs/commits/v1/scrambled
table() { tail -n +2 "$1/by-seed.tsv" | cut -f 1-3 | tr '\t\n' '  '; }

# -- DIMACS --

test_that "a DIMACS case is scrambled" '
	[ "$(cat "$d/4/cases/4/result")" = sat ] && [ "$(ls "$d/4/cases/4")" = "$(printf "%s\n" cputime input.cnf memory result run.json stderr stdout time)" ] &&
	grep -q "^p cnf 6 4$" "$d/4/cases/4/input.cnf" && ! cmp -s c.cnf "$d/4/cases/4/input.cnf" && [ "$(grep -c " 0$" "$d/4/cases/4/input.cnf")" = 4 ]'
test_that "it is what the solver was given" 'grep -v "^lasts" "$d/4/cases/4/stderr" | cmp - "$d/4/cases/4/input.cnf"'
test_that "its answer is known, which the bytes do not say" 'tr -d " \n" <"$d/4/cases/4/run.json" | grep -q "\"expected\":\[\"sat\"\]" && ! grep -q status "$d/4/cases/4/input.cnf"'
test_that "... which no listing shows" '[ "$(ls "$mnt/cases" | tr "\n" " ")" = "1 2 3 4 5 by-name " ] && run 0 case list && [ "$(wc -l <out)" = 5 ] && run 0 fsck'
test_that "one whose comments name variables is not" '
	! cat "$d/1/cases/5/time" 2>err && has err "not supported" && getfattr --absolute-names -n user.solverfs.reason "$d/1/cases/5/time" >out && has out "cannot scramble this: a comment"'
test_that "a solver has no cases of another format" '! ls "$d/1/cases/1" 2>/dev/null && ! ls "$s/1/cases/4" 2>/dev/null && [ "$(ls "$d/1/cases" | tr "\n" " ")" = "4 5 " ]'

# -- SMT-LIB --

test_that "names of cases are links" '[ "$(readlink "$s/2/cases/a.smt2")" = 1 ] && [ "$(cat "$s/2/cases/a.smt2/result")" = sat ]'
test_that "a seed that is none" 'for n in x 0 -1 1.5 01 4294967296; do ! ls "$s/$n" 2>/dev/null || exit 1; done; [ -d "$s/4294967295" ]'
test_that "by-seed.tsv has what is known, and starts nothing" '
	[ "$(cat "$s/3/cases/1/result")" = sat ] && before=$(asked) && [ "$(table "$mnt/toy/commits/v1/cases/1")" = "scrambled 2 sat scrambled 3 sat " ] && [ -z "$(table "$mnt/toy/commits/v2/cases/1")" ] &&
	[ "$(table "$mnt/dimacs/commits/v1/cases/4")" = "scrambled 4 sat " ] && [ "$(asked)" = "$before" ] &&
	[ "$(head -1 "$mnt/toy/commits/v1/cases/1/by-seed.tsv")" = "$(printf "kind\tseed\tresult\ttime\tcputime\tmemory\teffort")" ]'

# -- comparisons --

pairs() { grep "^$1	" "$mnt/toy/compare/v1..v2/summary.tsv" | cut -f "$2"; }
test_that "repetitions, while no pair of scrambled inputs is known" 'run 0 compare toy@v1 toy@v2 a.smt2 b.smt2 --pairs 6 && [ "$(pairs "pairs by" 3)" = repetitions ] && [ "$(pairs "pairs of runs" 3)" = 10 ]'
test_that "compare --scramble makes them" 'run 0 compare toy@v1 toy@v2 a.smt2 --scramble --pairs 6 && cp out one && has out "scrambled inputs"'
test_that "... which the mount then has" '[ "$(ls "$s" | sort -n | tr "\n" " ")" = "1 2 3 4 " ] && [ "$(table "$mnt/toy/commits/v2/cases/1")" = "scrambled 1 sat scrambled 2 sat scrambled 3 sat scrambled 4 sat " ]'
test_that "... and takes for comparisons, without work" '
	before=$(asked) && [ "$(pairs "pairs by" 3)" = "scrambled inputs" ] && [ "$(grep "a.smt2$" "$mnt/toy/compare/v1..v2/regressions.tsv")" = "$(grep ^regression one | cut -f 2-)" ] && [ "$(asked)" = "$before" ]'
test_that "of the other case, repetitions" 'has "$mnt/toy/compare/v1..v2/regressions.tsv" "b.smt2" && [ "$(pairs "pairs of runs" 3)" = 10 ]'

# It is written in few ways, so that some seeds give the same bytes. Without a sandbox a solver can say here how often it was run.
printf '(set-info :status sat)\n(declare-const a Bool)\n(assert (or a true))\n(check-sat)\n' >few.smt2
make_script logs && for v in 1:08 2:12; do script_commit logs ${v%:*} "echo ${v%:*} >>'$top/runs'; echo 'lasts 0.0${v#*:}' >&2"; done && toy_recipe logs
test_that "each pair is of runs of its own, where two seeds give the same input" '
	export SOLVERFS_STORE=$top/logged && run 0 init && git config -f logged/config solverfs.sandbox none && run 0 solver add --recipe logs.recipe logs logs && run 0 case add few.smt2 &&
	run 0 compare logs@v1 logs@v2 few.smt2 --scramble && has out "^regression" && pairs=$(grep "^pairs of runs" out | cut -f 3) && [ "$pairs" -ge 5 ] &&
	[ "$(grep -c 1 runs)" -ge "$pairs" ] && [ "$(grep -c 2 runs)" -ge "$pairs" ]'

# -- gc --

inputs() { run 0 gc -n && grep ^leftovers out | cut -f 2; }
age() { find "$SOLVERFS_STORE/cases" -type f -exec touch -d "$1" {} +; }
kept() { find "$SOLVERFS_STORE/cases" -type f | wc -l; }
cat "$s/77/cases/1/input.smt2" "$s/78/cases/1/input.smt2" >/dev/null
test_that "gc leaves an input that was just made" '[ "$(inputs)" = 0 ]'
before=$(kept)
age "2 days" # of the future, as after a wrong clock
test_that "it takes one that no result is of, and only that" '
	[ "$(inputs)" = 2 ] && [ "$(kept)" = "$before" ] && run 0 gc && [ "$(grep ^leftovers out | cut -f 2)" = 2 ] && [ "$(kept)" = $((before - 2)) ] && [ "$(inputs)" = 0 ] && run 0 fsck && ! has err "of no case"'
test_that "what was known is known" '[ "$(table "$mnt/toy/commits/v1/cases/1")" = "scrambled 1 sat scrambled 2 sat scrambled 3 sat scrambled 4 sat " ] && cat "$s/2/cases/1/input.smt2" >/dev/null'
test_that "what it took is made again" '[ "$(cat "$s/77/cases/1/result")" = sat ] && [ "$(kept)" = $((before - 1)) ] && [ "$(inputs)" = 0 ]'
cat "$s/90/cases/1/input.smt2" >mine.smt2
run 0 case add mine.smt2 && age "2 days ago"
test_that "one that somebody added is a case, by its name" 'run 0 case list mine.smt2 && has out "mine.smt2" && [ "$(inputs)" = 0 ] && run 0 gc && [ "$(cat "$s/90/cases/1/result")" = sat ]'
id=$(readlink "$mnt/cases/by-name/mine.smt2" | tr -d ./)
test_that "its result is that of the scrambled one, also when it is measured again" '
	cat "$s/90/cases/1/time" >/dev/null && run 0 run toy v1 mine.smt2 --again && await "cmp -s \"$s/90/cases/1/run.json\" \"$mnt/toy/commits/v1/cases/$id/run.json\""'

# -- another store --

other() { "$solverfs" --store "$top/other" -q "$@"; }
other init && other solver add --recipe toy.recipe toy toy && other import "$SOLVERFS_STORE" >out 2>err || cat err
mkdir other-mnt && other mount other-mnt
test_that "an import has the inputs and their results" '
	[ "$(table other-mnt/toy/commits/v1/cases/a.smt2)" = "$(table "$mnt/toy/commits/v1/cases/1")" ] && cmp other-mnt/toy/commits/v1/scrambled/2/cases/a.smt2/input.smt2 "$s/2/cases/1/input.smt2" &&
	[ "$(ls other-mnt/toy/cached/v1/scrambled | sort -n | tr "\n" " ")" = "$(ls "$mnt/toy/cached/v1/scrambled" | sort -n | tr "\n" " ")" ] && ! grep -q "started_total [1-9]" other-mnt/.solverfs/stats'
test_that "... and no case more" '[ "$(ls other-mnt/cases/by-name | tr "\n" " ")" = "$(ls "$mnt/cases/by-name" | tr "\n" " ")" ]'
test_that "the same again changes nothing" 'n=$(find other/cases -type f | wc -l) && other import "$SOLVERFS_STORE" >out && [ "$(find other/cases -type f | wc -l)" = "$n" ] && other fsck >out 2>err'
test_that "an export has the cells of cases only" 'run 0 export toy v1 all --format csv && [ "$(wc -l <out)" -gt 1 ] && ! has out scrambled'
other unmount other-mnt >/dev/null 2>&1

# -- answers to scrambled inputs --

clauses() { printf 'c %s\np cnf 6 4\n1 -2 3 0\n-1 4 0\n%s 0\n6 -3 0\n' "$1" "$2" >"$1.cnf"; }
clauses told "2 5 -6" && clauses later "2 5 6 -4"
wrong() { run 0 -q status && has err "says sat on case [0-9]+ .scrambled/[0-9]+/$1.cnf., whose status is unsat"; } # wrong NAME
answers() { [ "$(cat "$d/1/cases/$1.cnf/result")" = sat ]; } # answers NAME
test_that "a wrong one is told with the status of the case, until the case is removed" '
	run 0 case add --status unsat told.cnf && answers told && wrong told && ! has err "contradicted itself" && run 0 case remove told.cnf && run 0 -q status && ! has err "told.cnf"'
test_that "... also where the status became known later" '
	run 0 case add later.cnf && answers later && run 0 -q status && ! has err later.cnf && run 0 case add --status unsat later.cnf && wrong later'
test_that "... or that another store has, where the status is known or comes along" '
	"$solverfs" init -q --store third && "$solverfs" init -q --store fourth && for s in third fourth; do "$solverfs" solver add -q --store $s --recipe dimacs.recipe dimacs toy || exit 1; done &&
	clauses early "2 5 -6 4" && run 0 case add early.cnf && answers early && run 0 case add --status unsat --store third early.cnf && run 0 import "$SOLVERFS_STORE" --store third &&
	run 0 import third --store fourth && for s in third fourth; do for name in early later; do
		run 0 status --store $s && has err "WRONG ANSWER: .* says sat on case [0-9]+ .scrambled/[0-9]+/$name.cnf., whose status is unsat" || exit 1; done; done'
run 0 unmount "$mnt"
echo "1..$n"
