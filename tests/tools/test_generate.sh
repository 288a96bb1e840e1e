#!/bin/bash
# Formulas of every kind and logic, made and changed without a store: they are read again, and by the solvers that are installed; a campaign of a solver
# without strings. Prints TAP. Usage: test_generate.sh SOLVERFS
. "$(dirname "$0")/command.sh"
tell_time

logics="QF_BV QF_ABV QF_UFBV QF_AUFBV QF_AX QF_UF QF_LIA QF_LRA QF_LIRA QF_NIA QF_NRA QF_UFLIA QF_AUFLIA QF_UFLRA QF_FP QF_BVFP QF_ABVFP QF_BVFPLRA QF_SLIA QF_SNIA UF BV LIA LRA NIA UFLIA AUFLIRA FP"
kinds=$("$solverfs" generate --list | cut -f 1)
changes=$("$solverfs" transform --list | cut -f 1 | grep -v ^cnf-)

# -- generate --

test_that "it needs no store, and equal seeds print equal formulas" '
	run 0 generate --seed 3 && has out "set-logic QF_SLIA" && has out "^\(check-sat\)$" && mv out a && run 0 generate formula --seed 3 && cmp -s a out && run 0 generate --seed 4 && ! cmp -s a out && [ ! -e "$SOLVERFS_STORE" ]'
test_that "every kind is listed, and read again as it is printed" '
	[ "$(echo "$kinds" | wc -l)" -ge 9 ] && for kind in $kinds; do
		for size in 1 4 9; do
			case $kind in formula | enumerated) scaled="" ;; *) scaled="--size $size" ;; esac
			"$solverfs" generate "$kind" $scaled --seed 5 >a.smt2 && run 0 transform nop a.smt2 && cmp -s out a.smt2 || { echo "# $kind $size"; exit 1; }
		done
	done'
test_that "many go into a folder, the first of which is the one of its own" '
	run 0 generate --logic QF_BV --seed 7 -n 12 -o many && empty out && [ "$(ls many | wc -l)" = 12 ] && run 0 generate --logic QF_BV --seed 7 && cmp -s out many/formula-7-1.smt2 && ! cmp -s out many/formula-7-12.smt2'
test_that "the folder, and those above it, are open to whom the umask lets in" '
	umask 022 && run 0 generate -n 2 -o up/to/here && [ "$(stat -c %a up up/to up/to/here up/to/here/formula-0-1.smt2 | tr "\n" " ")" = "755 755 755 644 " ] &&
	chmod 700 up && umask 027 && run 0 generate -n 2 -o up/beside && [ "$(stat -c %a up up/beside | tr "\n" " ")" = "700 750 " ]'
test_that "an interruption leaves whole formulas and nothing else" '
	for i in 1 2 3 4 5 6 7 8; do
		"$solverfs" generate -n 1000000 -o stopped >out 2>err </dev/null &
		await "[ -e stopped/formula-0-$((i * 40)).smt2 ]" && kill -TERM $! && wait $!
		[ $? = 130 ] && [ -z "$(ls -A stopped | grep -v "^formula-0-[0-9]*.smt2")" ] || exit 1
		rm -r stopped
	done'
test_that "options are kept to" '
	run 0 generate --logic QF_LRA --assertions 2 --variables 9 --depth 1 && [ "$(grep -c assert out)" = 2 ] && [ "$(grep -c declare-fun out)" = 9 ] &&
	run 0 generate regex --dialect 2.0 && has out "str.in.re" && has out "set-logic QF_SLIA"'
test_that "wrong usage" '
	for words in "nothing" "--logic QF_IDL" "--logic HORN" "concats --logic QF_BV" "--size 9" "formula --size 5" "enumerated --size 4" "tree --size 41" "regex --assertions 3" "chain --depth 2" "cnf-queens --variables 4" "cnf-pigeons --alphabet 1" "cnf-pigeons --literal-length 9" "cnf-pigeons --dialect 2.0" "--extensions" "-n 2" "--size 0" "--depth 0" "--seed -1" "formula regex" "--dialect 3" "--variables 99999999999"; do
		run 2 generate $words || exit 1
	done
	run 2 generate --logic QF_IDL && has err "QF_IDL.*QF_AUFBV"'

# -- transform --

# One that nothing in it can be changed by ends with 1.
change() { # change KIND FILE
	"$solverfs" transform "$1" --seed 2 "$2" >out 2>err
	case $? in
	0) ! cmp -s out "$2" || [ "$1" = nop ] && "$solverfs" transform nop out >again 2>err && { [ "$1" = scramble ] || cmp -s again out; } ;;
	1) has err "nothing to change" ;;
	*) false ;;
	esac
}
# Every other kind for each logic, in turn: each kind meets each theory.
test_that "every kind changes formulas of every logic into such that are read again" '
	at=0 && for logic in $logics; do
		"$solverfs" generate --logic $logic --seed 1 >a.smt2 || exit 1
		every=$((at++)) && for kind in $changes; do [ $((every++ % 2)) = 0 ] || change "$kind" a.smt2 || { echo "# $kind of $logic"; exit 1; }; done
	done'
printf '(set-logic QF_BV)\n(declare-fun x () (_ BitVec 8))\n(frobnicate x 7)\n(assert (bvult x (bvadd x #x01)))\n(check-sat)\n(get-value (x))\n' >odd.smt2
test_that "every kind of DIMACS is changed by every kind, and read again" '
	cnf_changes=$("$solverfs" transform --list | cut -f 1 | grep -e ^cnf- -e scramble -e nop) && [ "$(echo "$cnf_changes" | wc -l)" = 15 ] && [ "$(echo "$kinds" | grep -c ^cnf-)" = 17 ] && at=0 && for kind in $(echo "$kinds" | grep ^cnf-); do
		"$solverfs" generate $kind --size 4 --seed 1 >a.cnf && has a.cnf "^p cnf [0-9]+ [0-9]+$" || exit 1
		every=$((at++)) && for change in $cnf_changes; do [ $((every++ % 3)) != 0 ] || change $change a.cnf || { echo "# $change of $kind"; exit 1; }; done
	done
	run 0 transform cnf-flip -n 2 -o flipped a.cnf && [ -s flipped/cnf-flip-0-2.cnf ] && run 2 transform fuzz a.cnf && has err "takes SMT-LIB" && run 2 transform cnf-flip odd.smt2 && has err "takes DIMACS"'
printf 'c p show 1 2 0\np cnf 5 1\n1 0\n' >projected.cnf
test_that "DIMACS with unused variables keeps them when nothing changes; with a projection it is refused" '
	grep -v ^c projected.cnf >padded.cnf && run 0 transform nop padded.cnf && cmp -s out padded.cnf && for kind in nop cnf-flip scramble; do
		run 1 transform $kind projected.cnf && empty out && has err "names variables by their numbers" || exit 1
	done'
test_that "commands that are not known stay" 'for kind in $changes; do [ $kind = scramble ] || { change $kind odd.smt2 && { ! [ -s out ] || has out "^\(frobnicate x 7\)$"; }; } || exit 1; done'
printf '(set-logic QF_IDL)(declare-fun a () Int)(declare-fun b () Int)(declare-fun c () Int)(assert (or (< (- a b) 3) (= (- b c) 7)))(assert (>= (- a c) (- 2)))(check-sat)' >idl.smt2
test_that "a difference of two terms stays alone beside a constant in the logics that take no other" '
	for kind in fuzz swap graft rotate; do for seed in 1 2 3 4 5 6; do
		"$solverfs" transform $kind --seed $seed idl.smt2 >out 2>err || has err "nothing to change" || exit 1
		! has out "abs|\\(- [0-9]+ |- [abc] [0-9(]" || exit 1
	done; done'
test_that "an operator is brought in" '
	run 0 transform operator --operator bvmul odd.smt2 && has out bvmul && run 1 transform operator --operator str.len odd.smt2 && has err "nothing to change" && run 2 transform operator --operator xyz odd.smt2 && run 2 transform fuzz --operator bvmul odd.smt2 && has err "operator"'
printf '(set-logic QF_S)\n(declare-fun s () String)\n(assert (= s "a\\\\\\\\\\\\\\\\b""c"))\n(check-sat)\n' >backslashes.smt2
test_that "a text of an older dialect says so, and is read as what it was" '
	for kind in words regex; do run 0 generate $kind --dialect 2.0 && mv out a.smt2 && has a.smt2 "^\(set-info :smt-lib-version 2.0\)\$" && run 0 transform nop a.smt2 && cmp -s out a.smt2 || exit 1; done
	run 0 transform nop --dialect 2.0 backslashes.smt2 && mv out a.smt2 && run 0 transform nop --dialect 2.6 a.smt2 && sed 1d out | cmp -s - backslashes.smt2 && run 0 transform nop backslashes.smt2 && cmp -s out backslashes.smt2'
printf '(set-logic QF_S)(declare-fun s () String)(declare-fun t () String)(assert (or (= s t) (= t (str.replace s "a" "b")) (str.contains s t) (= (str.len s) 2)))(check-sat)' >older.smt2
printf '(set-logic QF_SLIA)(declare-fun s () String)(assert (= 65 (str.to_code s)))(assert (str.in_re s (re.comp re.none)))(check-sat)' >codes.smt2
test_that "an older dialect has the names that solvers read in it" '
	run 0 transform nop --dialect 2.5 codes.smt2 && has out "(str.code s)" && has out "(re.comp re.nostr)" && mv out a.smt2 && run 0 transform nop --dialect 2.6 a.smt2 && has out "(str.to_code s)"'
printf '(set-logic QF_LIA)\n(check-sat))\n' >extra.smt2 && printf 'p cnf 1 1\n1 x 0\n' >bad.cnf
test_that "a text that cannot be read is named" '
	for kind in nop scramble; do run 2 transform $kind extra.smt2 && has err "extra.smt2:" && run 2 transform $kind bad.cnf && has err "bad.cnf: line 2" || exit 1; done'
test_that "no newer operator comes into an older dialect" '
	run 0 transform operator -n 40 -o new older.smt2 && run 0 transform fuzz -n 40 -o new older.smt2 && cat new/* | grep -qE "str\.(<|replace_all|to_code|is_digit)" &&
	run 0 transform operator --dialect 2.0 -n 40 -o old older.smt2 && run 0 transform fuzz --dialect 2.0 -n 40 -o old older.smt2 && ! cat old/* | grep -E "str\.(<|replace_all|to_code|from_code|is_digit|replace_re)|re\.(diff|comp|\^)"'
test_that "standard input is read" '"$solverfs" transform reverse <odd.smt2 >out 2>err && has out "#x80" && "$solverfs" transform swap - <odd.smt2 >/dev/null'
test_that "the greatest seed scrambles, too" '"$solverfs" generate --seed 1 >a.smt2 && run 0 transform scramble --seed 18446744073709551615 a.smt2 && ! cmp -s out a.smt2'
test_that "several changes of one formula" 'run 0 transform fuzz --seed 4 -n 9 -o mutants odd.smt2 && [ "$(ls mutants | wc -l)" = 9 ] && [ "$(cat mutants/* | sort | uniq | wc -l)" -gt 8 ]'
most_kb() { python3 -c "import resource, subprocess, sys; subprocess.check_call(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)" "$@"; }
test_that "many changes take no more memory than few" '
	printf "(declare-fun s () String)\n(assert (= s \"%0100000d\"))\n" 0 >wide.smt2
	few=$(most_kb "$solverfs" transform unprintable -n 3 -o unprintable wide.smt2) && many=$(most_kb "$solverfs" transform unprintable -n 150 -o unprintable wide.smt2) &&
	{ [ "$many" -lt $((few + 12000)) ] || ldd "$solverfs" | grep -qE "lib[at]san" || { echo "# $few kB, $many kB"; false; }; }'
printf '(set-logic QF_S)(declare-fun s () String)(assert (str.in_re s (re.+ (re.range "b" "d"))))(assert (= (str.at s 0) "b"))(check-sat)' >range.smt2
test_that "ends of ranges stay single characters, in their order" '
	for kind in $changes; do for seed in 1 2 3; do
		"$solverfs" transform $kind --seed $seed range.smt2 >out 2>err || has err "nothing to change" || exit 1
		! has out "re.range \"([^\"][^\"]+|)\"" && ! has out "re.range \"[^\"]*\" \"([^\"][^\"]+|)\"" || exit 1
	done; done && run 0 transform multiply range.smt2 && has out "re.range .b. .d." && has out "\"bb+\""'
: >empty.smt2
printf '(assert (and' >half.smt2
test_that "what cannot be read, and what has nothing to change" '
	run 1 transform fuzz empty.smt2 && run 0 transform nop empty.smt2 && empty out && run 2 transform fuzz half.smt2 && has err half.smt2 && run 3 transform fuzz none.smt2 && run 2 transform &&
	run 2 transform sideways odd.smt2 && run 2 transform fuzz -n 3 odd.smt2 && at=0 && for kind in $changes; do # noise is read before a kind is asked
		[ $((at++ % 6)) != 0 ] || random_bytes 3000 >noise.smt2 || exit 1
		timeout 60 "$solverfs" transform $kind noise.smt2 >/dev/null 2>err; [ $? -le 2 ] || exit 1
	done'

# -- solvers read them --

# complaints_of FILE SOLVER ARGUMENT...: whatever it says of the formulas in FILE but their answers.
complaints_of() {
	local file=$1
	shift
	timeout $((300 * ${CK_TIMEOUT_MULTIPLIER:-1})) env -u MALLOC_PERTURB_ "$@" "$file" >said 2>&1 # their memory is not what is tested
	[ $? != 124 ] || echo "# it took too long"
	# A crash is the solver's own; what stands behind it in the file is not read.
	grep -vE '^(cvc5 suffered a segfault\.|Offending address is .*|Looks like a NULL pointer .*|sat|unsat|unknown|timeout|unsupported|; ignoring unsupported logic.*|cvc5 interrupted by timeout\.|)$' said | sort | uniq -c | sort -rn | head -5 | sed 's/^/# /'
}
# Most are only read, as solving takes seconds, and z3 by a count of steps: its clock hangs now and then. More of them: tests/fuzzing/parsers.sh.
test_that "formulas of every logic are generated" '
	for logic in $logics; do
		"$solverfs" generate --logic $logic --seed 1 -n 7 -o made$logic && "$solverfs" generate --logic $logic --seed 6 -n 2 --assertions 2 --depth 2 -o checked$logic || exit 1
		sed "s/^(check-sat)\$/(reset)/" made$logic/* >$logic.smt2 && sed "s/^(check-sat)\$/&\n(reset)/" checked$logic/* >>$logic.smt2 || exit 1
		[ "$(grep -c "^(reset)\$" $logic.smt2)" = 9 ] || exit 1
	done'
turn=0 && for program in z3 cvc4 cvc5; do
	command -v $program >/dev/null || { skip "$program reads what is generated" "it is not installed" && continue; }
	arguments="--strings-exp --tlimit-per=20"
	[ $program = z3 ] && arguments="rlimit=100000 -memory:2000"
	turn=$((turn + 1))
	test_that "$program reads what is generated: every third logic, by turns" '
		at=0 && for logic in $logics; do
			[ $((at++ % 3)) = $((turn % 3)) ] || [ -n "${SOLVERFS_SOAK:-}" ] || continue # SOLVERFS_SOAK=1: every logic
			case $program,$logic in cvc4,*FP*) continue ;; esac
			[ -z "$(complaints_of $logic.smt2 $program $arguments | tee -a complaints)" ] || { echo "# $program, $logic:" && cat complaints && exit 1; }
		done'
done

# -- campaigns --

# A solver of bit-vectors and of linear integers, which from v2 on is slow where a formula has bvmul or a product of integers.
make_script bits
for v in 1 2; do
	script_commit bits $v "grep -qE '^.set-logic QF_(BV|LIA).\$' \"\$case\" || { echo '(error \"what is that?\")'; exit 1; }
[ $v = 1 ] || ! grep -qE 'bvmul|[(][*] ' \"\$case\" || echo 'lasts 20' >&2"
done
toy_recipe bits 'timeout = 2s' && run 0 init && run 0 solver add bits bits --recipe bits.recipe
campaign() { # campaign STATUS NAME OPTION...
	local status=$1 name=$2
	shift 2
	timeout -k 5 200 "$solverfs" fuzz bits --name "$name" --for 100s --max-finds 2 --threshold 700ms --timeout 1500ms --no-localize --no-reduce -j 1 --reference v1 --target v2 "$@" >out 2>err </dev/null
	[ $? = "$status" ] || { echo "# ended with another status than $status"; return 1; }
}
logics_of() { run 0 mount mnt >/dev/null; grep -ho 'set-logic [A-Z_]*' mnt/bits/spr/*/case.smt2 | sort -u | tr '\n' ' '; }
mkdir mnt
clean_up() { fusermount3 -uz "$top/mnt" 2>/dev/null; }
test_that "a campaign of a solver without strings generates what its versions answer, and says so" '
	campaign 0 asked && has "$SOLVERFS_STORE/campaigns/bits/asked/log" "generated are formulas of QF_BV QF_LIA$" && has "$SOLVERFS_STORE/campaigns/bits/asked/log" "left out, as v1 does not decide them: strings QF_UF" &&
	has out "^finds [1-9]" && echo "$(logics_of)" | grep -qE "^set-logic QF_(BV|LIA) "'
test_that "it goes on with these" 'campaign 0 asked && [ "$(grep -c "left out" "$SOLVERFS_STORE/campaigns/bits/asked/log")" = 2 ]'
test_that "... or what it is told to" '
	campaign 0 told --logic QF_LIA && run 0 findings bits --campaign told --json && [ "$(wc -l <out)" -ge 1 ] && grep -q "^logic = QF_LIA$" mnt/bits/spr/campaigns/told/settings'
test_that "a campaign of other logics is another one" 'campaign 2 told --logic QF_BV && has err "logic = QF_LIA"'
test_that "logics that are not generated, and a corpus beside them" '
	campaign 2 wrong --logic QF_IDL && has err "QF_IDL" && campaign 2 wrong --logic , && campaign 2 wrong --logic QF_BV --corpus .'

test_that "standard input may be a socket" '
	python3 -c "
import socket, subprocess, sys
a, b = socket.socketpair()
a.sendall(b\"(check-sat)\\n\")
a.close()
sys.exit(subprocess.run(sys.argv[1:], stdin=b).returncode)" "$solverfs" transform nop >out 2>err && is out "(check-sat)"'

echo "1..$n"
