#!/bin/bash
# Results of other machines and tools, taken into a store.
# shellcheck disable=SC2016
. "$(dirname "$0")/command.sh"
make_toy
mkdir -p q/sub
printf '; answer: sat\n(set-info :status sat)\n(check-sat)\n' >q/a.smt2
printf '; answer: unsat\n(set-info :status unsat)\n(check-sat)\n' >q/sub/b.smt2
printf '; answer: sat\n(check-sat)\n(exit)\n' >'q/c <&".smt2'
run 0 init && run 0 solver add --recipe recipes/toy.recipe toy toy && run 0 case add q && cut -f 3- out >added || { cat err; exit 1; }

column() { echo "<column title=\"$1\" value=\"$2\"/>"; }
a_run() { # a_run NAME STATUS CATEGORY [WALL [CPU [MEMORY]]]
	printf '<run name="%s" files="[%s]">%s%s%s%s%s</run>\n' "$1" "$1" "$(column status "$2")" "$(column cputime "${5-1.25s}")" "$(column walltime "${4-1.5s}")" \
		"$(column memory "${6-4000000B}")" "$(column category "$3")"
}
document() { # document RUN...: as BenchExec writes it
	cat <<END
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE result PUBLIC '+//IDN sosy-lab.org//DTD BenchExec result 3.0//EN' 'https://www.sosy-lab.org/benchexec/result-3.0.dtd'>
<result benchmarkname="x" date="2024-02-03 04:05:06 CET" starttime="2024-02-03T04:05:06.789+01:00" tool="Toy" version="0.1" memlimit="${memlimit-2GB}" timelimit="${timelimit-900s}" cpuCores="1" generator="BenchExec 3.21">
  <columns><column title="status"/></columns>
  <systeminfo hostname="apollon"><os name="Linux 5.15"/><cpu model="${cpu-Xeon E3}" cores="8"/><ram size="33553035264B"/><environment><var name="PATH">/bin</var></environment></systeminfo>
  ${second_host-}
END
	printf '%s\n' "$@" '</result>'
}
import() { run "$1" import --format benchexec --solver toy --revision "${2-v1}" "${@:3}"; }
nothing() { run 3 run toy v1 1 --machine apollon && has err "nothing is known of a machine"; } # in the store

document "$(a_run ../x/q/a.smt2 true correct)" "$(a_run q/sub/b.smt2 TIMEOUT error 905.2s 900.1s)" "$(a_run elsewhere.smt2 false missing)" "$(a_run 'q/c &lt;&amp;&quot;.smt2' '' '')" >r.xml
bzip2 -k r.xml && gzip -k r.xml

# -- what is refused leaves nothing --

refused() { # refused DESCRIPTION FILE PATTERN [ARGUMENT...]
	test_that "$1" 'import 1 v1 '"$2"' '"${4-}"' && has err "'"$3"'" && [ "$(wc -l <err)" = 1 ] && empty out && nothing'
}
head -c 1200 r.xml >cut.xml
refused "cut off" cut.xml "^solverfs: cut.xml:[0-9]+: .*no complete XML"
head -c 300 r.xml.bz2 >cut.bz2
refused "compressed and cut off" cut.bz2 "cut.bz2.* cannot be unpacked"
: >empty.xml
refused "empty" empty.xml "empty.xml is empty"
echo "no XML" >text.xml
refused "no XML" text.xml "text.xml:1: .*no complete XML"
echo "<table/>" >table.xml
refused "another document" table.xml "a <table>, not the <result> of BenchExec"
{ echo '<!DOCTYPE result [<!ENTITY a "aaaaaaaaaa">'; p=a; for e in b c d e f g h i; do echo "<!ENTITY $e \"&$p;&$p;&$p;&$p;&$p;&$p;&$p;&$p;&$p;&$p;\">"; p=$e; done; echo ']><result tool="&i;"/>'; } >bomb.xml
refused "entities that would never end" bomb.xml "declares entities"
echo '<!DOCTYPE result [<!ENTITY x SYSTEM "file:///etc/passwd">]><result tool="t"><run name="a">&x;</run></result>' >outer.xml
refused "entities that are other files" outer.xml "declares entities"
# A gzip member behind another goes on with its text: these are documents of gigabytes in files of kilobytes.
python3 - <<'END2'
import gzip
packed = lambda text: gzip.compress(text.encode(), 9)
def write(name, *parts):
    with open(name, "wb") as f:
        for part in parts:
            f.write(part)
write("attribute.xml.gz", packed('<result tool="'), *[packed("a" * (1 << 20))] * 300)
write("comment.xml.gz", packed("<result tool='t'><!-- "), *[packed("a " * (1 << 19))] * 300)
write("deep.xml.gz", packed("<result tool='t'>"), *[packed("<a>" * 100000)] * 10)
import random
random.seed(1)
with open("begin", "wb") as begin, open("piece", "wb") as piece:
    begin.write("\ufeff<result tool='t'>".encode("utf-16-le"))
    piece.write(("".join(random.choices("0123456789", k=20000)) + " " * (4 << 20)).encode("utf-16-le"))
END2
# zstd and UTF-16: a gigabyte is unpacked and read in a third of the time that gzip and UTF-8 take.
zstd -q begin piece && { cat begin.zst; for i in {1..130}; do cat piece.zst; done; } >endless.xml.zst
refused "an attribute without end" attribute.xml.gz "attribute.xml.gz:1: what begins here is longer than 1 MiB"
refused "a comment without end" comment.xml.gz "comment.xml.gz:1: what begins here is longer than 1 MiB"
refused "elements in elements in elements" deep.xml.gz "deep.xml.gz:1: elements in elements, 64 deep"
test_that "more text than any document has" 'import 1 v1 endless.xml.zst && has err "endless.xml.zst has more than 1 GiB of text" && empty out && nothing'
test_that "reading hears an interrupt" '
	"$solverfs" import -f benchexec endless.xml.zst >out 2>err & pid=$!
	until [ -e /proc/$pid/fd ] && readlink /proc/$pid/fd/* | grep -q endless; do kill -0 $pid || break; sleep 0.01; done
	kill -TERM $pid && { wait $pid; [ $? = 130 ]; } && empty out && nothing'
mkdir folder && document >none.xml
test_that "a folder is none of its files" 'import 2 v1 folder && has err "^solverfs: folder is a folder: name the files" && nothing'
test_that "a document without runs says so" 'import 3 v1 none.xml && has err "^solverfs: none.xml has no result: no run is in it" && nothing'
document '&nosuch;' >entity.xml
refused "entities that nobody declares" entity.xml "nosuch|undefined entity"
document "$(a_run q/a.smt2 true correct)" "$(a_run q/sub/b.smt2 true correct "3 parsecs")" >unit.xml
refused "a unit that is none: nothing of the file, and the line" unit.xml "unit.xml:8: walltime is .3 parsecs., not a time"
document "$(a_run q/a.smt2 true correct nan)" >nan.xml
refused "a time that is no number" nan.xml "walltime is .nan., not a time"
document "$(a_run q/a.smt2 true correct -1s)" >negative.xml
refused "a time that is negative" negative.xml "walltime is .-1s., not a time"
document "$(a_run q/a.smt2 true correct 1s 1s 3furlongs)" >size.xml
refused "a size that is none" size.xml "memory is .3furlongs., not a size"
timelimit=soon document "$(a_run q/a.smt2 true correct)" >limit.xml
refused "a limit that is none" limit.xml "timelimit is .soon., not a time"
document "$(a_run q/a.smt2 true superb)" >category.xml
refused "a category that is none" category.xml "category .superb. is none of BenchExec"
document "$(a_run q/a.smt2 maybe correct)" >status.xml
refused "a status that is no answer" status.xml "status .maybe. is no answer"
document '<run name="q/a.smt2"><column title="status" value="true"/></run>' >bare.xml
refused "a run without times" bare.xml "bare.xml:7: the run of .q/a.smt2. has no walltime"
document "$(a_run q/a.smt2 true correct)" "$(a_run ./q/a.smt2 true correct)" >twice.xml
refused "two runs of one case" twice.xml "twice.xml:8: .* is case [0-9], which the run at line 7 is of, too"
second_host='<systeminfo hostname="two"><os name="L"/><cpu model="Other" cores="4"/><ram size="1B"/></systeminfo>' document "$(a_run q/a.smt2 true correct)" >kinds.xml
refused "machines of several kinds" kinds.xml "machines of several kinds, .Xeon E3. with 8 cores and .Other. with 4" "--machine lab"
second_host='<systeminfo hostname="two"><os name="L"/><cpu model="Xeon E3" cores="8"/><ram size="1B"/></systeminfo>' document "$(a_run q/a.smt2 true correct)" >hosts.xml
refused "several machines of one kind want a name" hosts.xml "several machines of one kind; --machine NAME"
sed 's/<systeminfo.*//' r.xml >nohost.xml
refused "no machine wants one, too" nohost.xml "does not say which machine"
test_that "a file that is not there; a solver and a revision that nobody says or knows" '
	import 3 v1 nosuch.xml && run 3 import -f benchexec r.xml && has err "of .Toy., which is no solver of this store; --solver" &&
	run 3 import -f benchexec r.xml --solver toy && has err "version .0.1., which is no revision of toy; --revision" && import 3 nosuch r.xml && nothing'
test_that "a file is no store, and may be of BenchExec" 'run 2 import r.xml && has err "r.xml is a file, not a store; .*--format benchexec"'
test_that "wrong usage" 'run 2 import && run 2 import -f csv r.xml && run 2 import -f benchexec && import 2 v1 r.xml --seed x'

# -- what is taken --

test_that "results become facts of the machine that ran them; unknown cases and unended runs are counted" '
	import 0 v1 r.xml && [ "$(cut -f 1-5 out)" = "2	0	1	1	apollon/Xeon E3/8" ] && has err "1 run is of cases that are not in this store, such as .elsewhere.smt2."'
test_that "... and nothing is ours: what is ours is not known, and theirs is not shown" '
	run 0 export --format csv && [ "$(wc -l <out)" = 1 ] && run 0 history toy all --known && empty out && run 0 run toy v1 q/a.smt2 && ! has out "1\.5000"'
test_that "run --machine shows them, by the host alone, and runs nothing" '
	run 3 run toy v1 all --machine apollon && [ "$(grep -c "sat	1.500000	1.250000	4000000" out)" = 1 ] && [ "$(grep -c "timeout	905.200000	900.100000" out)" = 1 ] &&
	has err "nothing is known of it for apollon" && run 2 run toy v1 1 --machine apollon --again'
test_that "history and export, too" '
	run 0 history toy q/a.smt2 --machine apollon && [ "$(cut -f 4,5,8 out)" = "sat	1.500000	correct" ] &&
	run 0 export --format csv --machine "apollon/Xeon E3/8" && [ "$(tail -n +2 out | cut -d , -f 2,3,17- | tr -d "\r" | sort)" = "sat,1.500000,,900.0,2024-02-03T03:05:06Z,apollon/Xeon E3/8
timeout,905.200000,,905.2,2024-02-03T03:05:06Z,apollon/Xeon E3/8" ]'
test_that "memory that is not known is none for hyperfine" '
	run 0 export --format hyperfine --machine apollon && has out "\"memory_usage_byte\":\[4000000\]" &&
	document "<run name=\"q/a.smt2\">$(column status true)$(column cputime 1s)$(column walltime 1s)$(column category correct)</run>" >unknown.xml && import 0 v1 unknown.xml --machine scales &&
	run 0 export --format hyperfine --machine scales && has out "\"times\":\[1" && ! has out "memory_usage_byte"'
test_that "... and for the steps of --measure memory, and their picture" '
	document "$(a_run q/a.smt2 true correct)" >weighed.xml && import 0 v3 weighed.xml --machine scales && run 0 history toy q/a.smt2 --machine scales --measure memory --svg weighed.svg &&
	[ "$(wc -l <out)" = 2 ] && ! has out "differs|more|less" && ! grep -q "sat, 0 MB" weighed.svg && grep -q "sat, 4 MB" weighed.svg'
test_that "a timeout holds for less time, an answer for more" '
	run 0 run toy v1 q/sub/b.smt2 --machine apollon --timeout 10s && [ "$(cut -f 2,3 out)" = "timeout	10.000000" ] &&
	run 0 run toy v1 q/a.smt2 --machine apollon --timeout 2s && run 3 run toy v1 q/a.smt2 --machine apollon --timeout 1s'
test_that "out of memory holds under another timeout, whatever the memory limit there" '
	document "$(a_run q/a.smt2 "OUT OF MEMORY" error 5s 5s)" >memout.xml && import 0 v1 memout.xml --machine far && run 0 run toy v1 q/a.smt2 --machine far && has out "	memout	5.0" &&
	run 0 run toy v1 q/a.smt2 --machine far --timeout 20s && has out "	memout	5.0" && run 3 run toy v1 q/a.smt2 --machine far --timeout 4s'
test_that "run.json says where they come from" '
	run 0 run toy v1 q/a.smt2 --machine apollon --print run.json && python3 -c "
import json
j = json.load(open(\"out\"))
assert j[\"imported\"] == {\"format\": \"benchexec\", \"file\": \"r.xml\", \"tool\": \"Toy\", \"version\": \"0.1\", \"status\": \"true\", \"category\": \"correct\"}, j
assert j[\"machine\"] == \"apollon/Xeon E3/8\" and j[\"host\"][\"cores\"] == 8 and j[\"host\"][\"memory\"] == 33553035264 and j[\"limits\"][\"memory\"] == 2e9, j"'
value() { grep "^$1	" out | cut -f "$2"; }
document "$(a_run 'q/c &lt;&amp;&quot;.smt2' true correct 500s 500s)" >long.xml
timelimit=60s document "$(a_run q/a.smt2 false wrong 6s 6s)" "$(a_run q/sub/b.smt2 false correct 10s 10s)" "$(a_run 'q/c &lt;&amp;&quot;.smt2' TIMEOUT error 60s 60s)" >short.xml
import 0 v1 long.xml && import 1 v3 short.xml
test_that "compare --machine has two versions of it, and runs nothing" '
	run 1 compare toy@v1 toy@v3 --machine apollon && [ "$(value machine 2,3)" = "apollon/Xeon E3/8	apollon/Xeon E3/8" ] && [ "$(value wrong 2,3)" = "0	1" ] &&
	has out "^regression	[0-9]*	wrong	sat	1.500000	unsat	6.000000	" && [ "$(value flips 2,3)" = "1	1" ] && ! has out "^improvement" &&
	run 0 export --format csv && [ "$(wc -l <out)" = 2 ]'
test_that "... an answer of a longer time than the other was given is not compared with it" '
	run 1 compare toy@v1 toy@v3 --machine apollon && [ "$(value compared 2)" = 2 ] && [ "$(value timeout 2,3)" = "1	0" ]'
test_that "... and the machine is in what it prints" '
	run 1 compare toy@v1 toy@v3 --machine apollon --json && [ "$(jq -r .machine out)" = "apollon/Xeon E3/8" ] && run 1 compare toy@v1 toy@v3 --machine apollon --markdown && has out "^Measured on apollon/Xeon E3/8\.$" &&
	run 3 compare toy@v1 toy@v3 --machine nosuch'
test_that "the same again, and compressed: it is known" '
	import 0 v1 r.xml && [ "$(field 1,2)" = "0	2" ] && import 0 v1 r.xml.bz2 && [ "$(field 1,2)" = "0	2" ] && import 0 v1 r.xml.gz && [ "$(field 1,2)" = "0	2" ]'
test_that "... and without its date, which makes it no newer" '
	sed "s/ date=.* starttime=\"[^\"]*\"//" r.xml >undated.xml && import 0 v1 undated.xml && [ "$(field 1,2)" = "0	2" ]'
test_that "a case that was added since is taken in by the same command" '
	printf "; answer: unsat\n(check-sat)\n(exit)\n(exit)\n" >elsewhere.smt2 && run 0 case add elsewhere.smt2 && import 0 v1 r.xml && [ "$(field 1-3)" = "1	2	0" ]'
test_that "another machine of the same name is another one, and is asked for in full" '
	cpu="Xeon E5" document "$(a_run q/a.smt2 sat correct 3s 3s)" >e5.xml && import 0 v1 e5.xml && run 3 run toy v1 1 --machine apollon && has err "several machines" &&
	run 0 run toy v1 q/a.smt2 --machine "apollon/Xeon E5/8" && [ "$(field 3)" = 3.000000 ] && run 3 run toy v1 1 --machine nosuch && has err "Xeon E5/8"'
test_that "a wrong answer is told, and the status is 1" '
	document "$(a_run q/a.smt2 unsat wrong)" >wrong.xml && import 1 v3 wrong.xml --machine lab && has err "1 WRONG ANSWER in wrong.xml" &&
	run 1 run toy v3 q/a.smt2 --machine lab && has out "WRONG" && run 0 status && has err "WRONG ANSWER: toy [0-9a-f]{12} \(machine lab/Xeon E3/8\) says unsat on case"'
test_that "what we export is what we import: the same numbers and answers, for another machine" '
	run 0 run toy v1 all && run 0 export --format csv toy v1 && tr -d "\r" <out | cut -d , -f 1-10,14 | sort >ours && run 0 export --format benchexec toy v1 -o own.xml &&
	run 0 import -f benchexec own.xml --machine twin && run 0 export --format csv toy v1 --machine twin && tr -d "\r" <out | cut -d , -f 1-10,14 | sort >theirs && cmp ours theirs'
test_that "... each under its seed, and another --seed is refused" '
	for seed in 5 6; do
		{ run 0 run toy v1 q/a.smt2 --seed $seed && run 0 export -f benchexec toy v1 q/a.smt2 --seed $seed -o seed$seed.xml && run 3 run toy v1 q/a.smt2 --seed $seed --machine twin &&
		run 0 import -f benchexec seed$seed.xml --machine twin && [ "$(field 1,2)" = "1	0" ] && run 0 run toy v1 q/a.smt2 --seed $seed --machine twin; } || exit 1
	done && run 2 import -f benchexec seed5.xml --machine twin --seed 6 && has err "seed5.xml is of seed 5, and --seed says 6" &&
	run 0 import -f benchexec seed5.xml --machine twin --seed 5 && [ "$(field 1,2)" = "0	1" ]'
test_that "... and of several files the others are imported if the commit of one knows no seed" '
	sed "s/ {seed}//; /seed/d; /variant/,\$d" recipes/toy.recipe >dull.recipe && run 0 solver add --recipe dull.recipe dull toy && sed "s/tool=\"[^\"]*\"/tool=\"dull\"/" seed5.xml >dull5.xml &&
	run 2 import -f benchexec dull5.xml seed6.xml --machine third && has err "dull5.xml: the recipe of dull has no .seed." && [ "$(field 1,2)" = "1	0" ]; r=$?; run 0 solver remove dull && (exit $r)'
test_that "... and not for this one" 'run 1 import -f benchexec own.xml && has err "is of this machine"'
test_that "a name that fits several cases is told" '
	mkdir -p z/q && printf "(check-sat)\n(exit)\n\n" >z/q/a.smt2 && run 0 case add z && document "$(a_run a.smt2 true correct)" >both.xml && import 1 v1 both.xml && has err "may be case [0-9] \(.*\) or case [0-9]"'
test_that "a task of SMT-COMP, *.yml, is the case of that name" 'document "$(a_run x/q/sub/b.yml false correct)" >yml.xml && import 0 v1 yml.xml --machine comp && [ "$(field 1)" = 1 ]'
test_that "the status of a script with several queries is of none of them" '
	printf "(set-info :status sat)\n(check-sat)\n(set-info :status unsat)\n(check-sat)\n" >several.smt2 && run 0 case add several.smt2 && document "$(a_run several.smt2 false correct)" >several.xml &&
	import 0 v1 several.xml --machine lab && run 0 run toy v1 several.smt2 --machine lab && has out "	unsat	1.500000	" && run 0 run toy v1 several.smt2 --machine lab --print result && is out unsat && run 3 run toy v1 "several.smt2#1" --machine lab && run 3 run toy v1 "several.smt2#2" --machine lab'
toy_recipe apart 'paths = src' && printf '[era "v2.."]\n\tpaths = lib\n' >>apart.recipe && make_repository apart && mkdir apart/src apart/lib && touch apart/src/a && day_commit apart 1 v0
for i in 1 2 3; do echo $i >apart/lib/a && day_commit apart $((i + 1)) v$i && git -C apart tag v$i; done
test_that "where an era has paths of its own, a commit does not have the results of another one" '
	run 0 solver add --recipe apart.recipe apart apart && run 0 import -f benchexec --solver apart --revision v2 yml.xml --machine lab && run 3 run apart v3 q/sub/b.smt2 --machine lab &&
	run 0 history apart q/sub/b.smt2 --machine lab && [ "$(wc -l <out)" = 1 ] && has out "	$(git -C apart rev-parse v2)	" && run 0 run apart v2 q/sub/b.smt2 --machine lab && [ "$(field 2)" = unsat ]'
test_that "... and commits that this era builds from the same files have the same" '
	echo 2 >apart/lib/a && day_commit apart 5 v4 && run 0 solver update apart && run 0 run apart main q/sub/b.smt2 --machine lab && run 3 run apart v1 q/sub/b.smt2 --machine lab'
printf '; answer: unsat\n(check-sat)\n; of unknown status\n' >open.smt2
disputed() { run 1 run "${@:2}" && [ "$(field 7)" = DISPUTED ] && has err "CONTRADICTION: case $1 "; } # disputed CASE ARGUMENT...
test_that "an answer that another machine contradicts is told: both are shown as disputed" '
	run 0 case add open.smt2 && id=$(cut -f 1 out) && run 0 run toy v1 open.smt2 && document "$(a_run open.smt2 true missing)" >rival.xml && import 0 v1 rival.xml --machine rival &&
	disputed $id toy v1 open.smt2 && has err "machine rival/Xeon E3/8\)" && disputed $id toy v1 open.smt2 --machine rival && run 0 status && has err "CONTRADICTION: case $id " &&
	run 1 history toy open.smt2 --known && has out DISPUTED && run 1 history toy open.smt2 --machine rival && has out DISPUTED && has err "CONTRADICTION: case $id " &&
	run 0 export --format csv toy v1 open.smt2 && has out ",DISPUTED," && run 0 export --format csv toy v1 open.smt2 --machine rival && has out ",DISPUTED,"'
test_that "... until the case has a status: then one of them is wrong" '
	run 0 case add --status unsat open.smt2 && run 0 run toy v1 open.smt2 && [ "$(field 7)" = correct ] && run 1 run toy v1 open.smt2 --machine rival && has out "WRONG" &&
	run 0 status && ! has err "CONTRADICTION" && has err "WRONG ANSWER: toy [0-9a-f]{12} \(machine rival/Xeon E3/8\) says sat on case"'
test_that "fsck finds nothing to say of it" 'run 0 fsck'

# -- other stores --

other() { SOLVERFS_MACHINE=${machine-depot} SOLVERFS_STORE=$top/other timeout 60 "$solverfs" -q "$@" >other.out 2>other.err; }
printf "; answer: unsat\n(set-info :status unsat)\n(check-sat)\n; other bytes\n" >a.smt2
cp q/a.smt2 z.smt2
{ other init && other solver add --recipe recipes/toy.recipe toy toy && other case add z.smt2 a.smt2 q/sub/b.smt2 && other run toy v1 all && other run toy v1 1 --seed 5; } || { cat other.err; exit 1; }
run 0 case list && cp out before
test_that "another store: its cases, results and builds; a name that is taken is told" '
	run 0 import other && [ "$(field 1-3,5)" = "1	4	0	0" ] && has err "case 2 there, a.smt2, has other bytes than the case of this name here: it is case [0-9]+, a.smt2~[0-9a-f]{8}"'
test_that "... ids of this store do not change, and the same case keeps one" 'run 0 case list && head -n "$(wc -l <before)" out | cmp - before && ! has out "z\.smt2"'
test_that "... each result with its machine, under the id that the case has here" '
	run 0 run toy v1 1 --machine depot --json && python3 -c "
import json
j = json.load(open(\"out\"))
assert j[\"case\"] == j[\"run\"][\"case\"][\"id\"] == 1 and j[\"name\"] == \"a.smt2\" and j[\"run\"][\"machine\"].startswith(\"depot/\"), j"'
test_that "... and under its seed" 'run 0 export --format csv toy --seed 5 --machine depot && [ "$(wc -l <out)" = 2 ]'
test_that "the same again changes nothing" 'run 0 import other && [ "$(field 1-3)" = "0	0	0" ]'
test_that "sets come with their cases, under the ids that those have here" '
	other set add near z.smt2 q/sub/b.smt2 && other set add all-of-them z.smt2 && run 0 import other && [ "$(field 8)" = 2 ] && run 0 set list && has out "^near	2$" && has out "^all-of-them	1$" &&
	run 0 set list near && [ "$(head -1 out | cut -f 2)" = 1 ] && has out "	sub/b.smt2$"'
test_that "... once" 'run 0 import other && [ "$(field 8)" = 0 ]'
test_that "... one that has grown there grows here" 'other set add near a.smt2 && run 0 import other --json && [ "$(jq .sets out)" = 1 ] && run 0 set list && has out "^near	3$"'
test_that "... and one that has other cases here stays, which is told" '
	run 0 set add near elsewhere.smt2 && run 0 import other && [ "$(field 8)" = 0 ] && has err "^the set near has other cases here than there: here it stays as it is" && run 0 set list && has out "^near	4$"'
mkdir -p T/plain && printf '; answer: sat\n(check-sat)\n; in a folder\n' >T/plain/x.smt2 && printf '; answer: sat\n(check-sat)\n; without one\n' >plain.smt2
test_that "a case in a folder whose name is that of a case here comes without it" '
	other case add T && run 0 case add --name plain plain.smt2 && run 0 import other && [ "$(field 1)" = 1 ] && has err "case [0-9]+ there, plain/x.smt2, .*: it is case [0-9]+, plain_x.smt2~[0-9a-f]{8}"'
printf '; answer: unsat\n(check-sat)\n; open there, too\n' >both.smt2
test_that "an answer that contradicts one there is told" '
	other case add both.smt2 && other run toy v3 both.smt2 && run 0 case add both.smt2 && id=$(cut -f 1 out) && run 0 run toy v1 both.smt2 && run 0 import other && [ "$(field 2)" = 1 ] &&
	disputed $id toy v1 both.smt2 && has err "toy [0-9a-f]{12} \(machine depot/[^)]*\) says sat" && disputed $id toy v3 both.smt2 --machine depot && run 0 status && has err "CONTRADICTION: case $id "'
test_that "results of this machine become ours, and nothing is run for them" '
	rm -r other && machine= && { other init && other solver add --recipe recipes/toy.recipe toy toy && other case add q/sub/b.smt2 && other run toy v3 all; }; [ -s other.out ] &&
	run 1 run toy v3 q/sub/b.smt2 --timeout 9s && run 0 import other && [ "$(field 2)" = 1 ] && cut -f 3 other.out >theirs && run 1 run toy v3 q/sub/b.smt2 && field 3 | cmp - theirs'
make_mount
if run 0 mount "$mnt"; then
	test_that "... with the kind of limit that each was measured under" '
		machine= other localize toy --reference v1 --target v3 q/sub/b.smt2 --clock cpu --timeout 300ms && run 0 import other && [ "$(field 2)" -ge 1 ] && ls "$mnt/toy/tags/v1/timeout" >out && ! has out "^15s$"'
	run 0 unmount "$mnt"
fi
test_that "results of a solver that is not here are passed over, and told" '
	sed "/variant/,\$d" recipes/toy.recipe >stranger.recipe; { other solver add --recipe stranger.recipe stranger toy && other run stranger v1 all; } && run 0 import other && [ "$(field 5)" -ge 1 ] && has err "stranger is no solver of this store"'
test_that "a damaged case is left out and told, with status 1; all else is taken, and its results" '
	rm -r other && { other init && other solver add --recipe recipes/toy.recipe toy toy; } && for i in 1 2; do printf "; answer: sat\n(check-sat)\n; of a bad disk $i\n" >hurt$i.smt2; done && machine=wreck &&
	other case add hurt1.smt2 hurt2.smt2 && other run toy v1 all && f=$(grep -rl "of a bad disk 1" other/cases) && chmod +w "$f" && printf "; X" | dd of="$f" conv=notrunc status=none &&
	run 1 import other && [ "$(field 1,2)" = "1	2" ] && has err "^a case there is left out: the bytes of case 1 in .* are not what was added" && run 0 run toy v1 hurt2.smt2 --machine wreck &&
	run 0 case add hurt1.smt2 && run 0 run toy v1 hurt1.smt2 --machine wreck'
test_that "this very store, and no store" 'run 2 import "$SOLVERFS_STORE" && has err "this very store" && run 3 import nosuch && run 2 import other --machine x'
test_that "fsck finds nothing to say of it" 'run 0 fsck'
echo "1..$n"
