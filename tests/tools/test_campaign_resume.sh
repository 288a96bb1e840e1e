#!/bin/bash
# What a campaign's journal is worth: finds between any two versions, runs that confirm and crashes are there when it is taken up again, and it is not
# taken up with other inputs than its own. Prints TAP. Usage: test_campaign_resume.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time
fault() { echo "$2" >faults/new && mv faults/new "faults/$1"; } # fault PLACE ORDER, as cache/base/fault.h says

# Fast at v1 and v3; slow at v2 where an input measures the length of something.
make_script mid
script_commit mid 1 "# 1"
script_commit mid 2 'grep -q str.len "$case" && echo "lasts 20" >&2'
script_commit mid 3 "# 3"
toy_recipe mid 'timeout = 2s'
# At v1 it crashes wherever it has less time than a whole second, so that it does not when it is run again; and on what contains something, always.
make_script frail
script_commit frail 1 '[ "$1" -lt 2 ] && echo "assertion failed" >&2 && kill -SEGV $$; grep -q str.contains "$case" && echo "assertion failed" >&2 && kill -SEGV $$'
script_commit frail 2 'grep -q str.len "$case" && echo "lasts 20" >&2'
toy_recipe frail 'run = {bin} {timeout} {case}' 'timeout = 2s'
run 0 init && run 0 solver add mid mid --recipe mid.recipe && run 0 solver add frail frail --recipe frail.recipe

campaign() { # campaign STATUS SOLVER NAME FOR OPTION...
	local status=$1 solver=$2 name=$3 time=$4
	shift 4
	timeout -k 5 250 "$solverfs" fuzz "$solver" --name "$name" --for "$time" --threshold 700ms --timeout 1500ms --no-reduce -j 1 "$@" >out 2>err </dev/null
	[ $? = "$status" ] || { echo "# ended with another status than $status"; return 1; }
}
told() { grep -E "^(inputs|runs|finds|candidates|soundness|crashes) " out; }
any() { campaign 0 mid any "$1" --pairs any --reference v1 --reference v2 --target v3 "${@:2}"; }

# -- any two versions --

test_that "a slowdown between two references counts, and its commit is found" '
	any 100s --max-finds 1 --localize-for 200s && has err "found spr/1: v1 .*v2 more than 1.5" && has out "^finds [1-9]" && has out "^candidates [1-9]" &&
	has err "^localized spr/1: [0-9]+ $(git -C mid rev-parse v2) " && told >before'
test_that "taken up again, it has all that it had: finds, and the runs that confirmed them" '
	any 1ms --localize-for 200s && told >after && diff before after'
test_that "killed before its checkpoint is in its place, it has all that it had" '
	fault campaign.checkpoint "kill after 0"
	campaign 137 mid any 1ms --pairs any --reference v1 --reference v2 --target v3 2>/dev/null
	rm -f faults/campaign.*; any 1ms --localize-for 200s && told >after && diff before after && any 1ms --localize-for 200s && told | diff before -'
test_that "a checkpoint that is damaged is told, and nothing begins anew" '
	journal=$SOLVERFS_STORE/campaigns/mid/any/journal && cp "$journal" kept && printf x | dd of="$journal" bs=1 seek=100 conv=notrunc status=none && ! any 1ms &&
	has err "any/journal is damaged; begin the campaign anew" && cp kept "$journal" && rm kept && any 1ms --localize-for 200s && told | diff before -'
test_that "a confirmation that is killed again and again goes on where it was" '
	for i in $(seq 60); do
		rm -f faults/campaign.*; fault campaign.journal "kill after 6"
		campaign 137 mid killed 100s --no-localize --pairs any --reference v1 --reference v2 --target v3 --max-finds 1 && continue
		break
	done 2>/dev/null
	rm -f faults/campaign.*
	[ "$i" -gt 5 ] && run 0 findings mid --campaign killed && [ "$(grep -c spr out)" -ge 1 ]'
fault campaign.journal "kill after 1"
campaign 137 mid dead 100s --no-localize --reference v1 --target v2 2>/dev/null
rm -f faults/campaign.*
test_that "status names those that are not finished, and none that was killed runs" '
	run 0 status && has err "^campaign dead of mid, not finished .*: worked [0-9]+ s, [0-9]+ finds?$" && has err "^campaign killed of mid, not finished" && ! has err "^campaign any " && ! has err "^campaign .*, running" && run 0 status --json && has out "\"campaigns\":\[\{\"solver\":\"mid\",\"name\":\"dead\",\"state\":\"stopped\""'

# -- crashes --

test_that "a crash that does not come again hides no other" '
	campaign 0 frail frail 60s --no-localize --max-finds 1 --reference v1 --target v2 && has out "^crashes 1$" && has err "v1 crashed .*assertion failed"'
test_that "the same crash is not found once more by the next session" '
	rm -f faults/campaign.*; fault campaign.input "fail ECANCELED after 40"
	campaign 130 frail frail 100s --no-localize --reference v1 --target v2 && has out "^crashes 1$"; r=$?; rm -f faults/campaign.*; (exit $r)'

test_that "... nor by another campaign" '
	fault campaign.input "fail ECANCELED after 60"
	campaign 130 frail other 100s --no-localize --seed 7 --reference v1 --target v2; rm -f faults/campaign.*; run 0 findings frail --all && [ "$(grep -c "	crash	" out)" = 1 ]'

# -- the same inputs --

mkdir corpus && for i in 1 2 3; do echo "(declare-fun s () String)(assert (= (str.len s) $i))(check-sat)" >corpus/$i.smt2; done
from_corpus() { campaign "$1" mid from "$2" --no-localize --corpus corpus --reference v1 --target v2 "${@:3}"; }
journal=$SOLVERFS_STORE/campaigns/mid/from/journal
test_that "with a file more in its corpus it does not go on, and nothing is lost" '
	from_corpus 0 100s --max-finds 1 && told >before && cp "$journal" kept && echo "(declare-fun t () String)(assert (= t \"a\"))(check-sat)" >corpus/2a.smt2 &&
	from_corpus 7 100s && has err "the files below its corpus are others now; restore them, or give this one another --name" && cmp kept "$journal" &&
	rm corpus/2a.smt2 && from_corpus 0 1ms && told | diff before -'
test_that "nor with the same files in another order" '
	mv corpus/1.smt2 corpus/4.smt2 && from_corpus 7 100s && has err "corpus" && mv corpus/4.smt2 corpus/1.smt2 && from_corpus 0 1ms && told | diff before -'
test_that "nor where its programs are run by another command" '
	cp "$SOLVERFS_STORE/config" config && sed -i "/solver \"mid\"/,/^\[/s/run = {bin}/run = {bin} --other/" "$SOLVERFS_STORE/config" && from_corpus 7 100s && has err "commands that run them" &&
	cp config "$SOLVERFS_STORE/config" && from_corpus 0 1ms && told | diff before -'
toy_recipe mid 'timeout = 2s' 'run = {bin} {seed} {case}' 'seed = --seed={n}'
run 0 solver add --replace --recipe mid.recipe mid mid
test_that "nor where the seed of its versions is given by another option" '
	campaign 0 mid sown 100s --no-localize --corpus corpus --reference v1 --target v2 --max-finds 1 && toy_recipe mid "timeout = 2s" "run = {bin} {seed} {case}" "seed = -r {n}" &&
	run 0 solver add --replace --recipe mid.recipe mid mid && campaign 7 mid sown 100s --no-localize --corpus corpus --reference v1 --target v2 && has err "the key .seed. of a recipe is another now; restore it"'

echo "1..$n"
