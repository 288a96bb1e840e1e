#!/bin/bash
# What `solver try` finds in recipes, a mistake in each, and `recipe list` and `show`. Prints TAP. Usage: test_try.sh SOLVERFS
. "$(dirname "$0")/command.sh"

# A solver that decides by the text of its case, counts, takes a seed, and has ways to go wrong.
git init -q -b main source
cat >source/solve.sh <<'END'
#!/bin/sh
seed=none
for word; do
	case $word in
	--seed=[0-9]*) seed=$word ;;
	--mute) exit 3 ;;
	--killed) kill -KILL $$ ;;
	--late) sleep 100 ;;
	-*) echo "unknown option $word" >&2 && exit 2 ;;
	*) file=$word ;;
	esac
done
echo "steps: 12" >&2
[ "$(wc -c <"$file")" -lt 1000 ] || echo "work: 34" >&2 # as some do that print what they have counted only
grep -q 'not p\|^-1 0' "$file" && echo unsat || echo sat
END
# One that does not know the logic of the first formulas, and ends then as it does for a wrong option.
{ head -1 source/solve.sh; echo 'for file; do grep -q QF_UF "$file" 2>/dev/null && exit 2; grep -q "x #x02" "$file" 2>/dev/null && echo "steps: 12" >&2 && echo unsat && exit; done'; tail -n +2 source/solve.sh; } >source/picky.sh
printf '#!/bin/sh\necho "s SATISFIABLE"\n' >source/dimacs.sh
chmod +x source/*.sh && echo 'int main(void) { return 0; }' >source/main.c
git_commit() { git -C source add -A && git -C source -c user.name=Toy -c user.email=toy@example.org commit -qm "$1" && git -C source tag "$1"; }
mkdir source/doc && echo text >source/doc/text
git_commit v1
# recipe LINE...: a sound one, with these lines for the keys that they name
recipe() {
	printf '[solver]\n  paths = solve.sh\n  build = cp solve.sh toy\n  output = toy\n  run = {bin} {seed} {case}\n  seed = --seed={n}\n  effort = "steps: ([0-9]+)"\n' >toy.recipe
	for line; do
		sed -i "/^  ${line%% *} =/d" toy.recipe
	done
	for line; do echo "  $line" >>toy.recipe; done
}
# row CHECK OUTCOME PATTERN
row() { grep -qE "^$1	$2	$3" out; }
try() { run "$1" solver try --recipe toy.recipe source "${@:2}"; }
no_trace() { [ -z "$(ls -d "$top"/tmp/* 2>/dev/null)" ]; }
mkdir tmp && export TMPDIR=$top/tmp

recipe
test_that "a sound recipe" 'try 0 && row paths ok "" && row build ok ".* toy of" && row answer ok "sat and unsat are read" && row effort ok steps && row seed ok "" && row reproducible ok "two clean" && has err "nothing is wrong" && no_trace'
test_that "--once does not build again" 'try 0 --once && ! row reproducible "" ""'
test_that "as JSON" 'try 0 --json --once && [ "$(grep -c "\"outcome\":\"ok\"" out)" = "$(wc -l <out)" ]'
recipe 'run = {bin} --killed {seed} {case}'
test_that "a run that is killed is repeated before it is told" '
	run 1 -v solver try --once --recipe toy.recipe source && has err "a run of .* is repeated: it was killed" && row answer problem ".*it was ended by signal 9"'
recipe "paths = solve.sh" "paths = nowhere"
test_that "paths that are in no commit" 'try 1 --once && row paths problem ".nowhere. is in no commit"'
recipe "paths = solve.sh" && printf '[era "..v1"]\n  paths = solve.sh\n  paths = CMakeList.txt\n  build = cp solve.sh toy\n' >>toy.recipe
test_that "... also of an era, behind one that the recipe has, too" 'try 1 --once && row paths problem ".CMakeList.txt. is in no commit: .* of era ..v1$"'
recipe "output = other" "build = cp solve.sh toy"
test_that "no output: what was made is said" 'try 1 && row build problem "the build made no other; programs that it made: toy: say one of these as .output." && row answer skipped "" && row seed skipped "" && row reproducible skipped ""'
recipe "build = nosuchtool"
test_that "a tool that is not there, and the end of the log" 'try 1 && row build problem ".*status 127: what is not found is not installed here" && has err "nosuchtool: not found"'
recipe 'build = "echo before; echo CMake Error at lists:3: doc is not an existing directory; echo behind; seq 1000 1100; exit 1"'
test_that "an error far above the end of the log is shown, and advice is of it" '
	try 1 --once && row build problem ".*the commit has doc, and .paths. leaves it out: add .paths = doc.$" && has err "^before$" && has err "^CMake Error at lists:3" && has err "^behind$" && ! has err "^1050$" && has err "^1100$" && has err "^\.\.\.$"'
recipe 'build = "echo Could N\\OT find Optional; seq 1000 1100; echo x.c:1:2: error: no luck; exit 1"'
test_that "what was not found long before is not the advice" 'try 1 --once && row build problem ".*says why$" && has err "error: no luck" && ! has err "^Could NOT"'
recipe 'build = "echo FAI\\LED: x.o; echo ninja says no; seq 1000 1100; exit 1"'
test_that "what ninja could not make is shown" 'try 1 --once && has err "^FAILED: x.o" && has err "^ninja says no" && ! has err "^1050$"'
recipe 'build = "echo 0 errors: none; seq 1000 1100; exit 1"'
test_that "of a log without an error, the end" 'try 1 --once && ! has err "^0 errors" && has err "^1100$" && ! has err "^1050$"'
recipe "run = {bin} --mute {seed} {case}"
test_that "an answer that is not recognised" 'try 1 --once && row answer problem "on a formula that is sat: no answer was found, status 3, it printed nothing" && row effort skipped "" && row seed skipped ""'
recipe "run = {bin} --frob {seed} {case}"
test_that "an option that the solver does not know" 'try 1 --once && row answer problem ".*status 2, it printed .unknown option --frob."'
recipe "run = {bin} --late {seed} {case}" "timeout = 300ms"
test_that "no answer in time" 'try 1 --once && row answer problem ".*no answer within 300ms"'
recipe 'effort = "stops: ([0-9]+)"'
test_that "a pattern that matches nothing" 'try 1 --once && row effort problem ".stops: .*matches nothing" && row seed ok "" && has err "^1 problem$"'
recipe 'effort = "work: ([0-9]+)"'
test_that "a count that is printed where there was work" 'try 0 --once && row effort ok work && [ "$(grep -c "^effort" out)" = 1 ]'
recipe "seed = --sed {n}"
test_that "a seed that the solver does not take" 'try 1 --once && row seed problem "with .--sed \{n\}. and 1 for \{n\} it ends with status 2, it printed .unknown option --sed." && row answer ok ""'
recipe 'build = "cp solve.sh toy && head -c 8 /dev/urandom | od -An -tx1 | sed \"s/^/#/\" >>toy"'
test_that "a build that is not reproducible" 'try 1 && row reproducible problem "two clean builds differ: output toy differs in"'
recipe "effort = (x)" "seed = --sed {n}" "paths = solve.sh" "paths = nowhere"
test_that "several mistakes are told at once" 'try 1 --once && [ "$(grep -c "	problem	" out)" = 3 ] && has err "^3 problems$"'
recipe "dependency = /opt/solverfs-not-there"
test_that "a dependency that is not there" 'try 1 --once && row dependency problem "there is no folder /opt/solverfs-not-there" && row build problem ".*is not there"'
recipe && printf '[era "..v9"]\n  build = cp solve.sh toy\n' >>toy.recipe
test_that "an era of a revision that is not there" 'try 1 --once && row era problem ".*no revision .v9." && row build problem ""'
recipe 'paths = picky.sh' 'build = cp picky.sh toy' 'seed = --sed {n}'
test_that "the seed is tried on a formula that it answers" 'try 1 --once && row answer ok "" && row seed problem "with .--sed"'
recipe "format = any"
test_that "one of every format: by what it answers" 'try 0 --once && row answer ok "sat and unsat are read" && row seed ok ""'
{ for _ in $(seq 100); do echo "c $(printf %060d 0)"; done; printf 'p cnf 1 1\n1 0\n'; } >long.dimacs && cp long.dimacs long
recipe "format = any" 'paths = dimacs.sh' 'build = cp dimacs.sh toy' "seed = " "effort = "
sed -i '/^  seed = $/d; /^  effort = $/d; s/{seed} //' toy.recipe
test_that "... of a file, by what the file is" 'try 0 --once HEAD "$top/long" && row answer ok "sat is read"'
recipe "format = cnf"
test_that "a format that is not its own" 'try 1 --once && row answer problem "" && has out "s SATISFIABLE"'
with_cc() { where "command -v cc" "a C compiler" test_that "$@"; } # with_cc DESCRIPTION COMMAND...
recipe "paths = main.c" 'build = "cc -shared -fPIC -o libpart.so main.c && echo \"int main(void) { return 0; }\" >m.c && cc -o toy m.c -Wl,--no-as-needed -L. -lpart"'
with_cc "a library that is not there" 'try 1 --once && row start problem "it lacks libpart.so: link it statically"'
recipe "paths = main.c" "build = cc -o toy main.c" "memory = 2m"
with_cc "memory that is too little for the C library" 'try 1 --once && row answer problem ".*it needs more than 2m of memory: raise .memory"'
recipe "paths = main.c" "build = cp main.c toy"
test_that "a first output that is no program" 'try 1 --once && row "(start|answer)" problem ""'
echo "[solver" >toy.recipe
test_that "a recipe with a mistake is not tried" 'try 1 && has err "toy.recipe:1" && empty out && no_trace'

recipe && run 0 init -q && run 0 solver add toy source --recipe toy.recipe -q
printf '(assert (not p))\n(check-sat)\n' >a.smt2
test_that "a solver of the store, at a revision, on a file: the build stays, the run does not" '
	run 0 solver try toy v1 a.smt2 && row answer ok "unsat is read" && run 0 case list && empty out && run 0 build toy v1'
test_that "on a case of the store" 'run 0 case add a.smt2 && run 0 solver try toy v1 1 --once && row answer ok unsat && run 3 solver try toy v1 nowhere && run 3 solver try toy v9 && run 3 solver try nowhere && run 2 solver try'
recipe 'build = "head -c 60000000 /dev/zero | tail -n 1 >big && cp solve.sh toy"' "build-memory = 20m"
test_that "a build that its limit ended begins again when the limit is raised, and not before" '
	run 0 solver add --replace toy source --recipe toy.recipe -q && run 1 build toy v1 --json && has out "20m of memory" && cp out before && run 1 run toy v1 1 && run 1 build toy v1 --json && cmp out before &&
	sed -i "s/= 20m/= 1g/" toy.recipe && run 0 solver add --replace toy source --recipe toy.recipe -q && run 0 run toy v1 1 && [ "$(field 2)" = unsat ] && run 0 build toy v1'

hold_cores
test_that "--wait gives up: no core is free" 'limit=30 run 75 solver try toy v1 1 --once --wait 0 && has err "waits for a core: somebody has core"'
let_cores_go

test_that "recipes are listed, with what they say of themselves" 'run 0 recipe list && has out "^strand	/.*/strand.recipe	strand, the string solver" && run 0 recipe list --json && has out "\"name\":\"strand\""'
test_that "and shown" 'run 0 recipe show strand && cmp out "$source_dir/examples/recipes/strand.recipe" && run 3 recipe show nowhere && has err "no recipe .nowhere." && run 2 recipe show'
printf '[solver]\nbiuld = x\n' >bad.recipe
test_that "one with a mistake, too" 'run 1 recipe show ./bad.recipe && cmp out bad.recipe && has err "did you mean .build."'
cp toy.recipe toy.conf
test_that "a recipe file that is named like a recipe" 'run 3 solver add --replace toy --recipe toy.conf && has err "for the file of that name, give ./toy.conf" && run 0 solver add --replace toy --recipe ./toy.conf'
test_that "a recipe from a pipe" 'cat toy.recipe | "$solverfs" recipe show /dev/stdin >out 2>err && cmp out toy.recipe && empty err'
printf '[era "toy v33.."]\n  build = true\n' >>store/config
test_that "an update says that an era is of no revision" 'run 0 solver update toy && has err "v33.*; until it is there, no commit can be built"'

echo "1..$n"
