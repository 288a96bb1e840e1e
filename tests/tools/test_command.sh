#!/bin/bash
# The command from outside: what it prints where, and how it ends. A toy solver (a shell script in a git repository of our own) stands
# in for a real one. Prints TAP. Usage: test_command.sh SOLVERFS
. "$(dirname "$0")/command.sh"

# -- usage --

test_that "no command is wrong usage" 'run 2 && has err "no command" && empty out'
test_that "an unknown command is wrong usage" 'run 2 frobnicate && has err "no command .frobnicate." && empty out'
test_that "one that is misspelled is guessed" '
	run 2 x && ! has err "did you mean" && run 2 localise && has err "did you mean .localize.[?]" && run 2 solver lst && has err "mean .solver list.[?]" && run 2 add && has err "mean .solver add., .case add., .set add., .portfolio add.[?]"'
test_that "an unknown command of a group is wrong usage" 'run 2 solver frobnicate && has err "no command .solver frobnicate."'
test_that "a group alone is wrong usage" 'run 2 case && has err "solverfs case --help"'
test_that "an unknown option is wrong usage" 'run 2 run --frobnicate'
test_that "a missing argument is wrong usage" 'run 2 run toy HEAD && has err "SOLVER REV... CASE"'
test_that "a bad number is wrong usage" 'run 2 run --seed -1 toy HEAD 1 && has err "number from 0"'
test_that "a bad duration is wrong usage" 'run 2 run --timeout soon toy HEAD 1 && has err "timeout"'
test_that "a number below zero does not count from the top" 'run 2 export --seed -1 toy && has err "seed takes a number from 0"'
test_that "a number that cannot be counted is wrong usage" 'run 2 export --seed 99999999999999999999 toy && has err "number from 0"'
test_that "one of several words is told which there are" \
	'run 2 incompleteness toy --oracle maybe && has err "oracle is .sat., .unsat. or .auto., not .maybe.$"'
test_that "one of two words is told which there are" 'run 2 localize toy 1 --clock sun && has err "clock is .wall. or .cpu., not .sun.$"'
test_that "words for a command that takes none are wrong usage" 'run 2 gc toy && has err "Too many arguments"'
test_that "--help lists the commands" 'run 0 --help && has out "solver add NAME REPO" && has out "Exit status" && empty err'
test_that "help COMMAND is COMMAND --help" 'run 0 help case add && has out "Usage: solverfs case add"'
test_that "-h helps" 'run 0 run -h && has out "Usage: solverfs run"'
test_that "--version prints the version" 'run 0 --version && has out "^solverfs [0-9]"'
test_that "help that nobody gets is an error" 'for c in --help "run --help" --version; do timeout 60 "$solverfs" $c >/dev/full 2>err; [ $? = 4 ] && has err "standard output" || exit 1; done'
test_that "version --json is JSON" 'run 0 version --json && python3 -m json.tool <out >/dev/null && has out "\"libfuse\""'

# -- the store --

test_that "without a store every command says how to make one" \
	'for c in "solver list" "case list" "build a b" "run a b 1" status fsck gc "mount ."; do run 3 $c && has err "no store at .*solverfs init" || exit 1; done'
test_that "status 3 names the store given with --store" 'run 3 --store "$top/other" case list && has err "no store at $top/other.*--store .*init"'
test_that "init makes a store" 'run 0 init && has err "made a store" && empty out && [ -f "$SOLVERFS_STORE/config" ]'
test_that "a store in a folder that is no UTF-8" 'run 0 init -q --store "$top/"$'\''st\xff'\'' && run 0 status --json --store "$top/"$'\''st\xff'\'' && python3 -m json.tool <out >/dev/null'
test_that "it is closed to others" '[ "$(stat -c %a "$SOLVERFS_STORE")" = 700 ]'
test_that "init does not make it twice" 'run 1 init && has err "already"'
test_that "init says so when the folder holds something else" 'mkdir full && touch full/x && run 1 init --store full && has err "not empty" && [ -e full/x ]'
test_that "init makes no store inside of another, whose gc may take it away" '
	run 1 init --store "$SOLVERFS_STORE/work/inner" && has err "inside the store $SOLVERFS_STORE" && [ ! -e "$SOLVERFS_STORE/work/inner" ]'
test_that "--store behind the command counts as before it" 'run 0 init --store "$top/second" -q && empty err && run 0 --store "$top/second" case list'
test_that "a bare key of [solverfs] is refused, with its line" \
	'cp second/config config && printf "[solverfs]\n\tcrawler\n" >>second/config && run 4 --store second case list && has err "config:5: key .crawler. has no value"; r=$?; cp config second/config; (exit $r)'
test_that "an unknown key of [solverfs] is refused, with its line" \
	'printf "[solverfs]\n\tcoers = 1\n" >>second/config && run 4 --store second case list && has err "config:5: unknown key .coers.*cores"; r=$?; cp config second/config; (exit $r)'
test_that "a bad value of [solverfs] is refused, with its line" \
	'printf "[solverfs]\n\tgrace = soon\n" >>second/config && run 4 --store second case list && has err "config:5: key .grace. is .soon."; r=$?; cp config second/config; (exit $r)'
test_that "fsck says how to go back to the config as last read, which it then writes" \
	'cp second/config config && printf "[[x\n" >>second/config && run 4 --store second fsck && has err "config:4: .*move .*/second/config away and run .solverfs fsck. again" && mv second/config mangled && run 1 --store second fsck && cmp config second/config; r=$?; cp config second/config; (exit $r)'
test_that "an empty mount point can become a store" \
	'[ $(id -u) != 0 ] || (unshare -m bash -c "mkdir volume && mount -t tmpfs none volume && exec \"$solverfs\" init --store volume" >out 2>err && has err "made a store")'
test_that "an empty store lists nothing" 'run 0 solver list && empty out && run 0 case list && empty out'

# -- cases --

mkdir -p set/QF_S/deep set/.git
printf '; answer: sat\n(set-logic QF_S)\n(set-info :status sat)\n(check-sat)\n' >set/QF_S/a.smt2
printf '; answer: unsat\n(set-logic QF_S)\n(set-info :status unsat)\n(check-sat)\n' >set/QF_S/deep/b.smt2
printf '; answer: unknown\n(set-logic QF_LIA)\n(check-sat)\n' >"set/with space.smt2"
printf 'p cnf 1 1\n1 0\n' >set/c.cnf
echo notes >set/README
echo x >set/.git/x.smt2
weird=$'tab\there\nand \\ \xff.smt2'
printf '; answer: sat\n(set-info :status sat)\n(check-sat) ; weird\n' >"$weird"

test_that "case add FILE prints id, new and name" 'run 0 case add set/QF_S/a.smt2 && is out "1	new	a.smt2"'
test_that "the same bytes are one case, under the first name" 'cp set/QF_S/a.smt2 copy.smt2; run 0 case add copy.smt2 && is out "1	known	a.smt2"'
test_that "a name that other bytes have is refused" 'mkdir -p x && echo "(check-sat)" >x/a.smt2; run 1 case add x/a.smt2 && has err "a.smt2" && empty out'
test_that "--name names it" 'run 0 case add --name other.smt2 x/a.smt2 && is out "2	new	other.smt2"'
test_that "case add DIR names by the path below, in order" \
	'run 0 case add set && [ "$(field 3)" = "$(printf "%s\n" a.smt2 QF_S/deep/b.smt2 c.cnf "with space.smt2")" ]'
test_that "what is no case is passed over, and that is said" 'has err "files passed over.*: 1;"'
test_that "a name of any bytes is shown escaped" 'run 0 case add "$weird" && [ "$(field 3)" = "tab\\there\\nand \\\\ \\xff.smt2" ]'
test_that "case list has the id first, and columns" 'run 0 case list && [ "$(wc -l <out)" = 6 ] && [ "$(field 1 | head -3 | tr "\n" " ")" = "1 2 3 " ] && [ "$(sed -n 1p out | cut -f 2,3)" = "sat	QF_S" ]'
test_that "case list --json is an object a line" 'run 0 case list --json && [ "$(python3 -c "import json; print([json.loads(l)[\"id\"] for l in open(\"out\")])")" = "[1, 2, 3, 4, 5, 6]" ]'
test_that "cases are found by id, name, folder, pattern, range, digest" '
	run 0 case list 3 && [ "$(field 6)" = QF_S/deep/b.smt2 ] && run 0 case list a.smt2 && [ "$(field 1)" = 1 ] &&
	run 0 case list QF_S/ && [ "$(field 1)" = 3 ] && run 0 case list "*.cnf" && [ "$(field 1)" = 4 ] &&
	run 0 case list 2-4 && [ "$(field 1 | tr "\n" " ")" = "2 3 4 " ] &&
	run 0 case list "$(sha256sum <set/c.cnf | cut -c 1-9)" && [ "$(field 1)" = 4 ]'
test_that "a number that is no id is not taken for the start of a digest" '
	i=0; until sum=$(echo "; $i" | tee number.smt2 | sha256sum) && [[ $sum =~ ^[1-9][0-9]{3} ]]; do i=$((i + 1)); done
	run 0 --store second case add number.smt2 && run 3 --store second case list "${sum:0:4}" && has err "no case .${sum:0:4}." && run 0 --store second case list "${sum:0:12}"'
test_that "a file with the bytes is its case" 'run 0 case list set/QF_S/deep/b.smt2 && [ "$(field 1)" = 3 ]'
test_that "a file that is no case says how to add it" 'echo "(check-sat);n" >n.smt2; run 3 case list n.smt2 && has err "case add n.smt2"'
test_that "the order asked for is kept, each once" 'run 0 case list 3 1 3 && [ "$(field 1 | tr "\n" " ")" = "3 1 " ]'
test_that "set add makes a set, and says how many are new in it" 'run 0 set add smoke 3 1 QF_S/ && has err "set smoke: 2 added, 0 in it" && run 0 set add smoke 2-3 && has err "1 added, 1 in it" && empty out'
test_that "set list has the sets, set list NAME the cases in it" '
	run 0 set add one 4 && run 0 set list && is out "one	1
smoke	3" && run 0 set list smoke && [ "$(field 2 | tr "\n" " ")" = "1 2 3 " ] && run 0 set list --json one && python3 -m json.tool <out >/dev/null && has out "\"case\":4"'
test_that "set list reports an error at whatever it reads, and hides no case" '
	run 0 set list && cp out all && mkdir failing && for i in $(seq 0 99); do
		rm -f failing/*.met; echo "fail EMFILE after $i" >failing/store.read
		! SOLVERFS_FAULTS=$top/failing "$solverfs" set list >out 2>err || break
	done; cmp out all && [ "$i" -gt 2 ]'
test_that "a set's name stands for its cases" 'run 0 case list smoke 1 && [ "$(field 1 | tr "\n" " ")" = "1 2 3 " ] && run 0 case list one smoke && [ "$(field 1 | tr "\n" " ")" = "4 1 2 3 " ]'
test_that "set remove NAME CASE takes cases out, set remove NAME the set" '
	run 3 set remove smoke 99 && run 0 set remove smoke 2 1 && has err "taken out" && run 0 case list smoke && [ "$(field 1)" = 3 ] &&
	run 0 set remove smoke && run 3 case list smoke && has err "no case .smoke." && run 3 set remove smoke && has err "no set .smoke." && run 3 set list smoke && has err "no set .smoke."'
test_that "an empty set says so" 'run 0 set remove one 4 && run 3 case list one && has err "no cases in the set .one."'
test_that "a set cannot have the name of something else" 'for name in all 3 2-3 "a/b" "x*" .; do run 2 set add "$name" 1 && has err "set" || exit 1; done; run 3 set add fine nothere && run 3 set list fine'
test_that "all and 1-3 are all cases and a range, also if a case has that name" '
	mkdir words && for name in all 1-3 few z; do echo "(check-sat);$name" >words/$name; done && export SOLVERFS_STORE=$top/words/store && run 0 init && run 0 case add words/[a-z1]* &&
	run 0 case list all && [ "$(grep -c . out)" = 4 ] && run 0 case list 1-3 && [ "$(field 1 | tr "\n" " ")" = "1 2 3 " ] && run 0 case list && [ "$(grep -c . out)" = 4 ] &&
	run 0 set add few 1 4 && run 0 case list few && [ "$(grep -c . out)" = 1 ] && run 0 export --format csv --set few --output few.csv && run 0 case remove 1-3 && cd words && run 3 case list 1-3 && run 0 case list all && [ "$(field 1)" = 4 ]'
test_that "no such case is status 3" 'run 3 case list 99 && has err "no case .99." && empty out'
test_that "case add goes on behind what failed, and ends with 1" 'echo "(check-sat);m" >m.smt2; run 1 case add missing.smt2 m.smt2 && has err "missing.smt2" && has out "new	m.smt2"'
test_that "a log of Z3's API is no case, and it says what to write instead" \
	'printf "V \"4.8.12.0\"\nR\nC 3\n" >api.log; run 1 case add api.log && has err "smtlib2_log=FILE"'
test_that "an empty file is no case, as in the mount" ': >empty.smt2; run 1 case add empty.smt2 && has err "empty.smt2.*is empty" && empty out'
test_that "a pipe is no case" 'mkfifo fifo; run 1 case add fifo && has err "not a file"'
test_that "case remove takes it out, its id is not used again" \
	'run 0 case remove m.smt2 && run 3 case list m.smt2 && echo "(check-sat);o" >o.smt2 && run 0 case add o.smt2 && [ "$(field 1)" = 8 ]'
test_that "adding the bytes again brings it back" 'run 0 case add m.smt2 && [ "$(field 1)" = 7 ] && run 0 case list 7'
run 0 set add gone 1 8 && run 0 case remove 7 8
test_that "set list counts the cases that are there" 'run 0 set list && has out "^gone	1$" && run 0 set remove gone'

# -- a solver --

make_toy

test_that "an unknown recipe lists what there is" 'SOLVERFS_RECIPES=$top/recipes run 3 solver add nosuch toy --recipe nosuch && has err "no recipe .nosuch.*toy"'
test_that "a recipe's mistake names file and line" 'sed s/build/biuld/ recipes/toy.recipe >bad.recipe; run 1 solver add toy toy --recipe bad.recipe && has err "bad.recipe:[0-9]"'
test_that "a repository that is none is told" 'run 1 solver add toy nowhere --recipe recipes/toy.recipe && has err nowhere && run 0 solver list && empty out'
test_that "solver add NAME finds the recipe of that name" 'SOLVERFS_RECIPES=$top/recipes run 0 solver add toy toy && has err "toy: 3 commits"'
test_that "its variants come with it" 'run 0 solver list && [ "$(field 1 | tr "\n" " ")" = "toy toy-again " ] && [ "$(field 2 | sort -u)" = 3 ]'
test_that "solver list --json" 'run 0 solver list --json && [ "$(head -1 out | python3 -c "import json; o = json.loads(input()); print(o[\"name\"], o[\"commits\"], o[\"head\"])")" = "toy 3 $(git -C toy rev-parse HEAD)" ]'
test_that "a repository is listed as a name is, whatever is in its path" '
	run 0 -q init --store tabs && git clone -q --bare toy "$(printf "a\tb")" && run 0 solver add --store tabs toy "$(printf "a\tb")" --recipe recipes/toy.recipe && run 0 solver list --store tabs && [ "$(head -1 out | cut -f 6)" = "$top/a\\tb" ]'
test_that "a solver is not added twice" 'run 1 solver add toy toy --recipe recipes/toy.recipe && has err "already"'
test_that "the recipes that come with solverfs are found by name" 'run 1 solver add strand nowhere && has err nowhere'
test_that "so are those of an installation that was moved" '
	mkdir -p moved/bin moved/share/solverfs && cp -r recipes moved/share/solverfs/ && cp "$solverfs" moved/bin/ && (solverfs=$top/moved/bin/solverfs; run 0 recipe list) && has out "^toy	"'
test_that "the program knows no path of its source" 'strip -o stripped "$solverfs" && ! grep -qaF "$source_dir/" stripped'
test_that "no such solver is status 3" 'run 3 build nosuch HEAD && has err "nosuch.*toy"'
test_that "no such revision is status 3" 'run 3 build toy nosuch && has err nosuch && run 3 build toy -- --help && run 3 build toy "HEAD^{/(}"'

# -- build --

first=$(git -C toy rev-parse v1) last=$(git -C toy rev-parse v3)
broken=$(git -C toy rev-parse v3~1)
test_that "build prints commit, ok, seconds, size" 'run 0 build toy v1 && [ "$(field 1,2)" = "$first	ok" ] && [ "$(field 4)" = "$(git -C toy cat-file -s v1:toy.sh)" ]'
test_that "a failed build is status 1, with the log's end and the reason" 'run 1 build toy v3~1 && [ "$(field 1,2)" = "$broken	failed" ] && has err "no luck today" && has err "cannot be built"'
test_that "build --log prints the log alone" 'run 1 build toy v3~1 --log && has out "^no luck today$" && ! has out "	"'
test_that "a range is along first parents, oldest first" 'run 1 build toy v1..v3 && [ "$(field 1 | tr "\n" " ")" = "$broken $last " ]'
test_that "build --json" 'run 0 build toy v1 --json && [ "$(python3 -c "import json; o = json.load(open(\"out\")); print(o[\"ok\"], o[\"commit\"], o[\"outputs\"][0][\"name\"])")" = "True $first toy" ]'
test_that "build --output takes the program out" 'run 0 build toy v1 --output prog && [ -x prog ] && git -C toy cat-file blob v1:toy.sh | cmp - prog'
test_that "build -q says nothing of what went well" 'run 0 -q build toy v1 && empty err'

test_that "a pattern stands for tags, in the order of the history" 'run 0 build toy "v*" && [ "$(field 1 | tr "\n" " ")" = "$first $last " ] && run 3 build toy "w*" && has err "no tag of toy matches .w[*]."'
test_that "an empty range says so, and that it is the wrong way round" '
	run 0 build toy v3..v1 && empty out && has err "v3..v1: no commits in this range; v1..v3 has 2" && run 0 build toy v3..v3 && has err "v3..v3: no commits in this range$"'

# -- run --

test_that "run prints case, result, times, memory, commit, check, name" \
	'run 0 run toy v1 1 && [ "$(field 1,2,6,7,8)" = "1	sat	${first:0:12}	correct	a.smt2" ] && field 3,4 | grep -qE "^[0-9]+\.[0-9]{6}	[0-9]+\.[0-9]{6}$" && field 5 | grep -qE "^[0-9]+$"'
cp out before
test_that "a second time it is the same measurement" 'run 0 run toy v1 1 && cmp out before'
test_that "several cases come in the order asked for" 'run 0 run toy v1 3 1 5 && [ "$(field 1,2 | tr "\n" " ")" = "3	unsat 1	sat 5	unknown " ]'
test_that "all passes over what the solver does not take, and says so" 'run 0 run toy v1 1 3 "*.cnf" && [ "$(field 1 | tr "\n" " ")" = "1 3 " ] && has err "1 case passed over"'
test_that "a case of the wrong format alone is an error" 'run 3 run toy v1 4 && has err DIMACS && ! has err "passed over" && empty out'
test_that "several revisions: all cases of the first, then of the next, and the subjects" '
	run 0 run toy v1 v3 1 5 && [ "$(field 1,6,9 | tr "\t\n" "  ")" = "1 ${first:0:12} first 5 ${first:0:12} first 1 ${last:0:12} always sat 5 ${last:0:12} always sat " ]'
test_that "a range and a pattern of tags, on all" 'run 1 run toy v1..v3 1 && [ "$(field 2,9 | tr "\t\n" "  ")" = "unbuildable broken sat always sat " ] && run 1 run toy v1..v3 all && [ "$(grep -c unbuildable out)" = "$(grep -c "always sat" out)" ] && [ "$(grep -c unbuildable out)" -ge 4 ] && run 0 run toy "v*" 1 && [ "$(field 9 | tr "\n" " ")" = "first always sat " ]'
test_that "one revision has no subjects" 'run 0 run toy v1 1 && [ -z "$(field 10)" ] && field 9 | grep -qE "^(-|disturbed)$"'
test_that "a word that is neither is refused" 'run 3 run toy v1 nosuch 1 && has err ".nosuch. is no revision of toy, and no case" && empty out && run 3 run toy v1 n.smt2 1 && has err "case add n.smt2"'
test_that "a column of effort where the recipe has a pattern" '
	sed -e "s/samples = 1/&\n\teffort = seed ([0-9]+)/" -e "/variant/,\$d" recipes/toy.recipe >counted.recipe &&
	run 0 solver add counted toy --recipe counted.recipe && run 0 run counted v1 1 --seed 12 && [ "$(field 9)" = 12 ] &&
	run 0 run counted v1 1 && [ "$(field 9)" = - ] && run 0 run counted v1 v3 1 --seed 12 && [ "$(field 9,10 | tr "\t\n" "  ")" = "12 first 12 always sat " ];
	r=$?; run 0 solver remove counted; (exit $r)'
test_that "a wrong answer is loud: standard error, the row, status 1" 'run 1 run toy v3 3 && has err "WRONG ANSWER: toy ${last:0:12} says sat on case 3" && [ "$(field 2,7)" = "sat	WRONG" ]'
test_that "what cannot be checked is called neither" 'run 0 run toy v1 5 && [ "$(field 2,7)" = "unknown	-" ]'
test_that "it stays wrong when it is known already" 'run 1 -q run toy v3 3 && has err "WRONG ANSWER"'
unsanitized test_that "a stored answer is printed without libgit2, which takes longer to load than all else" '
	for c in "run toy v1 1" "build toy v1" "case list"; do LD_DEBUG=files run 0 -q $c && has err "liblmdb|libzstd" && ! has err libgit2 || exit 1; done'
test_that "an unbuildable commit is a result, and status 1" 'run 1 run toy v3~1 1 3 && [ "$(field 2 | sort -u)" = unbuildable ] && [ "$(grep -c "cannot be built" err)" = 1 ]'
test_that "--seed is handed to the solver" 'run 0 run toy v1 1 --seed 7 --print stderr && is out "seed 7"'
test_that "--print prints the mount's file" 'run 0 run toy v1 3 --print result && is out unsat && run 0 run toy v1 3 --print time && has out "^[0-9]+\.[0-9]{6}$"'
test_that "--print names all files that it knows" 'run 2 run toy v1 3 --print x && has err " queries.tsv"'
printf '; sleep: 30\n; answer: sat\n(check-sat)\n' >slow.smt2
run 0 case add slow.smt2
slow=$(field 1)
test_that "a timeout is an answer; its time is the limit" 'run 0 run toy v1 $slow --timeout 300ms && [ "$(field 2,3)" = "timeout	0.300000" ]'
printf '; sleep: 30\n; answer: sat\n(check-sat) ; another\n' >slower.smt2
run 0 case add slower.smt2
slower=$(field 1)
test_that "no estimate where nothing was measured" 'terminal "$solverfs" run toy v1 $slower --timeout 1500ms && has out "run toy .*case $slower" && has out "1.500000" && ! has out left'
test_that "then one that is no longer than it takes, and never 0s" '
	terminal "$solverfs" run toy v1 $slower --timeout 1500ms --again && has out "(s|most [123]s) left" && ! has out "[^1-9]0s left|[04-9]s left|[0-9]m "'
sed 's/build = .*/build = false/; /variant/,$d' recipes/toy.recipe >fails.recipe
sed 's/build = .*/build = "sleep 3; sh build.sh"/; /variant/,$d' recipes/toy.recipe >slow.recipe
run 0 solver add --recipe fails.recipe late toy && run 1 build late v1 && run 0 solver add --replace late --recipe slow.recipe
test_that "a build that failed at once says nothing of how long others take" 'terminal "$solverfs" build late v1 && has out "build late" && ! has out left'
run 0 solver remove late
hold_cores
waits_for_core() { terminal timeout -s INT "$1" "$solverfs" run toy v1 1 --seed 99; has out "run: waits for a core: somebody has core [0-9]+"; }
test_that "a run that waits for a core says so" 'waits_for_core 4 || waits_for_core 50'
stands_still() { terminal timeout -s INT "$1" "$solverfs" build toy v1 --again; has out "build toy .*; stands still, as run"; }
test_that "a build whose cores runs have says so" 'stands_still 4 || stands_still 50'
test_that "--wait gives up with status 75, and says who has the cores" '
	run 75 run toy v1 1 --seed 99 --wait 0 && has err "on case 1: waits for a core: somebody has core [0-9]+" && run 75 run toy v1 1 2 --seed 99 --wait 100ms && run 75 run toy v1 1 --seed 99 --wait 0s &&
	run 2 run toy v1 1 --wait never'
test_that "what is known needs no core" 'run 0 run toy v1 1 --wait 0'
test_that "status says who has cores" 'run 0 status && has err "core [0-9]+: somebody; somebody" && run 0 status --json && [ "$(python3 -c "import json; print(json.load(open(\"out\"))[\"cores\"][0][\"run\"])")" = "{}" ]'
let_cores_go
sed 's/build = .*/build = sleep 300/; /variant/,$d' recipes/toy.recipe >ages.recipe
run 0 solver add --recipe ages.recipe ages toy
"$solverfs" -q build ages v1 >/dev/null 2>&1 &
ages=$!
builds_for_ages() { run 0 status && has err "core [0-9]+: build ages " && { [ "$(nproc)" = 1 ] || [ "$(grep -c "build ages " err)" -ge 2 ]; }; }
await builds_for_ages
hold_cores "$(grep -c "^core [0-9]*: build ages " err)" # a build takes four at most
test_that "a run does not wait for builds that have all cores" 'run 0 run toy v1 1 --seed 98 --wait 0'
test_that "nor does another process's build" 'run 0 build toy v1 --again --wait 0'
let_cores_go
kill $ages && { wait $ages || true; }
run 0 solver remove ages
test_that "run --json has everything of the run" 'run 0 run toy v1 1 --json && [ "$(python3 -c "import json; o = json.load(open(\"out\")); print(o[\"case\"], o[\"result\"], o[\"wrong\"], o[\"commit\"], \"run\" in o)")" = "1 sat False $first True" ]'
test_that "--again measures once more, and the value becomes that of a later run when the median moves" '
	sleep 1; run 0 run toy v1 1 --json && cp out old && for i in $(seq 500); do
		run 0 run toy v1 1 --again --json || exit 1
		[ "$(python3 -c "import json; print(json.load(open(\"old\"))[\"measured\"] < json.load(open(\"out\"))[\"measured\"])")" = True ] && exit 0
	done; exit 1'
test_that "build --output writes through a pipe and a link, and leaves nothing beside" '
	mkdir outputs && mkfifo outputs/pipe && echo old >outputs/real && ln -s real outputs/link && { cat outputs/pipe >piped & } &&
	run 0 build toy v1 -o outputs/pipe && wait && [ -p outputs/pipe ] && cmp prog piped &&
	run 0 build toy v1 -o outputs/link && [ -L outputs/link ] && cmp prog outputs/real && [ "$(ls outputs | wc -l)" = 3 ]'
test_that "a case of the other format that is named is refused, in a pattern it is passed over" '
	run 0 case list --json && cnf=$(python3 -c "import json; print(*[o[\"id\"] for o in map(json.loads, open(\"out\")) if o[\"name\"] == \"c.cnf\"])") &&
	run 1 run toy v1 1 $cnf && has err "case $cnf is passed over: c.cnf is no SMT-LIB file" && has out "^1	" &&
	run 0 run toy v1 1-$cnf && has err "1 case passed over"'
test_that "without any recipe the complaint says where to get one" \
	'mkdir none && SOLVERFS_RECIPES=$top/none run 3 solver add nosuch toy --recipe nosuch && has err "no recipe .nosuch."'
test_that "nothing reads standard output: status 141, no noise" '{ timeout 60 "$solverfs" run toy v1 all 2>err; echo $? >out; } | true; is out 141 && ! has err write'
test_that "a full disk behind standard output is an error" 'for c in "case list" "run toy v1 1 3 --again" "build toy v1 v3" "run toy v1 1 --json"; do timeout 60 "$solverfs" -q $c >/dev/full 2>err; echo $? >out; is out 4 && is err "solverfs: cannot write to standard output: No space left on device" || exit 1; done'
test_that "... also of migrate-store" '"${solverfs%/*}/migrate-store" "$SOLVERFS_STORE" >/dev/full 2>err; [ $? = 1 ] && has err "standard output: No space left"'
test_that "status --watch ends with its reader, also while nothing runs" '{ timeout 60 "$solverfs" -q status --watch; echo $? >out; } | true; is out 141'
test_that "nor is anything said of a reader who has seen enough" '{ sleep 0.2; timeout 60 "$solverfs" -q run toy v1 1 3 --again 2>err; echo $? >out; } | true; is out 141 && empty err'
test_that "closed descriptors are not the store's: what is said goes nowhere" '
	printf "; answer: sat\n(check-sat) ; closed\n" >closed.smt2 && timeout 60 "$solverfs" case add closed.smt2 nowhere.smt2 <&- >&- 2>&-; [ $? = 4 ] && run 0 case list closed.smt2 && id=$(field 1) &&
	timeout 60 "$solverfs" -v -v run toy v3 $id 3 >out 2>&- <&-; [ $? = 1 ] && [ "$(wc -l <out)" = 2 ] && timeout 60 "$solverfs" run toy v1 $id 3 2>err >&-; [ $? = 4 ] && has err "Bad file descriptor" &&
	! grep -rlE "solverfs: |WRONG ANSWER:" "$SOLVERFS_STORE" | grep -v /log && run 0 fsck && run 0 case remove closed.smt2'

# -- interrupts --

# Nothing that was started may be left: not the solver, not a lock, not a claim.
left_behind() { pgrep -f "$top" | grep -vx $$ | while read -r pid; do tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null; echo; done | grep -v test_command; }
nothing_left() { [ -z "$(left_behind)" ]; } # what was killed may need a moment to go
interrupt() { # interrupt SIGNAL TIMES ARGUMENT...
	local signal=$1 times=$2 pid got
	shift 2
	env --default-signal=INT "$solverfs" "$@" >out 2>err </dev/null & # a shell starts background jobs with SIGINT ignored
	pid=$!
	await '"$solverfs" -q status 2>/dev/null | grep -q running'
	for _ in $(seq "$times"); do
		kill -"$signal" $pid 2>/dev/null
		sleep 0.05
	done
	wait $pid
	got=$?
	[ $got = 130 ] || echo "# ended with $got"
	[ $got = 130 ]
}
test_that "an interrupt ends a run with status 130" 'interrupt INT 1 run toy v1 $slow'
test_that "and leaves no process" 'await nothing_left'
test_that "and no job, and no lock" 'run 0 -q status && empty out && [ -z "$(ls "$SOLVERFS_STORE/claims" "$SOLVERFS_STORE/engines" "$SOLVERFS_STORE/scratch" | grep -v :)" ]'
test_that "a second interrupt changes nothing" 'interrupt INT 3 run toy v1 $slow && await nothing_left'
test_that "an ignored interrupt stays ignored" '
	"$solverfs" -q run toy v1 $slow --timeout 2s >out 2>err & pid=$!
	sleep 1; kill -INT $pid; wait $pid && has out "timeout"'
test_that "SIGTERM does the same" 'interrupt TERM 1 run toy v1 $slow && await nothing_left'
test_that "it is 130 of every command" '
	mkdir reading && for signal in INT TERM HUP; do
		echo block >reading/store.read && rm -f reading/store.read.met
		SOLVERFS_FAULTS=$top/reading env --default-signal=INT,TERM,HUP "$solverfs" set list >out 2>err & pid=$!
		await "[ -s reading/store.read.met ]" && kill -$signal $pid; wait $pid
		[ $? = 130 ] || exit 1
	done'
test_that "what was finished before is printed and kept" 'interrupt INT 1 run toy v1 1 $slow 3 && has out "^1	sat"'
test_that "two commands share one run" '
	printf "; sleep: 2\n; answer: sat\n(check-sat)\n; shared\n" >shared.smt2; run 0 case add shared.smt2; id=$(field 1)
	"$solverfs" run toy v1 $id --json >one 2>/dev/null & "$solverfs" run toy v1 $id --json >two 2>/dev/null; wait; [ -s one ] && cmp one two'
test_that "status shows what another process runs" '
	"$solverfs" -q run toy v1 $slow >/dev/null 2>&1 & pid=$!
	await "run 0 status; has out running"
	has out "^$pid	.*running.*run toy ${first:0:12} case $slow" && run 0 status --json && python3 -m json.tool <out >/dev/null; r=$?; kill $pid; wait $pid; (exit $r)'
test_that "and for how long by now, also where nothing has changed since" '
	"$solverfs" -q run toy v1 $slow >/dev/null 2>&1 & pid=$!
	await "run 0 status; has out running"
	kill -STOP $pid; before=$(field 4)
	await "run 0 status; [ \"\$(field 4)\" != \"$before\" ]"
	[ -n "$before" ] && [ "$(field 4)" != "$before" ]; r=$?; kill -CONT $pid; kill $pid; wait $pid; (exit $r)'

# -- history goes on --

test_that "solver update finds new commits" 'echo "# 4" >>toy/toy.sh && toy_commit 4 "fourth"; run 0 solver update toy && [ "$(field 1,2,3)" = "toy	1	4" ]'
test_that "and none the next time" 'run 0 solver update && [ "$(field 2)" = 0 ]'
test_that "a snapshot of a working tree is a commit like any other" '
	echo "# uncommitted" >>toy/toy.sh; run 0 snapshot toy toy && sha=$(cat out) && [ ${#sha} = 40 ] && run 0 build toy $sha -o prog && cmp prog toy/toy.sh &&
	[ -n "$(git -C toy status --porcelain)" ]'

test_that "a snapshot has a name, and only one of this history is taken" '
	run 0 snapshot toy toy --name wip && sha=$(cat out) && run 0 build toy wip -o named && cmp named toy/toy.sh && run 0 snapshot toy toy --name wip &&
	echo "# more" >>toy/toy.sh && run 1 snapshot toy toy --name wip && has err "already" && run 1 snapshot toy toy --name a/b && has err "cannot be a snapshot" &&
	git init -q other && echo x >other/x && run 1 snapshot toy other && has err "no commit in common" && run 0 snapshot toy other --force --name other && run 0 build toy wip~1'

# -- care --

test_that "doctor speaks of the store, and is JSON when asked" 'run 0 doctor || run 1 doctor; has out "^store	ok" && { run 0 doctor --json || run 1 doctor --json; } && python3 -c "import json; [json.loads(l) for l in open(\"out\")]"'
test_that "doctor names a file of the store that is of the future" '
	{ run 0 doctor --store second || run 1 doctor --store second; } && ! has out "^store-date" && touch -d "1 hour" second/config &&
	{ run 0 doctor --store second || run 1 doctor --store second; } && has out "^store-date	warning	.*second/config is of 2"; r=$?; touch second/config; (exit $r)'
test_that "doctor says that nothing is isolated where the config says so" \
	'cp second/config config && printf "[solverfs]\n\tsandbox = none\n" >>second/config && { run 0 doctor --store second || run 1 doctor --store second; } && has out "^store-sandbox	warning"; r=$?; cp config second/config; (exit $r)'
cat >noexec.sh <<'END'
mkdir noexec && mount -t tmpfs -o noexec none noexec || exit
export SOLVERFS_STORE=$PWD/noexec/store
"$1" init -q && "$1" -q solver add toy toy -r recipes/toy.recipe && "$1" -q case add set/QF_S/a.smt2 && "$1" doctor
"$1" -q run toy v1 1
echo "status $?"
END
test_that "a store that is mounted noexec: doctor says so, and a run fails for that reason, not as an error of the solver" '
	[ $(id -u) != 0 ] || { unshare -m bash noexec.sh "$solverfs" >out 2>err; has out "^store-programs	failed.*noexec" && has out "^status 4" && has err "mounted noexec"; }'
cat >null.sh <<'END'
mkdir devices && mount -t tmpfs none devices && mknod devices/null c 1 3 && chmod 644 devices/null && mount --bind devices/null /dev/null || exit
export SOLVERFS_STORE=$PWD/devices/store
"$1" init -q && "$1" -q solver add toy toy -r recipes/toy.recipe && "$1" -q case add set/QF_S/a.smt2
"$1" -q run toy v1 1
echo "status $?"
chmod 666 /dev/null
"$1" -q run toy v1 1
END
test_that "a /dev/null that not every user may use is the fault of the machine, and of no commit" '
	[ $(id -u) != 0 ] || { unshare -m bash null.sh "$solverfs" >out 2>err; cat out err >&2; has out "^status 4" && has err "chmod 666 /dev/null" && has out "	sat	"; }'
test_that "a limit on the size of files fails a write with its reason, and doctor names the limit" '
	head -c 200000 /dev/zero | tr "\0" ";" >large.smt2 && (ulimit -f 100 && run 1 --store second case add large.smt2) && has err "File too large" &&
	(ulimit -Sf 100; run 0 doctor --store second || run 1 doctor --store second) && has out "^limits	warning	.*100 KiB.*ulimit -f"'
unsanitized as_root "a machine without bubblewrap, or with too few threads or processes, has failed: status 4" '
	{ unshare -m sh -c "mount --bind /dev/null /usr/bin/bwrap; exec \"$solverfs\" run --seed 77 toy v1 1" >out 2>err; [ $? = 4 ]; } && has err "no bubblewrap" &&
	{ SOLVERFS_EXEC=/nothing "$solverfs" run --seed 77 toy v1 1 >out 2>err; [ $? = 4 ]; } && has err "SOLVERFS_EXEC" &&
	mkdir -m 777 small && cp -a "$SOLVERFS_STORE" small/s && chown -R 12345 small/s && chmod 711 "$top" &&
	{ (cd small; ulimit -Su 1; setpriv --reuid 12345 --clear-groups "$solverfs" --store s run --seed 78 toy v1 1) >out 2>err; [ $? = 4 ]; } && has err "Resource temporarily"; r=$?; chmod 700 "$top"; (exit $r)'
crlf() { printf "#!/bin/sh$1\necho sat\n" >crlf/p && git -C crlf add p && git -C crlf -c user.name=x -c user.email=x commit -qm p; }
not_begun='crlf [0-9a-f]{12}: the program cannot be executed: No such file or directory; its interpreter or loader is missing; once that is mended, .solverfs run --again. measures anew$'
test_that "a program that cannot be started is an error, and each command says why in the same words" '
	git init -q crlf && : >crlf/p && chmod +x crlf/p && crlf "" && crlf "\r" && toy_recipe crlf "build = true" "output = p" &&
	run 0 -q solver add crlf crlf -r crlf.recipe && run 0 run crlf HEAD 1 && has out "	error	" && has err "^solverfs: $not_begun" &&
	run 0 history crlf 1 --all && has err "^$not_begun" && run 0 history crlf 1 --known && has err "^$not_begun" &&
	run 0 compare crlf@HEAD~1 crlf@HEAD 1 && has err "^solverfs: $not_begun" &&
	run 0 localize crlf --reference HEAD~1 --target HEAD 1 && has err "^solverfs: $not_begun" && [ "$(grep -c "cannot be executed" err)" = 1 ] &&
	run 0 report crlf --output page.html && grep -q "cannot be executed: No such file" page.html &&
	{ run 0 watch crlf --once || run 6 watch crlf --once; } && has err "^$not_begun"'
test_that "a small soft limit on the stack is raised, a small hard one is refused with a sentence" '
	(ulimit -Ss 64; run 0 run --seed 79 toy v1 1) && (ulimit -s 64; run 4 case list) && has err "a stack may have 64 KiB.*ulimit -Hs"'
cat >inodes.sh <<'END'
mkdir inodes mounted && mount -t tmpfs -o size=200m,nr_inodes=600 none inodes || exit
export SOLVERFS_STORE=$PWD/inodes/store
"$1" init -q && "$1" -q solver add toy toy -r recipes/toy.recipe && "$1" -q case add set/QF_S/a.smt2 && "$1" -q run toy v1 1
n=0
while : 2>/dev/null >inodes/full$n; do n=$((n + 1)); done 2>/dev/null
"$1" -q run toy v1 1
echo "status $?"
"$1" -q mount mounted && cat mounted/toy/commits/v1/cases/1/result; "$1" -q unmount mounted
echo "unmounted $?"
"$1" doctor
END
test_that "on a disk without free inodes what is known is read, also through a mount; doctor says what is missing" '
	[ $(id -u) != 0 ] || { unshare -m bash inodes.sh "$solverfs" >out 2>err; has out "^status 0" && { [ ! -w /dev/fuse ] || has out "^unmounted 0"; } && ! has err "No such" && has out "^store-files	warning	.*df -i"; }'
test_that "a folder of temporary files that cannot be used, which no run does, is no fault of bubblewrap" '
	{ TMPDIR=/nonexistent run 0 doctor || TMPDIR=/nonexistent run 1 doctor; } && has out "^bubblewrap	ok"'
as_root "a read-only /run, and a root without capabilities: doctor says what to do" '
	unshare -m sh -c "mount -t tmpfs none /run && mount -o remount,ro /run && exec \"$solverfs\" doctor" >out 2>err; has out "^bubblewrap	failed	cannot make /run/solverfs.*--tmpfs /run.*other than root" &&
	{ setpriv --bounding-set -chown --inh-caps -chown "$solverfs" doctor >out 2>err; has out "^bubblewrap	failed	.*capability CHOWN.*other than root"; }'
as_root "doctor says that timed runs are refused under nice, where a user cannot go back" '
	mkdir -m 777 nice && chmod 711 "$top" && { (cd /; HOME=$top/nice SOLVERFS_STORE=$top/nice/s nice -n 5 setpriv --reuid 12345 --clear-groups "$solverfs" doctor) >out 2>err; [ $? = 1 ]; } &&
	has out "^timed-runs	failed	.*without .nice"; r=$?; chmod 700 "$top"; (exit $r)'
test_that "init in a folder that cannot be made: the same status, whatever the kernel calls it" '
	for d in /proc/x /dev/null/x /sys/x; do run 4 --store $d init || exit 1; done; run 1 --store second init'
test_that "a relative XDG_DATA_HOME is ignored" '
	(unset SOLVERFS_STORE; export XDG_DATA_HOME=rel HOME=$top/house; "$solverfs" init 2>err) && [ ! -e rel ] && [ -d house/.local/share/solverfs/lmdb ]'
as_root "another user's store is only read: what root writes there its owner could not open; doctor finds what was written before" '
	cp -a second others && chown -R 12345 others && run 4 --store others case list && has err "belongs to .*12345" && run 4 --store others mount m && has err "belongs to .*12345" &&
	run 0 --store others fsck -n && { run 0 --store others doctor || run 1 --store others doctor; } && ! has out "^store-owner" && [ -z "$(find others -user 0)" ] &&
	mkdir others/work/1 && run 1 --store others doctor && has out "^store-owner	failed	.*others/work/1 belongs to uid 0.*chown -R 12345 "'
test_that "fsck of a sound store finds nothing" 'run 0 fsck && ! has out "damaged|repaired" && has err "all is well"'
test_that "fsck --look-only does, too" 'run 0 fsck -n --json && has out "\"ok\":true"'
bytes=$(find "$SOLVERFS_STORE/cases" -type f -name "$(sha256sum <set/QF_S/a.smt2 | cut -c 1-64)*")
test_that "fsck finds a damaged case, says how to put it right" 'chmod u+w "$bytes" && cp "$bytes" kept && printf X | dd of="$bytes" conv=notrunc status=none && run 1 fsck && has out "^damaged	cases	.*" && has out "case add"'
test_that "adding it again puts it right" 'run 0 case add set/QF_S/a.smt2 && cmp "$bytes" kept && run 0 fsck'
lose() { rm -rf bare && cp -a "$SOLVERFS_STORE" bare && rm -r bare/lmdb; } # all but the journal
test_that "fsck says that everything is lost when journal and index are gone, once" '
	lose && rm bare/journal/* && run 1 --store bare fsck && has out "^damaged	store	.*lost" && ! has err "all is well" && run 0 --store bare fsck && has out "of no case"'
test_that "... or when the journal was cut to nothing: nothing was repaired" '
	lose && truncate -s 0 bare/journal/* && run 1 --store bare fsck && has out "^damaged	store	.*lost" && ! has out "^repaired"'
test_that "... any other command warns, once, and fsck says so afterwards" '
	lose && rm bare/journal/* && run 0 --store bare case list && empty out && has err "journal and index .*lost" && run 0 --store bare case list && empty err && run 1 --store bare fsck && has out "^damaged	store	.*lost"'
test_that "... without the index alone nothing is lost" 'lose && run 0 --store bare fsck && ! has out "damaged|repaired" && ! has err lost'
test_that "a commit whose object is damaged is told, once, where its subject would be" '
	run 0 run toy v1 v3 1 && cp out before && rm -rf bare && cp -a "$SOLVERFS_STORE" bare && r=bare/repos/toy.git && sha=$(git -C $r rev-parse v1) && mkdir packs && mv $r/objects/pack/* packs &&
	for p in packs/*.pack; do [ ! -e "$p" ] || git -C $r unpack-objects -q <"$p" || exit 1; done && f=$r/objects/${sha:0:2}/${sha:2} && chmod u+w $f && printf "\1\2\3" | dd of=$f bs=1 seek=20 conv=notrunc status=none &&
	run 0 --store bare run toy v1 v3 1 && [ "$(grep -c "commit $sha .*damaged" err)" = 1 ] && cut -f 1-8 out >theirs && cut -f 1-8 before | cmp - theirs &&
	run 0 --store bare export --format csv toy v1 && [ "$(grep -c "commit $sha .*damaged" err)" = 1 ]'
loose=$(find "$SOLVERFS_STORE/repos" -name "*.pack" | head -1)
test_that "fsck finds a damaged repository" '
	f=$loose; [ -n "$f" ] || f=$(find "$SOLVERFS_STORE/repos/toy.git/objects" -type f -path "*/??/*" | head -1)
	chmod u+w "$f" && cp "$f" kept && printf "\1\2\3" | dd of="$f" bs=1 seek=20 conv=notrunc status=none && run 1 fsck && has out "^damaged	repositories"; r=$?; cp kept "$f"; (exit $r)'
git init -q -b main holed && git -C holed config user.name T && git -C holed config user.email t@example.org && mkdir holed/in &&
	for i in 1 2 3; do echo $i >holed/in/a; git -C holed add in && git -C holed commit -qm $i; done
sed '/^.variant/,$d' recipes/toy.recipe >wide.recipe
object() { git -C holed rev-parse "$1" | sed 's,..,objects/&/,'; }
file=$(object HEAD~1:in/a) folder=$(object HEAD~1:in) whole=$(object HEAD:in/a)
test_that "fsck names what a repository lacks, with the commit and the path" '
	mkdir away && mv "holed/.git/$file" away/file && mv "holed/.git/$folder" away/folder && run 0 init -q --store third &&
	run 0 --store third solver add holed holed --recipe recipes/toy.recipe && run 1 --store third fsck &&
	has out "^damaged	repositories	holed: .* lacks objects .*first in of commit $(git -C holed rev-parse HEAD~1): .*fetch --refetch"'
test_that "it puts back what upstream has, also for a damaged object, and --look-only says that it would" '
	cp away/file "holed/.git/$file" && cp away/folder "holed/.git/$folder" && chmod u+w "third/repos/holed.git/$whole" && echo x >"third/repos/holed.git/$whole" &&
	run 1 --store third fsck -n && has out "^damaged	repositories	holed: .solverfs fsck. puts back 3 lost or damaged objects" && [ "$(grep -c . out)" = 1 ] && run 1 --store third fsck && has out "^repaired	repositories	holed: put back 3 " && ! has out "^damaged" &&
	run 0 --store third fsck && git -C third/repos/holed.git fsck --strict'
test_that "on a full disk a damaged object stays what it is" '
	random_bytes 9000000 >holed/in/large && git -C holed add in && git -C holed commit -qm large && run 0 --store third solver update holed && large=$(object HEAD:in/large) &&
	rm -rf third/repos/holed.git/objects/pack/* && mkdir -p "third/repos/holed.git/${large%/*}" && echo x >damage && cp damage "third/repos/holed.git/$large" && (trap "" XFSZ; ulimit -f 8000; run 1 --store third fsck) &&
	has out "$large is damaged" && cmp damage "third/repos/holed.git/$large" && [ ! -e third/repos/holed.git/objects/put-back ] && run 1 --store third fsck && ! has out "^damaged" &&
	cmp holed/in/large <(git -C third/repos/holed.git cat-file -p HEAD:in/large)'
test_that "the way that fsck names works" '
	rm -f "third/repos/holed.git/$file" && mv holed elsewhere && run 1 --store third fsck && has out "fetch --refetch REPO" &&
	git -C third/repos/holed.git fetch -q --refetch "$top/elsewhere" && run 0 --store third fsck; r=$?; mv elsewhere holed; (exit $r)'
test_that "files that a partial clone lacks are told when it is added, and are a note" '
	run 0 --store third solver remove holed toy-again && git -C holed config uploadpack.allowFilter true &&
	git clone -q --bare --filter=blob:none "file://$top/holed" partial && run 0 --store third solver add partial partial --recipe recipes/toy.recipe &&
	has err "is a partial clone, and lacks files of its commits .4., first of $(git -C holed rev-parse HEAD~3):" && run 0 --store third fsck &&
	has out "^note	repositories	partial: .*[(]4[)].*partial clone, first in/a of commit $(git -C holed rev-parse HEAD~3)"'
test_that "the same of a clone that borrows its objects from a partial one" '
	git clone -q --bare --shared partial borrower && run 0 --store third solver add borrower borrower --recipe wide.recipe && has err "partial clone, and lacks files of its commits .4., first of" &&
	run 0 --store third fsck && has out "^note	repositories	borrower: .*[(]4[)].*partial clone" && run 4 --store third build borrower HEAD && has err "lacks in/a .*partial clone"'
test_that "an update from a partial clone takes what is there" '
	echo 5 >holed/in/b && git -C holed add in && git -C holed commit -qm 5 && git -C partial fetch -q origin main:main && run 0 --store third solver update partial &&
	has err "lacks files of its commits .*, first of $(git -C holed rev-parse HEAD):" && run 0 --store third fsck && [ "$(git -C third/repos/partial.git rev-parse main)" = "$(git -C holed rev-parse main)" ]'
test_that "fsck shows its progress within a commit of many folders" '
	make_repository wide && python3 -c "
print(\"commit refs/heads/main\ncommitter T <t@example.org> 1700000000 +0000\ndata 0\")
for i in range(400): print(f\"M 100644 inline {i % 200}/{i}/a\ndata {len(str(i))}\n{i}\")" | git -C wide fast-import --quiet &&
	run 0 --store third solver add wide wide --recipe wide.recipe && mkdir slow && echo "delay 5" >slow/fsck.folder &&
	SOLVERFS_FAULTS=$top/slow terminal "$solverfs" --store third fsck && has out "0/1  repository wide"'
in_store() { find "$SOLVERFS_STORE" -path '*/lmdb' -prune -o -type f -printf '%P %s\n' | sort; } # with its size
test_that "gc --dry-run frees nothing" '
	in_store >before && run 0 gc --dry-run --keep 0 && [ "$(field 1 | tr "\n" " ")" = "leftovers copies worktrees ccache programs downloads journal " ] && in_store | cmp - before &&
	[ "$(ls "$SOLVERFS_STORE/programs" | wc -l)" -gt 0 ]'
test_that "gc --keep of ten bytes is a slip" 'run 2 gc --keep 10 && has err "write a unit, such as 10g" && run 2 gc --keep 1048575 && run 0 gc -n --keep 1k'
test_that "gc --keep 0 takes every program and worktree, and no measurement" '
	run 0 run toy v1 1 && cp out before && run 0 gc --keep 0 && has err "this frees every built program: [1-9]" && [ "$(grep -v ^journal out | cut -f 4 | sort -u)" = 0 ] && [ -z "$(ls "$SOLVERFS_STORE/programs")" ] &&
	run 0 run toy v1 1 && cmp out before'
# gc_asked ANSWER: `gc --keep 0` on a terminal; what it says is in out
gc_asked() {
	ANSWER=$1 timeout 60 python3 -c '
import os, pty, sys
answer, out = os.environ["ANSWER"].encode(), b""
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    out += piece
    if answer and b"[y/N] " in out:
        os.write(terminal, answer + b"\n")
        answer = b""
open("out", "wb").write(out)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$solverfs" gc --keep 0
}
test_that "gc asks on a terminal before it takes everything" '
	run 0 run toy v1 1 --again -q && run 0 build toy v1 && gc_asked n && has out "free them\? \[y/N\]" && run 0 gc -n && [ "$(grep ^programs out | cut -f 4)" -gt 0 ] &&
	gc_asked y && run 0 gc -n && [ "$(grep ^programs out | cut -f 4)" = 0 ]'
test_that "a program that was taken is built again" 'run 0 build toy v1 -o prog && git -C toy cat-file blob v1:toy.sh | cmp - prog'
# gc_keeps ARGUMENT...: how many caches and programs `gc -n` would free, and the bytes that it would leave of all that --keep counts
gc_keeps() { run 0 gc -n "$@" && awk '/^(copies|worktrees|ccache|programs)/ { left += $4; freed[$1] = $2 } END { print freed["ccache"], freed["programs"], left }' out; }
test_that "gc --keep takes the programs built longest ago, and the compiler cache only if that alone is too much" '
	run 0 build toy v1 HEAD && mkdir -p "$SOLVERFS_STORE/work/ccache" && head -c 3M /dev/zero >"$SOLVERFS_STORE/work/ccache/object" && read -r _ _ left < <(gc_keeps) &&
	[[ $(gc_keeps --keep $left) = "0 0 "* && $(gc_keeps --keep $((left - 1))) = "0 1 "* && $(gc_keeps --keep 2m) = "1 0 "* ]]; r=$?
	rm "$SOLVERFS_STORE/work/ccache/object"; [ $r = 0 ]'
test_that "gc takes a clone that was killed" 'mkdir -p "$SOLVERFS_STORE/repos/stray.part/objects" && run 0 gc && has err "stray.part" && [ ! -e "$SOLVERFS_STORE/repos/stray.part" ]'
test_that "gc takes the repository of no solver" 'mkdir -p "$SOLVERFS_STORE/repos/stray.git" && run 0 gc && has err "stray" && [ ! -e "$SOLVERFS_STORE/repos/stray.git" ] && [ -e "$SOLVERFS_STORE/repos/toy.git" ]'

test_that "a solver whose repository is not there just now is not added over" '
	run 0 --store second solver add toy toy --recipe recipes/toy.recipe && mv second/repos/toy.git away.git && cp second/config config &&
	run 0 --store second solver list && empty out && run 1 --store second solver add toy toy --recipe recipes/toy.recipe && has err "already" && cmp config second/config'
test_that "and can be removed" '
	run 1 --store second solver remove toy && has err "toy-again is a variant of toy" &&
	run 0 --store second solver remove toy toy-again && ! grep -q toy second/config && run 3 --store second solver remove toy'
git init -q -b main forgetful && git -C forgetful config user.name T && git -C forgetful config user.email t@example.org &&
	git -C forgetful commit -q --allow-empty -m 1 && git -C forgetful branch gone && git -C forgetful checkout -q gone &&
	git -C forgetful commit -q --allow-empty -m 2 && git -C forgetful checkout -q main && lost=$(git -C forgetful rev-parse gone)
test_that "a solver that was removed and is added again has its snapshots and the commits that its repository has lost since" '
	run 0 --store second solver add forgetful forgetful --recipe recipes/toy.recipe && echo x >forgetful/x && run 0 --store second snapshot forgetful forgetful --name mine &&
	run 0 --store second solver remove forgetful toy-again &&
	git -C forgetful branch -q -D gone && git -C forgetful reflog expire --expire=now --all && git -C forgetful gc -q --prune=now &&
	run 0 --store second solver add forgetful forgetful --recipe recipes/toy.recipe && run 1 --store second build forgetful mine && run 1 --store second build forgetful "$lost" && run 0 --store second fsck'
test_that "unless gc has taken its repository" '
	run 0 --store second solver remove forgetful toy-again && run 0 --store second gc &&
	run 0 --store second solver add forgetful forgetful --recipe recipes/toy.recipe && run 4 --store second build --again forgetful "$lost" && has err "lacks .*$lost" &&
	run 0 --store second solver remove forgetful toy-again'
test_that "gc --keep counts and takes programs that no build has" '
	sed "/output/a output = nothing" recipes/toy.recipe >half.recipe && sed -i "s/build = .*/build = sh build.sh \\&\\& echo >>toy/" half.recipe &&
	run 0 --store second solver add half toy --recipe half.recipe && run 1 --store second build half v1 && has err "the build made no nothing" &&
	run 0 --store second gc -n && [ "$(grep ^programs out | cut -f 4)" -gt 0 ] && run 0 --store second gc --keep 0 && [ "$(grep ^programs out | cut -f 2,4)" = "1	0" ] &&
	run 0 --store second gc -n && [ "$(grep ^programs out | cut -f 2,4)" = "0	0" ]'

# -- mount, as far as it goes without one --

test_that "mount makes no folder by itself" 'run 3 mount nowhere/mnt && has err "mkdir -p nowhere/mnt" && [ ! -e nowhere ]'
test_that "mount refuses a file" 'run 1 mount n.smt2 && has err "not a folder"'
test_that "mount refuses a folder inside the store" 'mkdir "$SOLVERFS_STORE/m" && run 1 mount "$SOLVERFS_STORE/m" && has err "inside the store" && rmdir "$SOLVERFS_STORE/m"'
test_that "mount refuses a folder that holds the store" 'run 1 mount "$top" && has err "cover"'
test_that "unmount of what is no mount is status 3" 'mkdir -p m && run 3 unmount m && has err "nothing of solverfs is mounted"'
test_that "unmount of what is not there is status 3" 'run 3 unmount nowhere'

test_that "an option that would do nothing is refused" '
	for c in "run toy v1 1 --machine lab --on lab" "compare toy@v1 toy@v3 1 --pairs 9 --one-seed" "alarms toy --mark 1 fixed --json" "triage toy --set v1 fix --json" \
		"findings toy --mark 1 fixed --json" "findings toy --mark 1 fixed --kind spr" "findings toy --mark 1 fixed --campaign a" "findings toy --mark 1 fixed --all"; do
		run 2 $c && has err "exclude each other" || exit 1
	done'

# -- the scripts --

completion=$source_dir/tools/completions/solverfs.bash
test_that "bash completes commands, solvers, cases" '
		complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _solverfs "$1" "${replaced-${*: -1}}" "${*: -2:1}"; echo "${COMPREPLY[*]}"; }
		PATH=$(dirname "$solverfs"):$PATH; . "$completion"
		[ "$(complete_line solverfs sta)" = status ] && [ "$(complete_line solverfs solver u)" = update ] && [ "$(complete_line solverfs run to)" = "toy toy-again" ] &&
		[ "$(complete_line solverfs run toy v)" = "v1 v3" ] && [ "$(complete_line solverfs run toy v1 al)" = all ] && [ "$(complete_line solverfs run --se)" = --seed ] &&
		[ "$(complete_line solverfs run toy v1..v)" = "v1..v1 v1..v3" ] && [ "$(replaced=@v complete_line solverfs compare toy @ v)" = "@v1 @v3" ] &&
		[ "$(complete_line solverfs compare toy@v)" = "toy@v1 toy@v3" ] && [ "$(complete_line solverfs compare toy @ v1 to)" = "toy toy-again" ] &&
		complete_line solverfs compare toy @ | tr " " "\n" | grep -qx @v3 && [ "$(complete_line solverfs localize toy 1 --reference v)" = "v1 v3" ] && cp recipes/toy.recipe recipes/zebra.recipe &&
		[ "$(SOLVERFS_RECIPES=$top/recipes; export SOLVERFS_RECIPES; complete_line solverfs solver add x y --recipe ze)" = zebra ]'
test_that "bash takes no argument of an option for a word, and no flag for an option with one" '
		complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _solverfs; echo "${COMPREPLY[*]}"; }
		PATH=$(dirname "$solverfs"):$PATH; . "$completion"
		[ "$(complete_line solverfs export --format csv to)" = "toy toy-again" ] && [ "$(complete_line solverfs build -n to)" = "toy toy-again" ] && [ "$(complete_line solverfs build -n toy v)" = "v1 v3" ] &&
		[ "$(complete_line solverfs run -o local toy v)" = "v1 v3" ] && [ -z "$(complete_line solverfs run --on toy-ag)" ] && [ "$(complete_line solverfs history toy --svg recipes/toy.rec)" = recipes/toy.recipe ] && [ "$(complete_line solverfs --wait 1s run to)" = "toy toy-again" ] &&
		[ "$(SOLVERFS_STORE=/nowhere complete_line solverfs fsck --dry)" = --dry-run ] && [ "$(complete_line solverfs transform -n 3 scr)" = scramble ]'
test_that "bash completes the names of cases" '
		complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _solverfs; echo "${COMPREPLY[*]}"; }
		PATH=$(dirname "$solverfs"):$PATH; . "$completion"; run 0 case list && name=$(field 6 | grep -E "^[a-z0-9_.-]{3,}$" | head -1) && [ -n "$name" ] &&
		complete_line solverfs run toy v1 "${name%?}" | tr " " "\n" | grep -qxF -- "$name"'
test_that "mount.solverfs calls solverfs as mount(8) means it" '
	mkdir -p fake/bin fake/sbin && cp "$source_dir/tools/mount.solverfs" fake/sbin && printf "#!/bin/sh\nprintf \"%%s|\" \"\$@\"\n" >fake/bin/solverfs && chmod +x fake/bin/solverfs &&
	fake/sbin/mount.solverfs "/a store" /mnt -o rw,noauto,x-systemd.automount,allow_other,max_threads=3 >out 2>err && is out "--store|/a store|mount|-o|allow_other,max_threads=3|--|/mnt|" &&
	fake/sbin/mount.solverfs store /mnt -o relatime,nodiratime,nolazytime,strictatime,noiversion,silent,loud,mand,cached >out 2>err && is out "--store|store|mount|-o|cached|--|/mnt|" &&
	mkdir -p fake/ids && printf "#!/bin/sh\n[ \$1 = -u ] && echo 0 || echo root\n" >fake/ids/id && printf "#!/bin/sh\nprintf \"%%s|\" \"\$@\"\n" >fake/ids/runuser && printf "#!/bin/sh\necho ada\n" >fake/ids/stat &&
	chmod +x fake/ids/* && PATH=$PWD/fake/ids:$PATH fake/sbin/mount.solverfs store /mnt >out 2>err && has out "^-u\|ada\|--\|.*/bin/solverfs\|--store\|store\|mount\|" &&
	printf "#!/bin/sh\n[ \$3 = %%U ] && echo UNKNOWN || echo 4711\n" >fake/ids/stat && ! PATH=$PWD/fake/ids:$PATH fake/sbin/mount.solverfs store /mnt >out 2>err && has err "store.s owner, 4711, has no name here: say setuid=USER" &&
	! fake/sbin/mount.solverfs store /mnt -o remount,rw >out 2>err && has err "cannot be remounted: unmount" &&
	! fake/sbin/mount.solverfs store /mnt -o setuid= >out 2>err && has err "setuid= needs a user"'

echo "1..$n"
