#!/bin/sh
# Runs strand on tests/cases/*.smt2, whose first line says what to expect: "; expect: sat" (or more verdicts, one
# per check-sat; "unknown|sat" where both are right), and on tests/bad/*, which must be refused with
# (error "line:column: ..") and exit status 1.
cd "$(dirname "$0")/.." || exit 2
strand=${STRAND:-./strand}
pass=0 fail=0

for f in tests/cases/*.smt2; do
        want=$(sed -n '1s/^; expect: *//p' "$f")
        options=$(sed -n 's/^; options: *//p' "$f")
        for front in "" --loop; do
                # shellcheck disable=SC2086
                got=$(timeout 20 "$strand" $options $front "$f" 2>/dev/null | grep -E '^(sat|unsat|unknown)$' | tr '\n' ' ' | sed 's/ $//')
                if echo "$got" | grep -Eqx "$want"; then
                        pass=$((pass + 1))
                else
                        fail=$((fail + 1))
                        echo "FAIL $f $front: expected $want, got $got"
                fi
        done
done
for f in tests/bad/*.smt2; do
        out=$(timeout 20 "$strand" "$f" 2>/dev/null)
        status=$?
        if [ $status -eq 1 ] && echo "$out" | grep -Eq '^\(error "[0-9]+:[0-9]+: '; then
                pass=$((pass + 1))
        else
                fail=$((fail + 1))
                echo "FAIL $f: status $status, output: $out"
        fi
done
# The effort is the same every time.
for f in tests/cases/regex-shared.smt2 tests/cases/to-int.smt2 tests/cases/functions.smt2; do
        if [ "$("$strand" --stats --seed 3 "$f")" = "$("$strand" --stats --seed 3 "$f")" ]; then
                pass=$((pass + 1))
        else
                fail=$((fail + 1))
                echo "FAIL $f: two runs with one seed differ"
        fi
done
# Nesting costs no stack.
deep() { # COUNT OPEN MIDDLE CLOSE
        awk -v n="$1" -v o="$2" -v m="$3" -v c="$4" 'BEGIN { print "(set-logic QF_S)(declare-const p Bool)(declare-const x String)(assert "
                for (i = 0; i < n; i++) printf "%s", o
                printf "%s", m
                for (i = 0; i < n; i++) printf "%s", c
                print ")(check-sat)" }' | timeout 20 "$strand" --timeout 10 - 2>/dev/null | head -1
}
for got in "$(deep 100000 '(! ' p ' :x)')" "$(deep 100000 '(and true ' p ')')" "$(deep 100000 '(not ' p ')')" \
        "$(deep 9000 '(ite p false ' p ')')" "$(deep 100000 '(let ((p (not p))) ' p ')')"; do
        case $got in
        sat | unsat | unknown) pass=$((pass + 1)) ;;
        *) fail=$((fail + 1)) && echo "FAIL deep nesting: $got" ;;
        esac
done
case $(deep 100000 '(not ' p '') in
'(error "'*) pass=$((pass + 1)) ;;
*) fail=$((fail + 1)) && echo "FAIL deep nesting without end" ;;
esac
# Answers to commands, line by line with a space behind each.
says() { # WANT SCRIPT
        got=$(echo "(declare-const x String)$2" | timeout 20 "$strand" - 2>/dev/null | tr '\n' ' ')
        if [ "$got" = "$1" ]; then
                pass=$((pass + 1))
        else
                fail=$((fail + 1)) && echo "FAIL $2: expected $1, got $got"
        fi
}
none='(error "no model is available") '
says "$none" '(get-model)'
for change in '(assert (= x "b"))' '(push 1)' '(reset-assertions)(declare-const x String)' '(reset)(declare-const x String)'; do
        says "sat $none" "(assert (= x \"a\"))(check-sat)$change(get-value (x))"
done
says "sat ${none}sat "'((x "a")) ' '(push 1)(assert (= x "a"))(check-sat)(pop 1)(get-value (x))(assert (= x "a"))(check-sat)(get-value (x))'
says 'sat sat ' '(assert (= x "a"))(check-sat)(reset-assertions)(declare-const x Int)(assert (> x 1))(check-sat)'
says 'unknown sat ' '(push 1)(declare-fun f (Int) Int)(assert (= (f 1) 2))(check-sat)(pop 1)(assert (= x "a"))(check-sat)'
large='(str.at x 99999999999999999999)' why='(error "outside the logics: a numeral of more than 63 bits") '
says "sat ${why}sat " "(check-sat)(get-value ($large))(check-sat)"
says "sat ${why}"'((x "")) ' "(check-sat)(get-value ($large))(get-value (x))"
says 'unknown sat ' "(check-sat-assuming ((= $large \"a\")))(check-sat)"
says "sat ${why}unknown " "(check-sat)(assert (= $large \"a\"))(get-value (x))(check-sat)"
for name in '|let|' '|_|' '|STRING|' '|assert|' '|set-logic|' 'letter' 'pop.1' '_x' 'check'; do
        says "sat (   (define-fun x () String \"\")   (define-fun $name () Bool true) ) " "(declare-const $name Bool)(assert $name)(check-sat)(get-model)"
done
global='(set-option :global-declarations true)(push 1)(declare-const y String)(define-fun z () String (str.++ y "b"))'
for end in '(pop 1)' '(reset-assertions)'; do
        says 'unsat sat ((z "bb")) ' "$global(assert (= y z))(check-sat)$end(assert (= y \"b\"))(check-sat)(get-value (z))"
done
says 'unknown unknown ' "$global(declare-fun f (Int) Int)(check-sat)(pop 1)(assert (= (f 1) 2))(check-sat)"
says 'sat sat ' "$global(check-sat)(reset)(declare-const y Int)(push 1)(declare-const z Int)(pop 1)(declare-const z Bool)(assert z)(check-sat)"
says 'unsupported sat unsupported ' '(set-option :foo 1)(get-info :foo)(check-sat)(get-unsat-core)'
long=$(printf '%0300d' 0)
says "\"say \"\"$long\"\"\" \"\" " "(echo \"say \"\"$long\"\"\")(echo \"\")"
# --timeout while there is much to read: an answer if another one is due, and none is lost that was given before.
long() { # BEFORE BEHIND
        awk -v b="$1" -v e="$2" 'BEGIN { print "(set-logic QF_S)(declare-const x String)" b
                for (i = 0; i < 400000; i++) print "(assert (or (= x \"" i "\") (= x \"a\")))"
                print e }' | timeout 20 "$strand" --timeout 0.05 - 2>/dev/null | tr '\n' ' '
}
got="$(long '' '(check-sat)')/$(long '(check-sat)(echo "kept")' '(check-sat)')/$(long '(check-sat)' '(exit)(check-sat)')"
case $got in
'unknown /sat "kept" unknown /sat ' | 'unknown /'*'unknown /unknown ' | 'unknown /unknown /sat ') pass=$((pass + 1)) ;;
*) fail=$((fail + 1)) && echo "FAIL --timeout while reading: $got" ;;
esac
# A fraction of a second that is nearly one, for a term whose evaluation asks no clock.
got=$(awk 'BEGIN { printf "(declare-const x String)(assert (= x (str.replace_re \""
        for (i = 0; i < 1000; i++) printf "a"
        print "\" ((_ re.loop 0 900) (re.opt re.allchar)) \"b\")))(check-sat)" }' | timeout 10 "$strand" --timeout 0.9999999 -)
if [ "$got" = unknown ]; then
        pass=$((pass + 1))
else
        fail=$((fail + 1)) && echo "FAIL --timeout 0.9999999: $got"
fi
# Large terms in little memory: 600 MB beside the large stack.
repeat() { # COUNT FORMAT (of numbers from 1)
        awk -v n="$1" -v f="$2" 'BEGIN { for (i = 1; i <= n; i++) printf f, i }'
}
fits() { # WANT SCRIPT
        got=$(ulimit -v 1700000 && echo "(declare-const x String)$2(check-sat)" | timeout 20 "$strand" - 2>/dev/null | head -1)
        if echo "$got" | grep -Eqx "$1"; then
                pass=$((pass + 1))
        else
                fail=$((fail + 1)) && echo "FAIL in little memory, $(echo "$2" | cut -c1-100): expected $1, got $got"
        fi
}
fits unsat "(assert (str.contains x \"$(repeat 1500 a)\"))(assert (< (str.len x) 10))"
fits sat "(assert (str.in_re x (re.union $(repeat 20000 '(str.to_re "w%d")'))))"
fits sat "(assert (str.in_re x (re.union $(repeat 12000 '(str.to_re "\\\\u{%x0}")'))))"
fits sat "(assert (str.in_re x $(repeat 18000 '(re.union (str.to_re "w%d") ')re.none$(repeat 18000 ')')))"
fits 'sat|unknown' "(assert (str.in_re x $(repeat 4500 '(re.++ ')(str.to_re \"b\")$(repeat 4500 ' (str.to_re "a"))')))"
fits unknown "(declare-const y String)(assert (= (str.len y) 4000000))(assert (= x (str.++ $(repeat 200 ' y'))))"
echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
