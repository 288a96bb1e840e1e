#!/bin/bash
# What campaigns found in another store, taken into this one: findings of all kinds with what is known of them, the campaigns themselves; killed at
# any point and said again; twice the same; what is damaged or changes meanwhile. Prints TAP. Usage: test_import_study.sh SOLVERFS
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
clean_up() { fusermount3 -uz "$top/mnt" 2>/dev/null; }
tell_time

# Fast at v1, slow for lengths at v2; v3 lies about what contains something, and v4 crashes there; v5 does not know what is at least something.
toy_version() { # toy_version NUMBER MESSAGE LINE
	printf '#!/bin/sh\nfor case; do :; done\n%s\necho sat\n' "$3" >toy/toy.sh
	git -C toy add -A && GIT_COMMITTER_DATE="2024-01-0$1T00:00:00Z" git -C toy commit -q --date "2024-01-0$1T00:00:00Z" -m "$2" && git -C toy tag "v$1"
}
make_repository toy
echo 'cp toy.sh toy && chmod +x toy' >toy/build.sh
toy_version 1 "fast" ''
toy_version 2 "slow for lengths" 'grep -q str.len "$case" && echo "lasts 20" >&2'
toy_version 3 "wrong for containment" 'grep -q str.contains "$case" && echo unsat && exit'
toy_version 4 "crashes for containment" 'grep -q str.contains "$case" && kill -SEGV $$'
toy_version 5 "a new rewriter for bounds" 'grep -q b0 "$case" && grep -q "(>= " "$case" && echo unknown && exit'
toy_recipe toy 'run = {bin} {seed} {case}' 'seed = --seed {n}' 'timeout = 2s'
mkdir seeds
{
	echo '(set-logic QF_LIA)'
	for i in $(seq 0 12); do echo "(declare-fun b$i () Int)"; done
	for i in $(seq 0 12); do echo "(assert (> b$i $i))"; done
	echo '(check-sat)'
} >seeds/bounds.smt2

# at STORE MACHINE COMMAND...: the command on another store, of another machine.
at() { SOLVERFS_STORE=$top/$1 SOLVERFS_MACHINE=$2 timeout -k 5 200 "$solverfs" -q "${@:3}" >other.out 2>other.err </dev/null; }
slow() { # slow STORE MACHINE NAME OPTION...
	at "$1" "$2" fuzz toy --name "$3" --for 100s --max-finds 1 --threshold 300ms --timeout 700ms --no-reduce -j 1 "${@:4}"
}
unknowns() { # unknowns STORE MACHINE NAME OPTION...
	at "$1" "$2" incompleteness toy --name "$3" --timeout 3s -j 1 --for 200s --iterations 12 --chain 6 --seeds seeds "${@:4}"
}
seeds() { # seeds STORE MACHINE: what each slowdown does under seeds, as a reader of the mount asks for it
	local r
	mkdir -p mnt && at "$1" "$2" mount mnt && { timeout 200 cat mnt/toy/spr/[0-9]*/seeds.tsv >other.out; r=$?; at "$1" "$2" unmount mnt && return $r; }
}
store() { at "$1" "" init && at "$1" "" solver add toy toy --recipe toy.recipe; }

# The other store: every kind of finding, one of them marked, localized, reduced and seen under seeds.
{
	store other && slow other depot slow --reference v1 --target v2 && slow other depot lies --no-localize --reference v1 --target v3 --pairs any --oracle v2 &&
		slow other depot crash --no-localize --reference v1 --target v4 && unknowns other depot bounds --reference v1 --target v5 --reduce-for 100s &&
		unknowns other depot alone --at v5 --no-reduce && at other depot findings toy --mark 1 reported https://example.org/1 && seeds other depot && at other depot triage toy --set v2 algorithm compromise
} || { cat other.out other.err; exit 1; }
at other depot findings toy --all --json && cp other.out there
# This store has campaigns and findings of its own: one of another name, and one of a name that is there, too.
{ store store && slow store "" slow --seed 5 --no-localize --reference v1 --target v2; } || { cat other.out other.err; exit 1; }
cp -r store before

# rows FILE: what a store's findings are, without numbers of this store.
rows() {
	python3 - "$1" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for r in rows:
    for key in ("id", "case", "campaign", "machine"):
        r.pop(key, None)
print("\n".join(sorted(json.dumps(r, sort_keys=True) for r in rows)))
END
}
findings() { run 0 findings toy --all --json; }
is_whole() { # of all that is there: nothing lost, nothing twice
	findings && rows there >rows.there && rows out >rows.here && [ "$(comm -23 rows.there rows.here | wc -l)" = 0 ] && [ "$(wc -l <rows.here)" = $(($(wc -l <rows.there) + $(wc -l <own))) ] &&
		run 0 fsck
}
number() { # number KIND CAMPAIGN: of the first finding of that kind here
	findings && sed -n 's/.*"id":\([0-9]*\),.*"kind":"'"$1"'".*"campaign":"'"$2"'".*/\1/p' out | head -n 1
}

test_that "every kind of finding is there to be taken" '[ "$(grep -o "\"kind\":\"[a-z]*\"" there | sort -u | wc -l)" = 5 ]'
findings && sort out >own
test_that "findings and campaigns come over; a name that is taken here is told, and what it is called" '
	run 0 import other && [ "$(cut -f 6,7 out)" = "$(wc -l <there)	5" ] && has err "^toy has another campaign .slow. here: the one there is .slow~[0-9a-f]{8}.$" && is_whole'
test_that "... and ours stays as it was" 'findings && [ "$(sort out | comm -13 - own | wc -l)" = 0 ] && cmp store/campaigns/toy/slow/journal before/campaigns/toy/slow/journal'
test_that "the same again changes nothing" '
	run 0 import other && [ "$(cut -f 1-3,6,7 out)" = "0	0	0	0	0" ] && empty err && is_whole'
test_that "a finding says on which machine it was found" '
	findings && [ "$(grep -c "\"machine\":\"depot/" out)" = "$(wc -l <there)" ]'

class_of_v2() { run 0 triage toy && grep "^$(git -C toy rev-parse v2 | cut -c1-12)" out | cut -f 2-4 | tr '\t' ' '; }
test_that "the class of a responsible commit that was set by hand comes over; one that contradicts ours is told, and ours stays" '
	[ "$(class_of_v2)" = "algorithm compromise hand" ] && run 0 triage toy --set v2 theory && run 0 import other &&
	has err "^toy [0-9a-f]{12} is classed theory, compromise here, and algorithm, compromise there: what was set here stays as it is$" && [ "$(class_of_v2)" = "theory compromise hand" ] &&
	run 0 triage toy --set v2 algorithm'

# -- in the mount --

run 0 mount mnt
test_that "a finding is a folder: its input, both versions, its times, the commit responsible, the seeds" '
	cd "mnt/toy/spr/$(number spr "slow~.*")" && grep -q str.len case.smt2 && [ "$(readlink reference)" = "../../commits/$(git -C "$top/toy" rev-parse v1)" ] &&
	[ "$(sed -n 3p times.tsv | cut -f 2)" = timeout ] && [ "$(sed -n 2p localized.tsv | cut -f 2)" = "$(git -C "$top/toy" rev-parse v2)" ] && [ "$(ls culprits)" = "$(git -C "$top/toy" rev-parse v2)" ] &&
	[ "$(wc -l <seeds.tsv)" = 31 ] && grep -q "on depot/" report.md'
test_that "... localized.tsv has the id that the case has here" '
	findings && id=$(python3 -c "
import json
print([json.loads(l)[\"case\"] for l in open(\"out\") if json.loads(l)[\"kind\"] == \"spr\" and json.loads(l)[\"campaign\"] != \"slow\"][0])") &&
	[ "$(sed -n 2p "mnt/toy/spr/$(number spr "slow~.*")/localized.tsv" | cut -f 1)" = "$id" ]'
test_that "an input that came back unknown has its seed, its chain, its verdicts and what is reduced of it" '
	cd "mnt/toy/incompleteness/$(number regression bounds)" && grep -q "(> b12 12)" seed.smt2 && grep -q ">=" case.smt2 && [ "$(cut -f 2 verdicts.tsv | paste -sd " ")" = "result sat unknown" ] &&
	[ -s rules.tsv ] && grep -q ">=" reduced.smt2 && [ "$(wc -c <reduced.smt2)" -lt "$(wc -c <case.smt2)" ]'
test_that "an implication has the formula that was decided" 'grep -q "b0" "mnt/toy/incompleteness/$(number implication alone)/decided.smt2"'
test_that "wrong answers and crashes are in soundness/" '
	[ "$(cat "mnt/toy/soundness/$(number soundness lies)/kind")" = soundness ] && [ "$(cat "mnt/toy/soundness/$(number crash crash)/kind")" = crash ]'
test_that "a campaign has its settings with the machine, its status, its tables, its picture and its log, with the numbers of here" '
	name=$(cd mnt/toy/spr/campaigns && echo slow~*) && n=$(number spr "slow~.*") && cd "mnt/toy/spr/campaigns/$name" && grep -q "^threshold = 0.3s" settings && grep -q "^machine = depot/" settings && grep -q "^state stopped" status &&
	grep -q "^finds 1" status && [ -s progress.tsv ] && grep -q "<svg" progress.svg && grep -q "^arm.expected" operators.tsv && grep -q "found spr/$n: v1" log && [ "$n" != 1 ]'
test_that "one that ended has ended" 'grep -q "^state finished" mnt/toy/incompleteness/campaigns/bounds/status && [ -s mnt/toy/incompleteness/campaigns/bounds/rules.tsv ]'
test_that "... and none of it was run or searched for here" '! grep -q "started_total [1-9]" mnt/.solverfs/stats'
run 0 unmount mnt

# -- going on --

test_that "a campaign of another machine does not go on here, and says why" '
	name=$(cd store/campaigns/toy && echo slow~*) && cp "store/campaigns/toy/$name/journal" theirs && run 2 fuzz toy --name "$name" --for 100s --threshold 300ms --timeout 700ms --reference v1 --target v2 &&
	has err "ran on depot/.* before" && cmp theirs "store/campaigns/toy/$name/journal"'
test_that "what was found since is taken by the same command, and the campaign is brought up to date" '
	slow other depot slow --max-finds 2 --reference v1 --target v2 && at other depot findings toy --all --json && cp other.out there &&
	run 0 import other && [ "$(field 7)" = 1 ] && [ "$(field 6)" -ge 1 ] && is_whole && run 0 import other && [ "$(cut -f 6,7 out)" = "0	0" ]'
test_that "a mark that was made there since is known here; one that contradicts ours is told, and ours stays" '
	n=$(number crash crash) && at other depot findings toy --mark "$(sed -n "s/.*\"id\":\([0-9]*\),\"kind\":\"crash\".*/\1/p" there | head -n 1)" confirmed && run 0 import other && empty err &&
	findings && grep "\"id\":$n," out | grep -q "\"mark\":\"confirmed\"" && run 0 findings toy --mark "$n" rejected && run 0 import other && has err "soundness/$n is rejected .*here, and confirmed .*there" &&
	findings && grep "\"id\":$n," out | grep -q "\"mark\":\"rejected\"" && run 0 findings toy --mark "$n" confirmed'
at other depot findings toy --all --json && cp other.out there
test_that "by way of a third store, it is the same" '
	store third && at third "" import store && at third "" import other && [ "$(cut -f 6,7 other.out)" = "0	0" ]'

# -- the same campaign on the same machine goes on in either store --

test_that "one of this machine goes on here, where it was, and finds nothing twice" '
	store mine && slow mine "" goes --seed 7 --no-localize --reference v1 --target v2 && run 0 import mine &&
	timeout -k 5 100 "$solverfs" fuzz toy --name goes --for 100s --max-finds 1 --threshold 300ms --timeout 700ms --no-reduce --no-localize -j 1 --seed 7 --reference v1 --target v2 >out 2>err </dev/null &&
	has err "goes on behind [1-9]" && findings && [ -z "$(grep "\"kind\":\"spr\"" out | sed -n "s/.*\"case\":\([0-9]*\),.*/\1/p" | sort | uniq -d)" ]'
test_that "... and is not set back by what the other store has of it" '
	cp store/campaigns/toy/goes/journal ahead && run 0 import mine && empty err && cmp store/campaigns/toy/goes/journal ahead'
test_that "... and once it went on in both, it is told, and stays" '
	slow mine "" goes --seed 7 --no-localize --reference v1 --target v2 && run 0 import mine && has err "went on both here and there: here it stays as it is" && cmp store/campaigns/toy/goes/journal ahead'

test_that "one that only the other store went on with is brought up to date" '
	store first && slow first "" turns --seed 8 --no-localize --reference v1 --target v2 && store second && at second "" import first &&
	slow second "" turns --seed 8 --no-localize --reference v1 --target v2 && at first "" import second && [ "$(cut -f 7 other.out)" = 1 ] && at second "" fsck && at first "" fsck &&
	at first "" import second && [ "$(cut -f 7 other.out)" = 0 ] && at second "" import first && [ "$(cut -f 7 other.out)" = 0 ]'

# -- killed --

killed() { # killed PLACE STEP: at each STEPth time that it comes by the place, until it comes to its end
	local i=0 got
	rm -rf store && cp -r before store
	while :; do
		rm -f "faults/$1.met"
		echo "kill after $i" >faults/new && mv faults/new "faults/$1"
		timeout -k 5 60 "$solverfs" -q import other >out 2>err </dev/null
		got=$?
		rm -f "faults/$1"
		[ $got = 0 ] && [ "$i" -gt 0 ] && break
		[ $got = 137 ] || return 1
		i=$((i + $2))
	done
	run 0 import other && [ "$(cut -f 6,7 out)" = "0	0" ] && is_whole && [ "$(find store/campaigns/toy -mindepth 1 -maxdepth 1 | wc -l)" = 6 ] && [ -z "$(find store -name journal.import)" ]
}
once() { # once PLACE: killed there at each time in turn, each time in a store of its own
	local i=0 got
	while :; do
		rm -rf store && cp -r before store
		rm -f "faults/$1.met"
		echo "kill after $i" >faults/new && mv faults/new "faults/$1"
		timeout -k 5 60 "$solverfs" -q import other >out 2>err </dev/null
		got=$?
		rm -f "faults/$1"
		[ $got = 0 ] && [ "$i" -gt 0 ] && return 0
		[ $got = 137 ] && run 0 import other && is_whole || return 1
		i=$((i + 20))
	done
}
test_that "killed behind one transaction after the other, before it is answered" 'killed store.committed 1'
test_that "killed at one file of a campaign after the other" 'killed import.campaign 1'
test_that "killed at one input after the other, before it is in its place and before it is indexed" 'killed cases.place 1 && killed cases.enter 1'
test_that "killed once at any transaction, and said again" 'once store.committed'

# -- a power cut --

ln -s "$(realpath -m "$(dirname "$solverfs")/../tests/powercut_record.so")" record.so
listed() { # the lists of what imports took were on disk when the journals got their names: by the record of tests/soak/powercut_record.c
	python3 - record <<'END'
import os, struct, sys
header, raw, at = struct.Struct("=B7xQQII"), open(sys.argv[1], "rb").read(), 0
lists, dirty, journals = set(), set(), 0
while at < len(raw):
    kind, inode, _, n, m = header.unpack_from(raw, at)
    kind, path, at = chr(kind), os.fsdecode(raw[at + header.size : at + header.size + n]), at + header.size + n + m
    if kind == "o" and os.path.basename(path) == "imported":
        lists.add(inode)
    elif kind == "w":
        dirty.add(inode)
    elif kind == "s":
        dirty.discard(inode)
    elif kind == "r" and os.path.basename(path) == "journal.import":
        journals += 1
        assert lists and not lists & dirty, "a list is not on disk"
assert journals > 1, "no journal came"
END
}
where '[ -e record.so ]' "the library that records for power cuts" test_that "after a power cut no campaign is behind what imports are known to have taken" '
	rm -rf store && cp -r before store && : >record && LD_PRELOAD=./record.so POWERCUT_LOG=record POWERCUT_STORE=$(realpath store) run 0 import other && listed'

# -- what is passed over --

test_that "findings of versions that are not here are passed over, and told; the update and the same import take them" '
	rm -rf store && cp -r before store && cp -r other newer && toy_version 6 "slow again" "grep -q str.len \"\$case\" && echo \"lasts 20\" >&2" &&
	at newer depot solver update toy && slow newer depot later --no-localize --reference v1 --target v6 && run 0 import newer && [ "$(field 5)" -ge 2 ] &&
	has err "^toy is no solver of this store, or has other commits" && run 0 solver update toy && run 0 import newer && [ "$(field 5)" = 0 ] && [ "$(field 6)" -ge 1 ] && [ "$(field 7)" = 1 ]'
test_that "findings of a campaign that is left out do not go to another one of its name" '
	rm -rf store && cp -r before store && store odd && slow odd depot slow --seed 9 --no-localize --reference v1 --target v2 --oracle v6 && run 0 import odd && [ "$(field 6)" -ge 1 ] &&
	findings && [ "$(grep -c "\"campaign\":\"slow\"" out)" = "$(wc -l <own)" ]'
test_that "of a solver that is not here all is passed over" '
	at empty "" init && at empty "" import other && [ "$(cut -f 5 other.out)" -ge 10 ] && [ "$(cut -f 6,7 other.out)" = "0	0" ]'

# -- what cannot be read --

fresh() { rm -rf store damaged && cp -r before store && cp -r other damaged; }
test_that "an input that is damaged there is left out, with its file, and the status is 1; all else comes" '
	fresh && f=$(find damaged/cases -type f -size -4k | sort | head -n 1) && chmod +w "$f" && printf "; damaged" | dd of="$f" conv=notrunc status=none && run 1 import damaged && has err "left out: the bytes of case [0-9]+" &&
	[ "$(field 6)" -ge 1 ] && run 0 import other && is_whole'
test_that "a campaign whose journal is of another version comes without its files, and the status is 1" '
	fresh && printf "solverfs campaign 9\n" | dd of=damaged/campaigns/toy/lies/journal conv=notrunc status=none && run 1 import damaged && has err "campaign .lies. comes without its files: .*another solverfs" &&
	run 0 import other && is_whole && [ -s store/campaigns/toy/lies/journal ]'
test_that "a campaign whose journal is damaged comes without its files, and all others with them" '
	fresh && printf "\377" | dd of=damaged/campaigns/toy/lies/journal bs=1 seek=20 conv=notrunc status=none && run 1 import damaged && has err "campaign .lies. comes without its files: .*journal is damaged" &&
	[ "$(field 7)" = 4 ] && run 0 import other && is_whole && [ -s store/campaigns/toy/lies/journal ]'
test_that "the logics that its versions answered come with a campaign" '
	fresh && echo QF_LIA >damaged/campaigns/toy/lies/logics && run 0 import damaged && cmp damaged/campaigns/toy/lies/logics store/campaigns/toy/lies/logics'
test_that "a journal that ends within a record is taken up to there" '
	fresh && truncate -s -3 damaged/campaigns/toy/lies/journal && run 0 import damaged && run 0 import other && [ "$(field 7)" = 1 ] && is_whole'
test_that "a store of another version is refused, and nothing is taken" '
	fresh && sed -i "s/\(version = \).*/\199/" damaged/config && run 5 import damaged && has err "the store has format 99 and this solverfs knows format 1 only" && findings && sort out | cmp - own'

# -- while it is written --

test_that "a campaign that runs there meanwhile is taken as far as it is, and told; when it has ended, the rest" '
	fresh && tell_time "$top/faults.there" && echo "block after 2" >faults.there/campaign.journal &&
	{ SOLVERFS_FAULTS=$top/faults.there SOLVERFS_STORE=$top/damaged SOLVERFS_MACHINE=depot timeout 100 "$solverfs" -q fuzz toy --name runs --for 100s --max-finds 1 --threshold 300ms --timeout 700ms --no-reduce --no-localize -j 1 --seed 11 --reference v1 --target v2 >other.out 2>other.err </dev/null & } &&
	await "[ \"\$(stat -c %s faults.there/campaign.journal.met 2>/dev/null || echo 0)\" -gt 2 ]"; run 0 import damaged && has err "campaign .runs. is running there, or was killed: it is taken as far as it is" &&
	rm faults.there/campaign.journal && wait && run 0 import damaged && [ "$(field 7)" = 1 ] && ! has err "running" && run 0 import damaged && [ "$(cut -f 6,7 out)" = "0	0" ]'
echo "1..$n"
