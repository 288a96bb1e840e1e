#!/bin/bash
# Programs without a repository: named by exec:PATH ARG... wherever a version is, in a store that has no solver. Prints TAP. Usage: test_exec.sh SOLVERFS
. "$(dirname "$0")/command.sh"
make_mount
tell_time
# program FILE VERSION TEXT: a solver that says so when asked for its version, and else does what TEXT says with the input $case and all its words.
program() { printf '#!/bin/sh\n[ "$1" = --version ] && { echo "%s"; exit; }\nfor case; do :; done\n%s\n' "$2" "$3" >"$1" && chmod +x "$1"; }
mkdir bin "bin/my dir"
at() { echo "exec:'$top/bin/$1'"; } # the scratch folder has a blank in its name
old=$(at old) new=$(at new) mute=$(at mute)
program bin/old "This is Toy version 1.0 [git 12]" 'echo sat'
program bin/new "Toy version 2.0 - 64 bit" 'case $* in *--seed*) echo "lasts 0.$2" >&2 ;; *) grep -q str.len "$case" && echo "lasts 20" >&2 ;; esac; echo sat'
printf '#!/bin/sh\ncase $1 in *.cnf) echo s SATISFIABLE ;; *.smt2) echo sat ;; *) exit 1 ;; esac\n' >bin/mute && chmod +x bin/mute
printf '(declare-fun s () String)(assert (= (str.len s) 3))(check-sat)\n' >long.smt2
printf '(declare-fun p () Bool)(assert p)(check-sat)\n' >short.smt2
printf 'p cnf 1 1\n1 0\n' >one.cnf
run 0 init && run 0 case add long.smt2 short.smt2 one.cnf

# -- measured --

test_that "a program is measured without a solver, and called by what --version prints" '
	run 0 run "$old" short.smt2 && [ "$(field 2,6)" = "sat	Toy-1.0" ]'
test_that "several at once; the same again is known" '
	run 0 run "$old" "$new" "$mute" short.smt2 && run 0 run "$old" "$new" short.smt2 && [ "$(field 6 | sort -u | tr "\n" " ")" = "Toy-1.0 Toy-2.0 " ]'
test_that "one without a version has its file's name and digits of its digest" '
	run 0 run "$mute" one.cnf && [ "$(field 6)" = "mute@$(sha256sum bin/mute | cut -c 1-8)" ]'
test_that "one whose version is one word has that behind its file's name" '
	program bin/race sc2021 "echo sat" && run 0 run "$(at race)" short.smt2 && [ "$(field 6)" = race-sc2021 ]'
test_that "the answer is read as the case is: DIMACS" '[ "$(field 2)" = sat ]'
test_that "a name is a revision of programs from then on" 'run 0 run programs Toy-1.0 "Toy-*" short.smt2 && [ "$(field 6 | tr "\n" " ")" = "Toy-1.0 Toy-2.0 " ]'
test_that "its commit says how it was named" 'run 0 mount "$mnt" && grep -q "^exec:.*bin/new" "$mnt/programs/tags/Toy-2.0/message" && grep -q "^Toy version 2.0 - 64 bit" "$mnt/programs/tags/Toy-2.0/message"'
test_that "the tree has its cells, of both formats" '
	[ "$(cat "$mnt/programs/tags/Toy-2.0/cases/short.smt2/result")" = sat ] && [ "$(cat "$mnt/programs/tags/mute"*/cases/one.cnf/result)" = sat ] &&
	[ -x "$mnt/programs/tags/Toy-2.0/bin/new" ]'
test_that "a scrambled input has the name of its format" '
	ls "$mnt/programs/tags/mute"*"/scrambled/2/cases/3/" >out && has out "^input.cnf" && ls "$mnt/programs/tags/Toy-2.0/scrambled/2/cases/2/" >out && has out "^input.smt2"'

test_that "its file is kept without a core, whoever has them" '
	hold_cores && run 0 build programs Toy-1.0 --again --wait 0; r=$?; let_cores_go; [ $r = 0 ]'

test_that "a new one is asked its version on a core of its own" '
	program bin/late "" "echo sat" && hold_cores && limit=60 run 75 run "$(at late)" short.smt2 --wait 0; r=$?; let_cores_go; [ $r = 0 ] && has err "waits for a core" && ! grep -q bin/late store/config'
test_that "... which can be interrupted" '
	printf "#!/bin/sh\nexec sleep 100\n" >bin/deaf && chmod +x bin/deaf && { "$solverfs" run "$(at deaf)" short.smt2 >out 2>err & pid=$!; } &&
	await "\"$solverfs\" status 2>&1 | grep -q bin/deaf || ! kill -0 $pid 2>/dev/null" && kill -TERM $pid && wait $pid; [ $? = 130 ] && ! grep -q bin/deaf store/config'
lock_config() { # until let_config_go
	rm -f held
	python3 -c '
import fcntl, struct, sys, time
f = open(sys.argv[1], "a")
fcntl.fcntl(f, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
open("held", "w").close()
time.sleep(300)' "$SOLVERFS_STORE/solvers.lock" &
	config_held=$!
	await '[ -e held ]'
}
let_config_go() { kill $config_held; wait $config_held 2>/dev/null; }
interrupted_after() { terminal timeout -s INT "$1" "$solverfs" run "$(at locked)" short.smt2; has out "waiting for another process.s changes"; }
test_that "a wait for others who change the config is shown, and can be interrupted" '
	program bin/locked "" "echo sat" && lock_config && { interrupted_after 3 || interrupted_after 30; }; r=$?; let_config_go; [ $r = 0 ] && ! grep -q bin/locked store/config'

# ends_while_cores_are_held ARGUMENT...: an interrupt ends it, though no core is free for a new program's --version, and nothing of that is kept.
ends_while_cores_are_held() {
	hold_cores
	timeout --preserve-status -s INT -k 20 2 env --default-signal=INT "$solverfs" "$@" >out 2>err </dev/null
	r=$?
	let_cores_go
	[ $r = 130 ] && ! grep -q bin/unasked store/config
}
test_that "a new program that a study of another solver names can be interrupted while it waits for its core" '
	make_script apart && script_commit apart 1 "" && script_commit apart 2 : && toy_recipe apart && run 0 solver add apart apart --recipe ./apart.recipe && program bin/unasked "" "echo sat" &&
	ends_while_cores_are_held options apart short.smt2 --reference v1 --target "$(at unasked)" && ends_while_cores_are_held fuzz apart --reference v1 --target v2 --for 1m --oracle "$(at unasked)"'

# -- arguments and seeds --

test_that "arguments belong to the version, and to its name" '
	run 0 run "$old --fast 1" long.smt2 && [ "$(field 6)" = Toy-1.0-fast-1 ]'
test_that "the input stands where {case} does, and quotes are a shell's" '
	program "bin/my dir/odd" "" "echo \"\$# \$2 \$3\" >&2; echo sat" && run 0 run "exec:'"'"'$top/bin/my dir/odd'"'"' {case} '"'"'a  b'"'"' c" short.smt2 --print stderr && is out "3 a  b c"'
test_that "the word with {n} is there when a seed is asked for, and the option before it" '
	run 0 run "$new --seed {n}" long.smt2 --print time && grep -q "^20" out && run 0 run "$new --seed {n}" long.smt2 --seed 7 --print time && grep -q "^0.7" out'
test_that "what was measured under a seed is exported under it, and imported" '
	run 0 export -f csv programs --seed 7 && [ "$(cut -d , -f 2,3 out | tail -n +2)" = sat,0.700000 ] && run 0 export -f benchexec programs Toy-2.0-seed-N --seed 7 -o seven.xml &&
	run 0 import -f benchexec seven.xml --machine twin --seed 7 && run 0 export -f csv programs --seed 7 --machine twin && [ "$(wc -l <out)" = 2 ] &&
	run 2 import -f benchexec seven.xml --revision Toy-1.0 --machine twin --seed 7 && has err "Toy-1.0 cannot be told a seed"'
test_that "seeds are folders of its commit, and of no other" '
	seeded=$(ls -d "$mnt/programs/tags/Toy-2.0-seed-N") && [ "$(cut -c 1-3 "$seeded/seeds/6/cases/long.smt2/time")" = 0.6 ] && [ ! -e "$mnt/programs/tags/Toy-2.0/seeds" ]'
test_that "the page of all programs has each that was measured, whatever its arguments" '
	run 0 report programs -o page.html && grep -q "Toy-1.0-fast-1" page.html && ! grep -q "not measured" page.html'
test_that "a program that cannot be told a seed" 'run 2 run "$old" short.smt2 --seed 3 && has err "Toy-1.0 cannot be told a seed: .*\{n\}"'

# -- compared, chosen --

test_that "two programs are compared, by their names" 'run 0 compare "$old" "$new --seed {n}" long.smt2 && has out "^Toy-2.0-seed-N against Toy-1.0,"'
test_that "pairs are under seeds where both have one" '
	run 0 compare "$old --seed={n}" "$new --seed {n}" long.smt2 --pairs 5 && has out "^pairs by	-	seeds"'
test_that "a slowdown that is kept is a finding of programs" '
	run 0 compare "$old" "$new" long.smt2 --keep --pairs 6 && run 0 findings programs && [ "$(field 2,6,7)" = "spr	Toy-1.0	Toy-2.0" ] &&
	[ "$(readlink "$mnt/programs/spr/1/target")" = "../../$(readlink "$mnt/programs/tags/Toy-2.0" | sed "s,^\.\./,,")" ]'
test_that "its report names the programs, and how they are run" '
	cat "$mnt/programs/spr/1/report.md" >out && has out "^# Toy-2.0: 0.001s becomes more than 20s" && ! has out "Toy version 2.0.*Toy version 2.0" && has out "^.?$top/bin/new.? .*case.smt2"'
test_that "a finding of programs has no commits responsible" '[ ! -e "$mnt/programs/spr/1/localized.tsv" ]'
test_that "a portfolio has programs as arms" '
	run 0 portfolio add both "$old" "$mute" && run 0 portfolio run both short.smt2 && grep -q "arm = .*programs@Toy-1.0" store/config'
test_that "how much a program's times vary" 'run 0 noise "$old" short.smt2 --runs 2 && [ "$(field 1)" = Toy-1.0 ]'
test_that "an error names the program, too" 'SOLVERFS_EXEC=/nonexistent run 4 run "$old" one.cnf && has err "programs Toy-1.0 on case 3: "'

# -- found, reduced --

test_that "a campaign between programs needs no solver; findings are in programs/" '
	run 0 fuzz --reference "$old" --target "$new" --for 30s --threshold 700ms --timeout 1500ms --max-finds 1 --no-reduce --name a -j 1 && has err "found spr/2: Toy-1.0 .*, Toy-2.0" &&
	[ -e "$mnt/programs/spr/2/case.smt2" ] && [ -e "$mnt/programs/spr/campaigns/a/status" ]'
test_that "a campaign that looks for unknown" '
	mkdir seeds && cp short.smt2 seeds && program bin/lost "Toy version 3.0" "grep -q or \"\$case\" && echo unknown && exit; echo sat" &&
	run 0 incompleteness --reference "$old" --target "$(at lost)" --seeds seeds --for 60s --max-finds 1 --no-reduce --iterations 60 -j 1 && has out "^campaign "'
test_that "an input is reduced between programs" '
	run 0 reduce long.smt2 --reference "$old" --target "$new" --floor 1s --timeout 2s -o small.smt2 && [ -s small.smt2 ] && grep -q str.len small.smt2'
test_that "versions that are no programs need a solver" 'run 2 fuzz --reference "$old" --target v1 --for 1s && has err "expected SOLVER"'
test_that "what follows a history says that there is none" '
	run 2 history "$old" short.smt2 && has err "no history" && run 2 history programs short.smt2 && has err "no history" &&
	run 2 localize programs short.smt2 --reference Toy-1.0 --target Toy-2.0 && has err "no history" && run 2 watch programs && has err "no history"'
test_that "solver update has nothing to fetch of them" 'run 0 solver update && empty err'

# -- another file, another version --

test_that "a file that was changed is another version; results of the old one stay" '
	program bin/mute "" "echo unknown" && run 0 run "$mute" short.smt2 && [ "$(field 2,6)" = "unknown	mute@$(sha256sum bin/mute | cut -c 1-8)" ] &&
	run 0 run programs "mute@*" one.cnf && [ "$(field 2 | sort | tr "\n" " ")" = "sat unknown " ]'
test_that "a program that is gone is still run: the store has it" 'mv bin/old bin/away && run 0 run programs Toy-1.0 one.cnf && mv bin/away bin/old'
test_that "two programs that call themselves the same" '
	program bin/twin "Toy version 1.0" "echo unknown" && run 0 run "$(at twin)" short.smt2 && has out "	Toy-1.0@[0-9a-f]{8}	"'
test_that "one file under three names is three programs, as it may ask for its name" '
	program bin/m-sat "Multi 1.0" "case \$0 in *-un*) echo unknown ;; *) echo sat ;; esac" && ln bin/m-sat bin/m-unsat && ln bin/m-sat bin/m-unlike &&
	run 0 run "$(at m-sat)" "$(at m-unsat)" "$(at m-unlike)" short.smt2 && [ "$(field 2 | tr "\n" " ")" = "sat unknown unknown " ] && [ "$(field 6 | sort -u | wc -l)" = 3 ]'
test_that "named by two processes at once it is one" '
	program bin/race "Race 5.1" "echo sat" && for i in 1 2 3; do "$solverfs" -q run "$(at race)" short.smt2 >race.$i 2>&1 & done; wait
	[ "$(cut -f 6 race.? | sort | uniq -c | awk "{print \$1, \$2}")" = "3 Race-5.1" ] && [ "$(grep -c "binary .programs Race" store/config)" = 1 ]'
test_that "removed and named again: nothing is lost" '
	run 0 run "$old" short.smt2 --print run.json && cp out before && run 0 solver remove programs && [ ! -e "$mnt/programs" ] && run 0 gc &&
	run 0 run "$old" short.smt2 --print run.json && cmp before out && run 0 run "$old" short.smt2 && [ "$(field 6)" = Toy-1.0 ]'
test_that "the check of the store finds nothing wrong" 'run 0 fsck'

# -- what is no program --

test_that "no such file" 'run 3 run exec:/no/such short.smt2 && has err "there is no program /no/such"'
test_that "a folder" 'run 2 run exec:/usr/bin short.smt2 && has err "/usr/bin is a folder, not a program"'
test_that "a FIFO, which nobody writes" 'mkfifo bin/fifo && limit=20 run 2 run "$(at fifo)" short.smt2 && has err "bin/fifo is no file, and so no program"'
test_that "a file that cannot be executed" 'echo >/"$top"/bin/plain && run 2 compare "$old" "$(at plain)" && has err "bin/plain cannot be executed"'
test_that "a script whose interpreter is missing" '
	printf "#!/no/interpreter -x\n" >bin/orphan && chmod +x bin/orphan && run 3 run "$(at orphan)" short.smt2 && has err "is a script for /no/interpreter, which is not there"'
test_that "a script that names no interpreter" 'echo "#!" >bin/bare && chmod +x bin/bare && run 2 run "$(at bare)" short.smt2 && has err "bare cannot be executed on this machine"'
test_that "what the machine cannot execute" '
	printf "\177ELF garbage" >bin/garbage && chmod +x bin/garbage && run 2 run "$(at garbage)" short.smt2 && has err "garbage cannot be executed on this machine"'
test_that "a program for another processor, though an emulator may run it" '
	cp /bin/true bin/foreign && printf "\26\0" | dd of=bin/foreign bs=1 seek=18 conv=notrunc status=none && run 2 run "$(at foreign)" short.smt2 && has err "foreign is for another processor"'
test_that "a name without its path" 'run 2 run exec:z3 short.smt2 && has err "without its whole path" && run 2 run exec: short.smt2 && has err "without its whole path"'
test_that "a quote that is not closed, a pipe, an unknown placeholder, two seeds" '
	run 2 run "$old \"a" short.smt2 && has err "not closed" && run 2 run "$old | cat" short.smt2 && has err "no shell" &&
	run 2 run "$old {bar}" short.smt2 && has err "\{bar\} is not known" && run 2 run "$old {n} {seed}" short.smt2 && has err "two places for a seed"'
test_that "a path that the config cannot hold; nothing of it stays" '
	for name in $(printf "bar-\\377") "bar
x"; do program "bin/$name" "Ghost version 3.0" "echo sat" && run 2 run "$(at "$name")" short.smt2 && has err "bar.* cannot be kept: its recipe:8: " || exit 1; done
	run 3 run programs Ghost-3.0 short.smt2'
test_that "none of that is in the config" '! grep -q "plain\|orphan\|garbage\|bar" store/config'
test_that "a solver of that name is in the way" '
	make_repository toy && echo "cp s toy" >toy/build.sh && echo >toy/s && day_commit toy 1 one && toy_recipe toy && mkdir other &&
	run 1 solver add programs toy --recipe toy.recipe && has err ".programs. cannot be a solver.s name" &&
	run 1 solver add programs toy && has err ".programs. cannot be a solver.s name" && ! has err drafting'

echo "1..$n"
