#!/bin/bash
# Programs without a repository, where the store's runs are done by a cluster: they are named here, and sent there. Prints TAP. Usage: test_cluster_exec.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time
dir=$top/mnt && mkdir "$dir"
clean_up() { mountpoint -q "$dir" && "$solverfs" unmount -q "$dir"; }

mkdir bin
program() { printf '#!/bin/sh\n[ "$1" = --version ] && { echo "%s"; exit; }\nfor case; do :; done\n%s\n' "$2" "$3" >"bin/$1" && chmod +x "bin/$1"; }
program old "Toy version 1.0" 'echo sat'
program new "Toy version 2.0" 'case $* in *--seed*) echo "lasts 0.$2" >&2 ;; *) grep -q str.len "$case" && echo "lasts 1.5" >&2 ;; esac; echo sat'
old="exec:'$top/bin/old'" new="exec:'$top/bin/new'"
printf '(set-logic QF_S)\n(check-sat)\n' >plain.smt2
printf '(set-logic QF_S)\n(declare-const x String)\n(assert (= (str.len x) 3))\n(check-sat)\n' >length.smt2
run 0 init && run 0 case add plain.smt2 length.smt2
sed -i 's/^\tversion = 1/&\n\truns = lab/' store/config
add_lab SOLVERFS_EXEC
: >launched

test_that "a program that was not named before is run there" '
	run 0 run "$old" plain.smt2 --json && [ "$(jq -r .result out)" = sat ] && jq -r .run.machine out | grep -q "^lab/" && [ -s launched ]'
test_that "... with a seed" 'run 0 run "$new --seed {n}" plain.smt2 --seed 7 --print time && grep -q "^0.7" out'
test_that "the head keeps the file: the program is sent when it has gone here" '
	mv bin/new bin/gone && run 0 run programs Toy-2.0-seed-N length.smt2 --seed 8 --print time && grep -q "^0.8" out; r=$?; mv bin/gone bin/new; [ $r = 0 ]'
# From here on the head can run nothing.
run 0 run "$new" plain.smt2
export SOLVERFS_EXEC=/nonexistent/solverfs-exec
test_that "run" 'run 0 run "$old" "$new" length.smt2 && [ "$(field 2 | tr "\n" " ")" = "sat sat " ]'
test_that "compare" 'run 0 compare "$old" "$new" length.smt2 --pairs 6 --keep && has out "^Toy-2.0 against Toy-1.0," && has out "^regression	2	slower"'
test_that "noise" 'run 0 noise "$old" plain.smt2 -n 2 && [ "$(field 1,2)" = "Toy-1.0	1" ]'
test_that "fuzz" '
	run 0 fuzz --reference "$old" --target "$new" --for 100s --threshold 700ms --timeout 1600ms --max-finds 1 --reduce-for 3s && has err "found spr/2: Toy-1.0 .*, Toy-2.0"'
test_that "incompleteness" '
	mkdir seeds && cp length.smt2 seeds && run 0 incompleteness --reference "$old" --target "$new" --seeds seeds --iterations 2 --for 100s --no-reduce'
test_that "reduce" 'run 0 reduce length.smt2 --reference "$old" --target "$new" --floor 1s --timeout 1700ms --for 3s && has out str.len'
test_that "portfolio" '
	run 0 portfolio add both "$old" "$new" && run 0 portfolio run both length.smt2 && has out "	sat	" && run 0 portfolio run both plain.smt2 --alone && [ $(grep -c "	sat	" out) = 2 ]'
run 0 mount "$dir"
test_that "the mount" '[ "$(cat "$dir/programs/tags/Toy-2.0/cases/length.smt2/time")" = 1.500000 ] && [ "$(cat "$dir/programs/tags/Toy-2.0-seed-N/seeds/4/cases/1/time")" = 0.400000 ]'
test_that "its programs are kept here" '[ -x "$dir/programs/tags/Toy-2.0/bin/new" ]'
run 0 unmount "$dir"
test_that "with builds elsewhere, too, the file is this machine's" '
	unset SOLVERFS_EXEC; sed -i "s/^\truns = lab/&\n\tbuilds = lab/" store/config && program third "Toy version 3.0" "echo sat" && run 0 run "exec:'"'"'$top/bin/third'"'"'" plain.smt2 && [ "$(field 2,6)" = "sat	Toy-3.0" ]'
left_of launched >left
test_that "no worker is left" 'empty left'
echo "1..$n"
