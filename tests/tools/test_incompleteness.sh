#!/bin/bash
# Campaigns for unknowns from outside: a regression and an implication that were planted in a toy solver's history are found, localized and kept;
# a campaign that is killed at its journal loses nothing and finds nothing twice; bad seeds and bad versions are told. Prints TAP.
# Usage: test_incompleteness.sh SOLVERFS
. "$(dirname "$0")/command.sh"
noabs=
clean_up() {
	fusermount3 -uz "$top/mnt" 2>/dev/null
	rm -f "$noabs"
}

# Decides everything at v1. From v3 on it does not know what is at least something where b0 occurs; v5 lies about disjunctions of b0, and
# v6 crashes there. v7 cannot be built. (b0 is a name of the seeds: what the plainest formulas of an operator come to is another matter.)
toy_solver() {
	printf '#!/bin/sh\nfor case; do :; done\n'
	[ -z "$1" ] || printf 'if grep -q "b0" "$case"; then\n%s\nfi\n' "$1"
	printf 'echo sat\n'
}
unknown_for() { printf 'if grep -q "(%s " "$case"; then echo unknown; grep -q get-info "$case" && echo "(:reason-unknown (incomplete arithmetic))"; exit; fi' "$1"; }
toy_commit() {
	git -C toy add -A && GIT_COMMITTER_DATE="2024-01-0$1T00:00:00Z" git -C toy commit -q --date "2024-01-0$1T00:00:00Z" -m "$2" && git -C toy tag "v$1"
}
make_toy() {
	make_repository toy
	echo 'cp toy.sh toy && chmod +x toy' >toy/build.sh
	toy_solver "" >toy/toy.sh && toy_commit 1 "decides everything"
	echo '# tuned' >>toy/toy.sh && toy_commit 2 "tuning"
	toy_solver "$(unknown_for '>=')" >toy/toy.sh && toy_commit 3 "a new rewriter for bounds"
	echo '# tuned' >>toy/toy.sh && toy_commit 4 "more tuning"
	toy_solver 'grep -q "(or " "$case" && echo unsat && exit' >toy/toy.sh && toy_commit 5 "wrong for disjunctions"
	toy_solver 'grep -q "(or " "$case" && kill -SEGV $$' >toy/toy.sh && toy_commit 6 "crashes for disjunctions"
	echo 'exit 1' >toy/build.sh && toy_commit 7 "broken"
	toy_recipe toy 'timeout = 5s'
}

make_seeds() {
	mkdir seeds
	{
		echo '(set-logic QF_LIA)'
		for i in $(seq 0 12); do echo "(declare-fun b$i () Int)"; done
		for i in $(seq 0 12); do echo "(assert (> b$i $i))"; done
		echo '(check-sat)'
	} >seeds/sat-bounds.smt2
}

make_toy && make_seeds
run 0 init && run 0 solver add toy toy --recipe toy.recipe

campaign_of() { # campaign_of STATUS NAME OPTION...
	local status=$1 name=$2
	shift 2
	timeout -k 5 300 "$solverfs" incompleteness toy --name "$name" --timeout 3s -j 1 --for 200s --iterations 12 --chain 6 --no-reduce "$@" >out 2>err </dev/null
	[ $? = "$status" ] || { echo "# ended with another status than $status"; return 1; }
}
kinds() { run 0 findings toy --json && grep -c "\"kind\":\"$1\"" out; }

# -- finding --

test_that "a planted regression is found from seeds" \
	'campaign_of 0 first --reference v1 --target v4 --seeds seeds && has err "found incompleteness/1: regression: v1 says sat, v4 unknown: .incomplete arithmetic.;" && has out "^state finished" && has out "^regressions [1-9]" && has out "^soundness 0"'
test_that "it is localized before the campaign ends" \
	'has err "localized incompleteness/1: [0-9]* $(git -C toy rev-parse v3) sat unknown a new rewriter for bounds"'
test_that "an implication is found in one version alone" \
	'campaign_of 0 alone --at v4 --seeds seeds && has err "implication: v4 decided it before the last rule" && [ "$(kinds implication)" -ge 1 ]'
test_that "what has the signature of a finding is counted, and kept once" '
	campaign_of 0 again --reference v1 --target v4 --seeds seeds --seed 1 --iterations 45 && has out "^duplicates [1-9]" &&
	run 0 findings toy --json && [ "$(grep -o "\"signature\":\"[^\"]*\"" out | sort | uniq -d | wc -l)" = 0 ]'

# -- in the mount --

git -C toy show v4:toy.sh >four
test_that "a finding is a folder with its seed, its chain and its verdicts" '
	mkdir -p mnt && run 0 mount mnt && cd mnt/toy/incompleteness/1 && [ "$(cat kind)" = regression ] && grep -q "(> b12 12)" seed.smt2 && grep -q ">=" case.smt2 &&
	[ "$(cut -f 2 verdicts.tsv | paste -sd " ")" = "result sat unknown" ] && tail -n 1 rules.tsv | grep -q "weaken" && ! [ -e decided.smt2 ]'
test_that "an implication has the formula that was decided" '
	cd mnt/toy/incompleteness && for f in *; do [ -e "$f/decided.smt2" ] && ! grep -q ">=" "$f/decided.smt2" && grep -q ">=" "$f/case.smt2" && exit 0; done; exit 1'
test_that "localized.tsv names the commit, with the answers before and after" '
	timeout 200 cat mnt/toy/incompleteness/1/localized.tsv >out 2>err && [ "$(sed -n 2p out | cut -f 2-4)" = "$(git -C toy rev-parse v3)	sat	unknown" ]'
test_that "reduced.smt2 is below a tenth of the input" '
	timeout 280 cat mnt/toy/incompleteness/1/reduced.smt2 >out 2>err && grep -q b0 out && grep -q ">=" out && [ $((10 * $(wc -c <out))) -lt "$(wc -c <mnt/toy/incompleteness/1/case.smt2)" ]'
test_that "an implication is reduced together with what it follows from, by the same rule" '
	implication=$(run 0 findings toy --kind implication --all --json; sed -n "1s/.*\"id\":\([0-9]*\).*/\1/p" out) && cd "mnt/toy/incompleteness/$implication" &&
	timeout 280 cat reduced.smt2 >"$top/out" 2>"$top/err" && timeout 280 cat reduced-decided.smt2 >"$top/decided" && grep -q b0 "$top/out" && grep -q ">=" "$top/out" && ! grep -q ">=" "$top/decided" &&
	[ "$(sh "$top/four" "$top/out")" = unknown ] && [ "$(sh "$top/four" "$top/decided")" = sat ] && [ $((10 * $(wc -c <"$top/out"))) -lt "$(wc -c <case.smt2)" ]'
test_that "report.md has how to reproduce it, the reduced input and the commit" '
	cat mnt/toy/incompleteness/1/report.md >out && has out "^## Reproduce" && has out "^## Reduced input" && has out "b0" && has out "incomplete arithmetic" && has out "$(git -C toy rev-parse --short=8 v3)"'
test_that "a campaign shows how far it is, in the folder of its kind" '
	cd mnt/toy/incompleteness/campaigns/first && grep -q "^regressions [1-9]" status && grep -q "^chain = 6" settings && grep -q "implications" progress.svg && [ -s progress.tsv ] &&
	grep -q "^rule.used.decided" rules.tsv && ! [ -e operators.tsv ] && ! [ -e ../../../spr/campaigns/first ]'
# Rules of strings and regular languages find nothing in formulas over integers.
test_that "a rule that no seed can use stays unused, and is no hindrance" '
	cp mnt/toy/incompleteness/campaigns/first/rules.tsv out && [ "$(awk "/^re-/ && \$2 > 0" out)" = "" ] && has out "^re-" && [ "$(awk "NR > 1 && \$2 > 0" out | grep -c .)" -gt 5 ]'
run 0 unmount mnt
test_that "a mount of what is finished has what is reduced and localized, and nothing else" '
	run 0 mount mnt -o cached && cd mnt/toy/incompleteness && grep -q ">=" 1/reduced.smt2 && grep -q "$(git -C "$top/toy" rev-parse v3)" 1/localized.tsv &&
	for f in [0-9]*; do [ -e "$f/reduced.smt2" ] || { ! cat "$f/reduced.smt2" 2>"$top/err" && has "$top/err" "No such file" && find "$f" -type f -exec cat {} + >/dev/null && exit 0; }; done; exit 1'
run 0 unmount mnt

# -- reducing at the end --

rows() { run 0 findings toy "${@:2}" && [ "$(grep -c . out)" = "$1" ]; }
two_found() { campaign_of "$1" small --reference v1 --target v4 --seeds seeds --iterations 45 --no-localize "${@:2}"; }
two_reduced() { rows 1 && rows 2 --all && run 0 findings toy --all --json && [ "$(grep -c "\"reduced\":41" out)" = 2 ]; }
export SOLVERFS_STORE=$top/reducing && run 0 init && run 0 solver add toy toy --recipe toy.recipe
test_that "findings of one cause that came of different rules or logics are two as they were found" 'two_found 0 && rows 2 && ! has out to-report'
cp -r reducing reducing2
test_that "a time too short for anything is kept to, and said" '
	two_found 0 --reduce-for 1ms && has err "^reduced so far incompleteness/[12]: [0-9]+ of [0-9]+ bytes$" && has out "^to-report 2" && has out "^state finished" &&
	has err "^2 findings are not reduced to the end in 1ms \\(--reduce-for\\); the same command with more goes on$"'
test_that "so it is when the time was used up before" 'two_found 0 --reduce-for 1ms && has err "^2 findings are not reduced to the end in 1ms"'
test_that "the same command with more time goes on; reduced, the two are one" '
	two_found 0 --reduce-for 250s && has err "^reduced incompleteness/1: 41 of 601 bytes$" && ! has err "not reduced" && has err "^2 findings come to 1 to report" && has out "^to-report 1" && two_reduced'
test_that "once more, there is nothing to do" 'two_found 0 --reduce-for 250s && ! has err "reduced" && has out "^to-report 1"'
test_that "a campaign killed while it reduces goes on there, and ends like one that was not" '
	export SOLVERFS_STORE=$top/reducing2 SOLVERFS_FAULTS=$top/faults && mkdir -p faults
	for i in 2 20; do
		rm -f faults/*; echo "kill after $i" >faults/reduce.try
		two_found 137 --reduce-for 250s || exit 1
	done
	unset SOLVERFS_FAULTS && two_found 0 --reduce-for 250s && has out "^state finished" && has out "^to-report 1" && two_reduced'
export SOLVERFS_STORE=$top/store

# -- by-products --

test_that "an answer that contradicts the implied one is a finding of its own" \
	'campaign_of 0 lies --reference v1 --target v5 --seeds seeds && has out "^soundness [1-9]" && has err "soundness: v5 says unsat, sat is implied"'
git -C toy show v5:toy.sh >liar && chmod +x liar
liar="exec:'$top/liar'" # the scratch folder has a blank in its name
test_that "a formula that the target decides does not run on the reference" \
	'campaign_of 0 spared --reference "$liar" --target v1 --seeds seeds && has out "^soundness 0" && [ "$(sed -n "s/^runs //p" out)" -le $(($(sed -n "s/^mutants //p" out) + 4)) ]'
test_that "... but with --pairs any, which finds what the reference says wrongly" \
	'campaign_of 0 asked --reference "$liar" --target v1 --seeds seeds --seed 5 --pairs any && has out "^soundness [1-9]" && has err "soundness: liar.* says unsat, sat is implied" &&
	[ "$(sed -n "s/^runs //p" out)" -ge $((2 * $(sed -n "s/^mutants //p" out))) ]'
test_that "so is a crash, once" 'campaign_of 0 crashes --at v6 --seeds seeds && has out "^crashes 1" && [ "$(kinds crash)" = 1 ]'

printf '#!/bin/sh\nfor case; do :; done\ngrep -q b0 "$case" && ! grep -qF "(assert (> b0 0))" "$case" && printf "mur\\351\n" >&2 && kill -SEGV $$\necho sat\n' >brittle && chmod +x brittle
test_that "... also where another worker waits for it when the search is over" '
	mkdir one delayed && echo "(declare-fun b0 () Int)(assert (> b0 0))(check-sat)" >one/sat-one.smt2 && echo "delay 1000 times 1" >delayed/campaign.found &&
	SOLVERFS_FAULTS=$top/delayed campaign_of 0 together --at "exec:'"'"'$top/brittle'"'"'" --seeds one -j 2 --max-finds 1 && has out "^crashes 1$"'
test_that "... and what it said is listed, though it is not UTF-8" '[ "$(kinds crash)" = 2 ] && has out "mur..xe9"'
test_that "a version that answers nothing is refused" 'campaign_of 1 mute --at exec:/bin/true --seeds seeds && has err "true@[0-9a-f]* answers no SMT-LIB"'
mkdir odd && sed "1i; odd" seeds/sat-bounds.smt2 >odd/unsat-bounds.smt2
test_that "a campaign of which no seed is left fails" 'campaign_of 1 odd --at v1 --seeds odd && has err "left out: unsat-bounds" && has err "no seed can be used"'

# -- going on --

end_of() { sed -n "/^soundness/,/^runs/p;/^skipped/p" out | grep -v worked; }
test_that "a campaign killed at every other record ends like one that was not" '
	mkdir -p faults && export SOLVERFS_STORE=$top/killed && run 0 init && run 0 solver add toy toy --recipe toy.recipe
	campaign_of 0 whole --reference v1 --target v4 --seeds seeds --chain 4 --iterations 10 --no-localize --seed 1 && end_of >whole && run 0 findings toy --json && sed "s/\"found\":[0-9]*//" out | grep -c kind >whole.findings
	export SOLVERFS_STORE=$top/killed2 && run 0 init && run 0 solver add toy toy --recipe toy.recipe
	for i in $(seq 40); do
		rm -f faults/*.met; echo "kill after $((2 + i % 3))" >faults/campaign.journal
		SOLVERFS_FAULTS=$top/faults "$solverfs" incompleteness toy --name whole --timeout 3s -j 1 --for 200s --reference v1 --target v4 --seeds seeds --chain 4 --iterations 10 --no-localize --no-reduce --seed 1 >out 2>err </dev/null && break
	done
	[ "$i" -gt 3 ] && [ "$i" -lt 40 ] && end_of >pieces && diff whole pieces && run 0 findings toy --json && [ "$(grep -c kind out)" = "$(cat whole.findings)" ]'
test_that "so does one that was killed when a finding was stored and not noted" '
	export SOLVERFS_STORE=$top/killed3 && run 0 init && run 0 solver add toy toy --recipe toy.recipe && rm -f faults/* && echo "kill times 1" >faults/campaign.found
	SOLVERFS_FAULTS=$top/faults "$solverfs" incompleteness toy --name whole --timeout 3s -j 1 --for 200s --reference v1 --target v4 --seeds seeds --chain 4 --iterations 10 --no-localize --no-reduce --seed 1 >out 2>err </dev/null
	[ $? = 137 ] && run 0 findings toy --json && [ "$(grep -c kind out)" = 1 ] &&
	campaign_of 0 whole --reference v1 --target v4 --seeds seeds --chain 4 --iterations 10 --no-localize --seed 1 && end_of >pieces && diff whole pieces && run 0 findings toy --json && [ "$(grep -c kind out)" = "$(cat whole.findings)" ]'
export SOLVERFS_STORE=$top/store
test_that "one that is at its end says so at once" 'campaign_of 0 first --reference v1 --target v4 --seeds seeds && has out "^state finished"'
test_that "one of that name with other settings is refused" 'campaign_of 2 first --reference v1 --target v4 --seeds seeds --seed 9 && has err "other settings" && has err "chain = 6"'
test_that "so is one whose seeds have changed" '
	cp -r seeds changed && campaign_of 0 seeded --reference v1 --target v2 --seeds changed --iterations 2 && echo "(declare-fun z () Int)(assert (= z 1))(check-sat)" >changed/new.smt2 &&
	campaign_of 7 seeded --reference v1 --target v2 --seeds changed --iterations 2 && has err "other seeds"'

# Like z3, it drops an assertion that it does not understand, and answers for the others.
printf '#!/bin/sh\nfor case; do :; done\necho sat\n[ "$(grep -c check-sat "$case")" = 2 ] || exit 0\n! grep -q "(<= " "$case" || { echo "(error \\"dropped\\")"; echo sat; exit 1; }\necho unsat\n' >dropping && chmod +x dropping
dropping="exec:'$top/dropping'"
test_that "an answer after an error is no finding: the solver may have dropped an assertion" '
	mkdir cycle && printf "(declare-fun a () Int)(declare-fun b () Int)(assert (< a b))(check-sat)(assert (< b a))(check-sat)" >cycle/unsat-cycle.smt2 &&
	campaign_of 0 dropped --at "$dropping" --seeds cycle --iterations 40 && has out "^mutants [1-9]" && has out "^soundness 0"'
for word in sat unsat; do printf '#!/bin/sh\necho sat\n%s\necho %s\n' "$([ $word = sat ] || echo "echo '(error \"dropped\")'")" $word >says-$word && chmod +x says-$word; done
test_that "... and none for a reduction" '
	run 0 case add cycle/unsat-cycle.smt2 &&
	run 2 reduce toy unsat-cycle.smt2 --reference "exec:'"'"'$top/says-sat'"'"'" --target "exec:'"'"'$top/says-unsat'"'"'" --keep answers -o small.smt2 && has err "says error"'
noabs=$(mktemp /tmp/noabs-XXXXXX) # a name of a version has no blanks
test_that "operators that a version does not support are asked for, named, and left out" '
	printf "#!/bin/sh\nfor case; do :; done\nif grep -q \"(abs \" \"\$case\"; then echo \"(error \\\"abs\\\")\"; exit 1; fi\necho sat\n" >"$noabs" && chmod +x "$noabs" &&
	campaign_of 0 probed --at "exec:$noabs" --seeds seeds --iterations 40 --chain 20 && has err "left out, as .* does not decide them: .*abs" && has out "^mutants 40" && has out "^crashes 0" &&
	! has "$top/store/campaigns/toy/probed/rules.tsv" "^eq-abs.[1-9]" && has "$top/store/campaigns/toy/probed/unsupported" "^abs 1\$"'
test_that "... and known when the campaign goes on" '
	at=(--at "exec:$noabs" --seeds seeds --iterations 40 --chain 20) && mkdir -p faults && rm -f faults/* && echo "kill after 3" >faults/campaign.journal
	SOLVERFS_FAULTS=$top/faults "$solverfs" incompleteness toy --name ended --timeout 3s -j 1 --for 200s "${at[@]}" >out 2>err </dev/null
	[ $? = 137 ] && has err "left out" && campaign_of 0 ended "${at[@]}" && ! has err "left out" && has out "^mutants [1-9]" &&
	! has "$top/store/campaigns/toy/ended/rules.tsv" "^eq-abs.[1-9]"'

# -- bad seeds --

test_that "a seed that does not parse is left out, named and counted" '
	mkdir bad && cp seeds/*.smt2 bad && echo "(assert (= 1" >bad/broken.smt2 &&
	campaign_of 0 bad --reference v1 --target v2 --seeds bad --iterations 2 && has err "left out: .*broken.smt2:1:" && has out "^skipped-seeds 1"'
test_that "an oracle that contradicts the solvers is told at once, and the seed left out" \
	'campaign_of 1 oracle --reference v1 --target v2 --seeds seeds --oracle unsat && has err "left out: sat-bounds.smt2.*said to be unsat.*says sat" && ! has err "found soundness"'
test_that "a reference that does not know is named, and the seed left out" '
	mkdir known && sed "s/(> b0/(>= b0/" seeds/sat-bounds.smt2 >known/sat-b.smt2 &&
	campaign_of 1 reference --reference v3 --target v5 --seeds known && has err "the reference v3 does not decide it: unknown" && has err "no seed can be used"'
test_that "a seed that the target answers with an error is left out with its first line" '
	git -C toy checkout -q -b refuses v1 && toy_solver "echo \"(error no such logic)\"; exit 1" >toy/toy.sh && toy_commit 8 "refuses all" && git -C toy checkout -q main && run 0 solver update toy &&
	mkdir refused && cp seeds/sat-bounds.smt2 refused/b.smt2 && sed "s/b0/c0/g" seeds/sat-bounds.smt2 >refused/c.smt2 &&
	campaign_of 0 refused --reference v1 --target v8 --seeds refused && has err "left out: b.smt2: the target v8 does not decide it: error: .error no such logic.$"'
test_that "a seed that the target does not know is a regression as it is" \
	'campaign_of 0 asitis --reference v1 --target v4 --seeds known && has err "regression.*as it is from sat-b.smt2"'
test_that "@sha256: in an argument of a program is no digest of it" '
	run 0 case add known/sat-b.smt2 && run 0 reduce toy sat-b.smt2 --reference "exec:$noabs img@sha256:abc" --target v4 -o small.smt2 && [ -s small.smt2 ]'
test_that "billions of chains from seeds that are all out end at once" '
	mkdir out-of-it && for i in $(seq 40); do sed "s/(> b0 0/(>= b0 $i/" seeds/sat-bounds.smt2 >out-of-it/$i.smt2; done &&
	campaign_of 1 out-of-it --reference v3 --target v5 --seeds out-of-it --iterations 2147483647 --chain 1 && has err "no seed can be used"'
printf '#!/bin/sh\nfor case; do :; done\ngrep -o "(check-sat" "$case" | sed "s/.*/sat/"\n' >asked && chmod +x asked
test_that "a seed that asks by a command of Z3 asks nothing else" '
	mkdir using && sed "s/(check-sat)/(check-sat-using smt)/" seeds/sat-bounds.smt2 >using/sat-bounds.smt2 &&
	campaign_of 0 using --at "exec:'"'"'$top/asked'"'"'" --seeds using --iterations 2 && has out "^mutants 2" && ! has err "left out"'
test_that "the label of a seed with several questions is that of the last one that it asks" '
	mkdir questions && { echo "(set-info :status unsat)"; cat seeds/sat-bounds.smt2; echo "(set-info :status unknown)"; echo "(check-sat)"; } >questions/a.smt2 &&
	{ echo "(set-info :status ; not unsat"; echo " sat)"; cat seeds/sat-bounds.smt2; echo "(exit)"; echo "(set-info :status unsat)"; echo "(assert (= b0 b1 7))"; echo "(check-sat)"; } >questions/b.smt2 &&
	campaign_of 0 questions --at "exec:'"'"'$top/asked'"'"'" --seeds questions --iterations 2 && has out "^mutants 4" && ! has err "left out"'
printf '#!/bin/sh\nfor case; do :; done\ngrep -q "(>= " "$case" && grep -q b0 "$case" && echo timeout && exit\necho sat\n' >gives-up && chmod +x gives-up
test_that "a solver that ends without an answer, by a limit of its own, does not say unknown" '
	campaign_of 0 gives-up --at "exec:'"'"'$top/gives-up'"'"'" --seeds seeds --iterations 40 --chain 20 && has out "^mutants 40" && has out "^implications 0" && awk "\$6 > 0" "$SOLVERFS_STORE"/campaigns/toy/gives-up/rules.tsv | grep -qv rule'
test_that "another label of a seed is another campaign" '
	mkdir labelled && { echo "(set-info :status unsat)"; cat seeds/sat-bounds.smt2; } >labelled/a.smt2 && campaign_of 1 labelled --at v1 --seeds labelled && has err "said to be unsat" &&
	sed -i s/unsat/sat/ labelled/a.smt2 && campaign_of 7 labelled --at v1 --seeds labelled && has err "its seeds have other labels now"'
test_that "of the names of folders the innermost is the label" '
	mkdir -p within/unsat-problems/sat && cp seeds/sat-bounds.smt2 within/unsat-problems/sat/x.smt2 && campaign_of 0 within --at v1 --seeds within && has out "^mutants [1-9]"'
test_that "quantifiers that alternate five deep, and a theory that is not modelled" '
	mkdir deep && cat >deep/sat-deep.smt2 <<END
(declare-sort Thing 0)
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun l () List)
(declare-fun p (Thing) Bool)
(assert (forall ((a Int)) (exists ((b Int)) (forall ((c Int)) (exists ((d Int)) (forall ((e Int)) (or (> d a) (< e c) (= b d))))))))
(assert (and (not (= l nil)) ((_ is cons) l)))
(check-sat)
END
	campaign_of 0 deep --reference v1 --target v2 --seeds deep && has out "^mutants [1-9]" && has out "^skipped-seeds 0"'
test_that "a seed of ten megabytes" '
	mkdir large && { echo "(declare-fun x () Int)"; yes "(assert (and (> x 1) (< x 1000000) (not (= x 17))))" | head -n 210000; echo "(check-sat)"; } >large/sat-large.smt2 &&
	[ "$(wc -c <large/sat-large.smt2)" -gt 10000000 ] && campaign_of 0 large --at v1 --seeds large --iterations 2 --chain 2 && has out "^mutants [1-9]"'
test_that "a seed that no rule can use" '
	mkdir bare && printf "(declare-fun p () Bool)\n(check-sat)\n" >bare/sat-bare.smt2 && campaign_of 0 bare --at v1 --seeds bare && has out "^mutants 0" && has out "^state finished"'

# -- what cannot be --

test_that "a reference and --at" 'run 2 incompleteness toy --reference v1 --at v2 --seeds seeds --for 1s && has err "alone"'
test_that "no reference" 'run 2 incompleteness toy --target v2 --seeds seeds --for 1s && has err "reference"'
test_that "no version" 'run 2 incompleteness toy --seeds seeds --for 1s && has err "which versions"'
test_that "no seeds" 'run 2 incompleteness toy --at v1 --for 1s && has err "seeds"'
test_that "no time" 'run 2 incompleteness toy --at v1 --seeds seeds && has err "how long"'
test_that "an unknown oracle" 'run 2 incompleteness toy --at v1 --seeds seeds --for 1s --oracle maybe && has err "auto"'
test_that "a version that cannot be built" 'campaign_of 1 x --reference v1 --target v7 --seeds seeds && has err "cannot be built at v7"'
test_that "the wrong way round" 'campaign_of 2 x --reference v4 --target v1 --seeds seeds && has err "comes after.*swap"'
test_that "an empty folder of seeds" 'mkdir empty && campaign_of 1 x --at v1 --seeds empty && has err "no input"'
test_that "a folder that is not there" 'campaign_of 3 x --at v1 --seeds nowhere && has err "nowhere"'

echo "1..$n"
