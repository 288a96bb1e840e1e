#!/bin/bash
# What is finished, for other tools: each format read by Python's own readers of csv, JSON and XML. docs/exporting.md says how the tools themselves read it.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
make_toy
printf '; answer: sat\n(set-info :status sat)\n(check-sat)\n' >a.smt2
printf '; answer: unsat\n(set-info :status unsat)\n(check-sat)\n' >'we"ird, <na&me>.smt2'
printf '; answer: sat\n(check-sat)\n(exit)\n' >$'nl\nq\x01\xff\xef\xbf\xbf.smt2'
printf 'p cnf 1 1\n1 0\n' >c.cnf
run 0 init && run 0 solver add --recipe recipes/toy.recipe toy toy && run 0 case add ./*.smt2 c.cnf && run 0 set add mine a.smt2 || { cat err; exit 1; }

is_alone() { [ "$(ls "$1")" = "$2" ]; } # is_alone FOLDER FILE
test_that "of nothing: a heading, and a note" 'run 0 export --format csv && [ "$(wc -l <out)" = 1 ] && has err "nothing is finished"'
run 1 run toy v1 v3 1 2 3 && cp out ran
run 1 run toy HEAD~1 1
test_that "export starts no work: what is not measured is not there" 'run 0 export --format csv toy-again && [ "$(wc -l <out)" = 1 ]'
test_that "csv: the columns and words of run, in its order; oldest commit first" '
	run 0 export --format csv toy && python3 -c "
import csv
rows = list(csv.DictReader(open(\"out\", newline=\"\", encoding=\"utf-8\"), strict=True))
ran = [l.rstrip(\"\n\").split(\"\t\") for l in open(\"ran\")]
assert len(rows) == 6 == len(ran), rows
for row, r in zip(rows, ran):
    assert list(row.values())[:5] == r[:5] and row[\"commit\"][:12] == r[5] and (row[\"check\"] or \"-\") == r[6] and row[\"name\"] == r[7], (row, r)
    assert row[\"solver\"] == \"toy\" and row[\"timeout\"] == \"10.0\" and len(row[\"sha256\"]) == 64 and row[\"machine\"], row
assert [r[\"subject\"] for r in rows] == [\"first\"] * 3 + [\"always sat\"] * 3 and rows[5][\"check\"] == \"WRONG\", rows
assert rows[0][\"date\"] == \"2024-01-01T00:00:00Z\" and rows[2][\"name\"] == \"we\\\"ird, <na&me>.smt2\", rows"'
test_that "... its lines end with CRLF, and no line break is inside" 'python3 -c "
b = open(\"out\", \"rb\").read()
assert b.count(b\"\\n\") == 7 == b.count(b\"\\r\\n\") and b.endswith(b\"\\r\\n\")"'
test_that "a commit that cannot be built has rows where cases are named, and a note where not" '
	has err "1 commit cannot be built" && run 0 export --format csv toy HEAD~1 --set mine && [ "$(cut -d , -f 1-5 out | tail -n +2)" = "1,unbuildable,,," ] && empty err'
test_that "jsonl: what run --json prints" '
	run 0 export --format jsonl toy v3 && cp out jsonl && run 1 run --json toy v3 1 2 3 && python3 -c "
import json
a, b = [[json.loads(l) for l in open(f)] for f in (\"jsonl\", \"out\")]
assert a == b and len(a) == 3, a"'
test_that "... times are printed as they are, to the nanosecond" '! grep -qE "\"(time|cputime)\":[0-9]+\.[0-9]{10}" jsonl && has jsonl "\"time\":0\.[0-9]{6,9},"'
test_that "benchexec: well-formed XML without control characters, our verdicts in its words" '
	run 0 export --format benchexec toy v3 && python3 -c "
import xml.etree.ElementTree as t
top = t.parse(\"out\").getroot()
assert top.tag == \"result\" and top.get(\"tool\") == \"toy\" and len(top.get(\"version\")) == 40 and top.get(\"memlimit\") == \"1073741824B\"
runs = [(r.get(\"name\"), {c.get(\"title\"): c.get(\"value\") for c in r}) for r in top.findall(\"run\")]
assert [n for n, _ in runs] == [\"a.smt2\", r\"nl\nq\x01\xff\" + chr(0xfffd) + \".smt2\", \"we\\\"ird, <na&me>.smt2\"], runs
assert [c[\"status\"] for _, c in runs] == [\"true\"] * 3 and [c[\"category\"] for _, c in runs] == [\"correct\", \"missing\", \"wrong\"], runs
assert all(c[\"walltime\"].endswith(\"s\") and float(c[\"walltime\"][:-1]) > 0 and c[\"memory\"].endswith(\"B\") for _, c in runs)
assert top.find(\"systeminfo/cpu\").get(\"cores\") and top.find(\"systeminfo\").get(\"hostname\")"'
test_that "... a document for each version in a folder, and the same export is the same bytes" '
	run 0 export --format benchexec -o be && ls be >names && [ "$(wc -l <names)" = 2 ] && has names "^toy\.[0-9a-f]{12}\.results\.xml$" &&
	cp -r be first && run 0 export --format benchexec -o be && diff -r be first && : >plain.file && [ "$(stat -c %a be/toy* | sort -u)" = "$(stat -c %a plain.file)" ]'
test_that "... which cannot all go to standard output" 'run 2 export --format benchexec && has err "a folder with -o DIR" && empty out'
test_that "asv: a folder of machine, benchmarks, and results by commit" '
	run 0 export --format asv toy -o asv && python3 -c "
import json, os, glob
machine, = [d for d in os.listdir(\"asv\") if os.path.isdir(\"asv/\" + d)]
assert json.load(open(f\"asv/{machine}/machine.json\"))[\"machine\"] == machine
b = json.load(open(\"asv/benchmarks.json\"))
assert b.pop(\"version\") == 2 and sorted(b) == [\"case_00000%d\" % i for i in (1, 2, 3)] and b[\"case_000001\"][\"pretty_name\"] == \"a.smt2\", b
r = [json.load(open(f)) for f in sorted(glob.glob(f\"asv/{machine}/*-toy.json\"))]
assert len(r) == 2 and all(x[\"version\"] == 2 and x[\"params\"][\"machine\"] == machine for x in r)
v3, = [x for x in r if x[\"date\"] == 1704240000000]
assert v3[\"results\"][\"case_000003\"][0] is None and v3[\"results\"][\"case_000001\"][0][0] > 0, v3"'
test_that "... a commit that cannot be built blanks nothing of the machine" '
	run 0 export --format asv -o blanks toy v1 HEAD~1 1 && [ "$(ls blanks/*/*-toy.json | wc -l)" = 2 ] && grep -q "\"os\": \".\+\"" blanks/*/machine.json && grep -q "\"cpu\": \".\+\"" blanks/*/machine.json'
test_that "... of one solver, into a folder" 'run 2 export --format asv -o x && run 2 export --format asv toy && [ ! -e x ]'
test_that "hyperfine: its JSON, where wrong answers are left out with a note" '
	run 0 export --format hyperfine toy -o hf.json && has err "1 result left out" && python3 -c "
import json
r = json.load(open(\"hf.json\"))[\"results\"]
assert len(r) == 5 and r[0][\"command\"].startswith(\"toy@\") and r[0][\"command\"].endswith(\" a.smt2\")
for x in r:
    assert len(x[\"times\"]) == 1 and x[\"mean\"] == x[\"median\"] == x[\"min\"] == x[\"times\"][0] and x[\"stddev\"] is None and x[\"user\"] >= 0 and float(x[\"parameters\"][\"commit\"]) in (0, 2), x"'
test_that "... in a folder a document for each version, with the cases as commands" '
	run 0 export --format hyperfine toy 1 2 -o hf/ && python3 -c "
import json, glob
a, b = [[x[\"command\"] for x in json.load(open(f))[\"results\"]] for f in glob.glob(\"hf/toy.*.json\")]
assert a == b and a[0] == \"a.smt2\", a"'
# Each second run is over the limit, by chance.
make_script moody
script_commit moody 1 'echo "lasts $(($(od -An -N1 -tu1 /dev/urandom) % 2 * 20)).3" >&2'
toy_recipe moody 'timeout = 2s' 'samples = 3'
test_that "... and the times of an answer are of the samples that have it" '
	export SOLVERFS_STORE=$top/moods && tell_time && mkdir moods.d && for i in $(seq 30); do printf "(check-sat) ; %s\n" $i >moods.d/$i.smt2; done && run 0 init && run 0 solver add --recipe moody.recipe moody moody &&
	run 0 -q case add moods.d && run 0 -q run moody v1 all && run 0 export --format hyperfine moody -o moody.json && run 0 export --format asv moody -o moody.asv && python3 -c "
import glob, json
r = json.load(open(\"moody.json\"))[\"results\"]
assert 0 < len(r) < 30 and all(x[\"max\"] < 1 for x in r), [x[\"times\"] for x in r]
f, = glob.glob(\"moody.asv/*/*-moody.json\")
assert all(t < 1 for x in json.load(open(f))[\"results\"].values() for t in (x[-1] or [[]])[0] or []), f"'
test_that "a setting of its own: what was measured under a seed" '
	run 0 run toy v1 1 --seed 7 && run 0 export --format csv toy --seed 7 && [ "$(tail -n +2 out | cut -d , -f 1,17)" = 1,7 ] && run 2 export --format csv toy --sed 7'
test_that "... under a shorter time limit only what holds there, and not what was removed" '
	run 1 export --format csv toy v1 --timeout 0.0001 && has err "nothing is finished of 1 of the versions that were asked for: [0-9a-f]*; " && [ "$(wc -l <out)" = 1 ] && run 0 case remove 1 && run 0 export --format csv toy v1 && [ "$(tail -n +2 out | cut -d , -f 1)" = "$(printf "2\n3")" ] &&
	run 0 case add a.smt2 && run 0 export --format csv toy v1 && [ "$(wc -l <out)" = 4 ]'
test_that "... of which benchexec makes no document, and keeps an older one" '
	run 1 export --format benchexec toy v1 --timeout 0.0001 && has err "nothing is finished of 1" && empty out && echo old >older.xml && run 1 export --format benchexec toy v1 --timeout 0.0001 -o older.xml && is older.xml old'
test_that "wrong usage: no format, an unknown one, a set and cases, a folder for a file" '
	run 2 export && has err "csv, jsonl, benchexec, asv or hyperfine" && run 2 export --format xml && run 2 export --format csv toy v1 1 --set mine && run 2 export --format csv -o be'
test_that "no such solver, revision, case, set" '
	run 3 export --format csv nosuch && run 3 export --format csv toy nosuch && run 3 export --format csv toy v1 nosuch && run 3 export --format csv --set nosuch'
test_that "a file that cannot be written: one sentence, and no half of it" '
	run 4 export --format csv -o nosuch/x.csv && has err "cannot write nosuch/x.csv" && [ "$(wc -l <err)" = 1 ] && ! ls | grep -q "x\.csv"'
as_root "a full disk leaves the old file, and nothing beside it" '
	mkdir small && mount -t tmpfs -o size=4k none small && echo old >small/x && { run 4 export --format jsonl -o small/x; r=$?; ls small >names; [ $r = 0 ] && is small/x old && is names x; r=$?; umount small; [ $r = 0 ]; }'
test_that "a pipe is written to, and stays one" '
	mkfifo pipe && { cat pipe >piped & } && run 0 export --format csv toy -o pipe && wait && [ -p pipe ] && run 0 export --format csv toy -o - && cmp piped out'
test_that "... and a signal ends the wait for its reader" 'timeout -k 100 1 "$solverfs" export --format csv toy -o pipe 2>err; [ $? = 124 ] && [ -p pipe ]'
test_that "a link leads to the file, which is replaced" '
	mkdir to && echo old >to/file && ln -s to/file link && run 0 export --format csv toy -o link && [ -L link ] && cmp to/file piped && is_alone to file'
if mknod full c 1 7 2>/dev/null && : <full; then
	test_that "a device stays one: under a table, and under a report" '
		run 4 export --format csv toy -o full && has err "cannot write full: No space left" && run 4 export --format hyperfine toy -o full &&
		run 4 report toy -o full && [ -c full ]'
	test_that "... and no folder is made of it" 'run 4 export --format asv toy -o full && has err "cannot make the folder full/.*Not a directory" && [ -c full ]'
else
	skip "a device stays one" "no device can be made here"
fi
test_that "-o wants a name" 'run 2 export --format csv -o "" && run 2 export --format asv toy -o - && run 4 export --format asv toy -o a.smt2/x && has err "Not a directory"'
test_that "standard output that cannot be written" '"$solverfs" -q export --format jsonl >/dev/full 2>err; [ $? = 4 ] && has err "standard output"'

# -- the tools themselves: checkouts of benchexec, asv, asv_runner and hyperfine in $SOLVERFS_READERS, with Debian's Python packages --

readers() { # readers DESCRIPTION COMMAND...
	if [ -n "${SOLVERFS_READERS:-}" ]; then test_that "$@"; else skip "$1" "no \$SOLVERFS_READERS"; fi
}
r=${SOLVERFS_READERS:-}
python=/usr/bin/python3
readers "table-generator makes a table of both versions" '
	(cd be && PYTHONPATH=$r/benchexec $python -W ignore -c "import sys; from benchexec.tablegenerator import main; sys.argv += \"*.xml -f csv --no-diff\".split(); main()") >out 2>err &&
	head -n 3 be/results.*.csv | grep -q "walltime (s)" && [ "$(tail -n +4 be/results.*.csv | wc -l)" = 3 ]'
readers "asv publishes the folder, and shows a commit of it" '
	mkdir -p meta/asv-0.dist-info && printf "Metadata-Version: 2.1\nName: asv\nVersion: 0.6\n" >meta/asv-0.dist-info/METADATA && export PYTHONPATH=$r/asv:$r/asv_runner:$PWD/meta &&
	echo "{\"version\": 1, \"project\": \"toy\", \"repo\": \"toy\", \"branches\": [\"main\"], \"results_dir\": \"asv\", \"html_dir\": \"html\", \"environment_type\": \"existing\"}" >asv.conf.json &&
	$python -m asv publish >out 2>err && [ "$(find html/graphs -name "case_*.json" | sed "s,.*/,," | sort -u | wc -l)" = 3 ] &&
	$python -m asv show --machine "$(cd asv && echo */ | tr -d /)" v3 >out 2>err; r1=$?; unset PYTHONPATH; [ $r1 = 0 ] && has out "case_000003"'
readers "the scripts of hyperfine read it" '
	for s in advanced_statistics "plot_whisker -o w.png" "plot_histogram -o h.png" "plot_progression --no-moving-average -o p.png"; do
		MPLBACKEND=Agg $python -W ignore "$r/hyperfine/scripts/${s%% *}.py" hf.json $(echo "$s" | cut -s -d " " -f 2-) >out 2>err || break; done &&
	MPLBACKEND=Agg $python "$r/hyperfine/scripts/plot_benchmark_comparison.py" hf/*.json -o c.png >out 2>err && [ -s w.png ] && [ -s h.png ] && [ -s p.png ] && [ -s c.png ]'
# -- effort --
sed -e 's/samples = 1/&\n\teffort = seed ([0-9]+)\n\teffort = steps ([0-9]+)/' -e '/variant/,$d' recipes/toy.recipe >counted.recipe
printf '; answer: sat\n; answer: steps 7\n(check-sat)\n' >steps.smt2
run 0 solver add counted toy --recipe counted.recipe && run 0 case add steps.smt2
test_that "effort is the first pattern's number, and no other's" '
	run 0 run counted v1 steps.smt2 --print effort && is out "7	steps" && run 0 run counted v1 steps.smt2 && [ "$(field 9)" = - ] &&
	run 0 run counted v1 steps.smt2 --seed 5 && [ "$(field 9)" = 5 ] && run 0 run counted v1 steps.smt2 --print effort --seed 5 && is out "5	seed
7	steps"'
test_that "... by the recipe as it is now, of a run that is stored" '
	sed "/effort = seed/d; s/steps (/step[a-z] (/" counted.recipe >changed.recipe && run 0 solver add --replace counted toy --recipe changed.recipe &&
	run 0 run counted v1 steps.smt2 && [ "$(field 9)" = 7 ] && run 0 run counted v1 steps.smt2 --seed 5 --print effort && is out "7	step"'
test_that "... of which a commit that cannot be built has none" 'run 1 run counted v3~1 steps.smt2 && [ "$(field 2,9)" = "unbuildable	-" ]'

test_that "a case that is named - has that name" '
	printf "; answer: sat\n(check-sat) ; -\n" >./- && run 0 case add ./- && run 0 -q run toy v1 ./- && run 0 export --format csv toy v1 ./- && [ "$(tail -n +2 out | cut -d , -f 8)" = - ]'
echo "1..$n"
