#!/bin/bash
# Campaigns that look for memory and for the solver's own count in the place of time: a toy solver whose newer versions take more of one for some inputs is
# found, confirmed, localized and reduced. Prints TAP. Usage: test_campaign_measure.sh SOLVERFS
. "$(dirname "$0")/command.sh"
clean_up() { fusermount3 -uz "$top/mnt" 2>/dev/null; }
tell_time

# At v2 and v3 it takes 40 MB where an input measures the length of something, from v3 on it counts ten times as much. Times never change.
make_repository greedy
echo 'cp greedy.sh greedy && chmod +x greedy' >greedy/build.sh
for v in 1 2 3 4; do
	printf '#!/bin/sh\n# %s\nfor case; do :; done\nn=1000\n%s\n%s\necho "conflicts: $n" >&2\necho sat\n' "$v" \
		"$([ "$v" = 1 ] || [ "$v" = 4 ] || echo "grep -q str.len \"\$case\" && dd if=/dev/zero of=/dev/null bs=40000000 count=1 2>/dev/null")" \
		"$([ "$v" -lt 3 ] || echo 'grep -q str.len "$case" && n=10000')" >greedy/greedy.sh
	git -C greedy add -A && git -C greedy commit -q -m "$(case $v in 2) echo "takes memory for lengths" ;; 3) echo "counts more for lengths" ;; *) echo "version $v" ;; esac)" && git -C greedy tag "v$v"
done
toy_recipe greedy 'run = {bin} {case}' 'timeout = 10s' 'memory = 1g' 'effort = conflicts: ([0-9]+)'
sed '/effort/d; s/greedy/silent/g' greedy.recipe >silent.recipe
git clone -q greedy silent && (cd silent && git mv greedy.sh silent.sh && echo 'cp silent.sh silent && chmod +x silent' >build.sh && for v in 8 9; do echo "# $v" >>silent.sh; git -c user.name=Toy -c user.email=toy@example.org commit -qam "$v" && git tag "v$v"; done)
run 0 init && run 0 solver add greedy greedy --recipe greedy.recipe && run 0 solver add silent silent --recipe silent.recipe

campaign() { # campaign STATUS NAME OPTION...
	local status=$1 name=$2
	shift 2
	timeout -k 5 300 "$solverfs" fuzz greedy --name "$name" --reference v1 --target $target --timeout 5s -j 1 "$@" >out 2>err </dev/null
	[ $? = "$status" ] || { echo "# ended with another status than $status"; return 1; }
}

# -- memory --

target=v3
test_that "a campaign by memory finds what takes more of it, and localizes and reduces it by memory" '
	campaign 0 memory --measure memory --for 100s --max-finds 1 --localize-for 100s --reduce-for 100s && has err "found spr/1: v1 [0-9.]+ MB, v3 4[0-9]\.[0-9] MB" &&
	has err "^localized spr/1: .*$(git -C greedy rev-parse v2) [0-9]+ 4[0-9]{7} takes memory for lengths" && has err "^reduced spr/1: [0-9]+ of [0-9]+ bytes"'
test_that "findings are listed in bytes" '
	run 0 findings greedy && [ "$(field 2 | sort -u)" = spr:memory ] && awk -F "\t" "\$4 > 20000000 || \$5 < 35000000 { exit 1 }" out && has out "	([0-9]+)/\1$" &&
	run 0 findings greedy --json && has out "\"measure\": ?\"memory\"" && has out "\"after\": ?4[0-9]{7}"'
test_that "its folder in the mount says so" '
	mkdir -p mnt && run 0 mount mnt && cp mnt/greedy/spr/1/times.tsv out && has out "^version	result	memory	samples" && has out "^$(git -C greedy rev-parse v3)	sat	4[0-9]{7}	" &&
	cp mnt/greedy/spr/1/report.md out && has out "^# greedy: [0-9.]+ MB of memory becomes 4[0-9]\.[0-9] MB" && has out "^\| version \| result \| bytes \| runs \|" &&
	has out "more than 2 times the memory in ([0-9]+) of \1 pairs" && has out "^\| commit \| bytes before \| bytes after " && has mnt/greedy/spr/1/reduced.smt2 str.len &&
	has mnt/greedy/spr/campaigns/memory/settings "^measure = memory" && has mnt/greedy/spr/campaigns/memory/settings "^threshold = 2$"; r=$?; run 0 unmount mnt; (exit $r)'
test_that "a reduction says what it keeps" 'run 0 reduce greedy spr/1 && has err "v?[0-9a-f.]+: sat with 4[0-9]\.[0-9] MB before, sat with 4[0-9]\.[0-9] MB now \(memory\)"'
test_that "... and takes no time for a floor of it" 'run 2 reduce greedy spr/1 --floor 2s && has err "finding 1 is by memory"'
test_that "killed, it goes on, and finds nothing twice" '
	echo "kill after 3" >faults/campaign.input; campaign 137 killed --measure memory --for 100s --max-finds 9 --no-localize --no-reduce --seed 7; rm -f faults/campaign.input
	campaign 0 killed --measure memory --for 100s --max-finds 1 --no-localize --no-reduce --seed 7 && has err "goes on behind [1-9]" &&
	run 0 findings greedy --json && [ -z "$(sed -n "s/.*\"case\": \?\([0-9]*\),.*/\1/p" out | sort | uniq -d)" ]'

# -- effort --

target=v4
test_that "a campaign by effort finds what the solver counts more for, and localizes and reduces it" '
	campaign 0 effort --measure effort --threshold 5 --for 100s --max-finds 1 --localize-for 100s --reduce-for 30s && has err "found spr/[0-9]: v1 1000, v4 10000" &&
	has err "^localized spr/.*$(git -C greedy rev-parse v3) 1000 10000 counts more for lengths" && has err "^reduced spr/[0-9]: [0-9]+ of [0-9]+ bytes"'
test_that "... and lists the counts" 'run 0 findings greedy --campaign effort && [ "$(field 2,4,5 | sort -u)" = "$(printf "spr:effort\t1000\t10000")" ]'
test_that "one input may be a find by both" '
	campaign 0 both --measure effort --for 100s --max-finds 1 --no-localize --no-reduce --seed 7 && run 0 findings greedy --all --json && [ "$(grep -c "\"case\"" out)" -ge 4 ] && run 0 fsck'

# -- a reference without an answer under one seed --

make_script shy
script_commit shy 1 '[ "$1 $2" = "--seed 2" ] && echo unknown && exit
echo "conflicts: 0"'
script_commit shy 2 'grep -q str.len "$case" || { echo "conflicts: 0"; echo sat; exit; }
dd if=/dev/zero of=/dev/null bs=40000000 count=1 2>/dev/null; echo "conflicts: 10000"'
toy_recipe shy 'run = {bin} {seed} {case}' 'seed = --seed {n}' 'timeout = 10s' 'effort = conflicts: ([0-9]+)' && run 0 solver add shy shy --recipe shy.recipe
holds() { run 0 findings shy --campaign "$1" --json && python3 -c 'import json; f = json.loads(open("out").readline()); exit(f["held"] + 1 != f["pairs"] or f["before"] > 20e6)'; }
for measure in memory effort; do
	test_that "a finding by $measure does not hold in that pair" '
		timeout -k 5 300 "$solverfs" fuzz shy --name $measure --measure $measure --for 100s --max-finds 1 --no-localize --no-reduce -j 1 --reference v1 --target v2 >out 2>err </dev/null && holds $measure'
done
test_that "... nor does one that a comparison keeps" '
	echo "(declare-fun s () String)(assert (= (str.len s) 3))(check-sat)" >len.smt2 && run 0 case add len.smt2 && run 0 compare shy@v1 shy@v2 len.smt2 --measure effort --keep && has err "1 regression kept" && holds compare'
test_that "... and the run has no amount in its table" '
	mkdir -p mnt && run 0 mount mnt && cut -f 4 mnt/shy/spr/2/times.tsv >out && has out "^0 0 - 0 0"; r=$?; run 0 unmount mnt; (exit $r)'

test_that "the commits responsible are listed with what they changed" '
	run 0 triage greedy && has out "^$(git -C greedy rev-parse v2 | cut -c1-12)	.*	1.[0-9] MB	4[0-9]\.[0-9] MB	takes memory for lengths" && has out "^$(git -C greedy rev-parse v3 | cut -c1-12)	.*	1000	10000	counts more"'
test_that "the page of the solver has them" 'run 0 report greedy -o page.html && has page.html "4[0-9]\.[0-9] MB" && has page.html ">10000<"'

# -- what cannot be --

test_that "a slowdown there is none" 'campaign 0 time --for 2s --threshold 700ms --no-localize --no-reduce && has out "^finds 0"'
test_that "it goes on by the same measure alone" '
	target=v3; campaign 2 memory --measure effort --for 100s && has err "other settings" && has err "measure = memory" && campaign 2 memory --for 100s --threshold 2s && has err "other settings"'
test_that "... and under the same memory limit" '
	sed "s/memory = 1g/memory = 2g/" greedy.recipe >more.recipe && run 0 solver add --replace --recipe more.recipe greedy greedy &&
	target=v3; campaign 7 killed --measure memory --for 100s --no-localize --no-reduce --seed 7 && has err "memory limit of the target.s recipe is another now; restore it"
	r=$?; run 0 solver add --replace --recipe greedy.recipe greedy greedy; (exit $r)'
test_that "no such measure" 'campaign 2 x --measure weight --for 1s && has err "time, memory or effort"'
test_that "a threshold that is no ratio" 'for t in 1 0.5 10s -3; do campaign 2 x --measure memory --threshold "$t" --for 1s && has err "greater than 1" || exit 1; done'
test_that "... and one that the memory limit leaves no room for" 'campaign 2 x --measure memory --threshold 70 --for 1s && has err "its limit is 1073.7 MB"'
test_that "a recipe that does not count" '
	run 2 fuzz silent --name x --reference v8 --target v9 --measure effort --for 1s && has err "the recipe of silent has no .effort."'
test_that "a clock for what is no time" 'campaign 2 x --measure memory --clock cpu --for 1s && has err "it says nothing"'

echo "1..$n"
