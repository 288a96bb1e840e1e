#!/bin/bash
# Campaigns of DIMACS: a slowdown that was planted in a toy SAT solver's history is found without a corpus, kept, localized and reduced; a corpus; programs that
# have no recipe. Prints TAP. Usage: test_campaign_cnf.sh SOLVERFS
. "$(dirname "$0")/command.sh"
clean_up() { fusermount3 -uz "$top/mnt" 2>/dev/null; }
tell_time

# From v2 on slow where a clause has six literals or more.
make_repository sat
echo 'cp sat.sh sat && chmod +x sat' >sat/build.sh
long='grep -qE "^(-?[0-9]+ ){6,}0$" "$case" && echo "lasts 20" >&2'
for v in 1 2 3; do
	printf '#!/bin/sh\n# %s\nfor case; do :; done\nhead -n 1 "$case" | grep -q "^p cnf" || { echo "c no DIMACS"; exit 1; }\n%s\necho "s SATISFIABLE"\nexit 10\n' "$v" "$([ "$v" = 1 ] || echo "$long")" >sat/sat.sh
	day_commit sat "$v" "$([ "$v" = 2 ] && echo "slow for long clauses" || echo "version $v")" && git -C sat tag "v$v"
done
toy_recipe sat 'format = cnf' 'timeout = 2s'
run 0 init && run 0 solver add sat sat --recipe sat.recipe

campaign() { # campaign STATUS NAME OPTION...
	local status=$1 name=$2
	shift 2
	timeout -k 5 300 "$solverfs" fuzz "$@" --name "$name" --threshold 700ms --timeout 1500ms -j 1 >out 2>err </dev/null
	[ $? = "$status" ] || { echo "# ended with another status than $status"; return 1; }
}
# Goes on for longer until an input has run: a busy machine may need the first second for the builds.
campaign_until_an_input() {
	for seconds in 1 4 16 64; do
		campaign 0 "$@" --for ${seconds}s || return 1
		has out "^inputs 0$" || return 0
	done
	return 1
}

test_that "a campaign of a solver that reads DIMACS needs no corpus" '
	campaign 0 first sat --reference v1 --target v3 --for 100s --max-finds 1 --localize-for 100s --reduce-for 60s && has err "^found spr/1: v1 .*v3 more than 1.5" && has out "^crashes 0$" && has out "^soundness 0$"'
test_that "what it finds is localized and reduced" '
	has err "^localized spr/1: .*$(git -C sat rev-parse v2) .* slow for long clauses" && run 0 reduce sat spr/1 && [ "$(head -n 2 out)" = "$(printf "p cnf 6 1\n1 2 3 4 5 6 0")" -o "$(head -n 1 out)" = "p cnf 6 1" ] && has err "sat/spr/1/reduced.cnf"'
test_that "it is in the mount as DIMACS" '
	mkdir -p mnt && run 0 mount mnt && [ "$(ls mnt/sat/spr/1 | grep -c cnf)" = 2 ] && head -n 1 mnt/sat/spr/1/case.cnf | grep -q "^p cnf" && [ "$(cat mnt/sat/spr/1/reduced.cnf)" = "$(run 0 reduce sat spr/1; cat out)" ] &&
	! [ -e mnt/sat/spr/1/case.smt2 ] && grep -q "below as .case.cnf." mnt/sat/spr/1/report.md && ! grep -q "^\`\`\`smt2" mnt/sat/spr/1/report.md'
test_that "verify.sh knows the answers of SAT solvers" '
	cp mnt/sat/spr/1/verify.sh verify.sh; run 0 unmount mnt; sh verify.sh there >out 2>err; has out "seed 0: before: sat in [0-9]+ ms, after: sat in [0-9]+ ms"'
test_that "the same command goes on" 'campaign 0 first sat --reference v1 --target v3 --for 1ms --localize-for 100s --reduce-for 60s && has out "^state finished"'
test_that "many finds of one cause are one" '
	campaign 0 more sat --reference v1 --target v3 --for 100s --max-finds 2 --no-localize --reduce-for 100s && run 0 findings sat --all && all=$(grep -c . out) && run 0 findings sat && [ "$(grep -c . out)" -lt "$all" ]'

# -- a corpus --

mkdir -p corpus/deep && printf 'c a seed\np cnf 3 2\n1 -2 0\n2 3 0\n' >corpus/a.cnf && cp corpus/a.cnf corpus/deep/b.dimacs
printf 'p cnf 1 1\n1 2 0\n' >corpus/wrong.cnf && printf '(assert false)\n(check-sat)\n' >corpus/z.smt2 && printf 'p cnf 1 1\n0\n' >corpus/empty.cnf
test_that "a corpus is mutated, and what is not of its format is left out" '
	campaign_until_an_input corpus sat --reference v1 --target v3 --no-localize --no-reduce --corpus corpus && has err "left out: .*corpus/wrong.cnf: variable 2, and the header announces 1" &&
	has err "left out: .*corpus/z.smt2: this campaign is of DIMACS" && has err "left out: .*corpus/empty.cnf: it has no literal" && has out "^skipped-seeds 3$"'
test_that "nothing that can be used" 'mkdir -p none && cp corpus/z.smt2 none && campaign 1 none sat --reference v1 --target v3 --for 3s --corpus none && has err "no input"'

# -- programs, which have no recipe --

at() { echo "exec:'$top/bin/$1'"; } # the scratch folder has a blank in its name
mkdir -p bin && for v in 1 3; do git -C sat show "v$v:sat.sh" >"bin/sat$v" && chmod +x "bin/sat$v"; done
printf '#!/bin/sh\nfor case; do :; done\nhead -n 1 "$case" | grep -q "^(" && echo sat || exit 1\n' >bin/smt && sed 's/^for/# 2\nfor/' bin/smt >bin/smt2 && chmod +x bin/smt bin/smt2
test_that "programs that answer nothing but DIMACS are given DIMACS" '
	campaign 0 programs --reference "$(at sat1)" --target "$(at sat3)" --for 100s --max-finds 1 --no-localize --no-reduce && has err "^found spr/1:" && run 0 findings programs'
test_that "others are given SMT-LIB" '
	campaign_until_an_input smt --reference "$(at smt)" --target "$(at smt2)" --no-localize --no-reduce'
test_that "... and what a corpus is of" '
	printf "p cnf 2 1\n1 2 0\n" >none/a.cnf && campaign 0 mixed --reference "$(at sat1)" --target "$(at sat3)" --for 1s --no-localize --no-reduce --corpus none && has err "left out: .*none/z.smt2: this campaign is of DIMACS"'
test_that "a solver of DIMACS beside one that cannot read it is refused" '
	campaign 1 deaf sat --reference v1 --target "$(at smt)" --for 3s && has err "smt@[0-9a-f]* answers no DIMACS"'
test_that "a campaign_of for unknowns is of SMT-LIB" '
	run 2 incompleteness sat --reference v1 --target v3 --seeds corpus --for 1s && has err "takes DIMACS; there are rules for SMT-LIB alone"'
echo "1..$n"
