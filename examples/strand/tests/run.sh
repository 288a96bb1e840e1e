#!/bin/sh
# Runs strand on tests/cases/*.smt2, whose first line says what to expect: "; expect: sat" (or more verdicts, one
# per check-sat; "unknown|sat" where both are right), and on tests/bad/*, which must be refused with
# (error "line:column: ..") and exit status 1.
cd "$(dirname "$0")/.." || exit 2
strand=${STRAND:-./strand}
pass=0 fail=0

for f in tests/cases/*.smt2; do
        want=$(sed -n '1s/^; expect: *//p' "$f")
        got=$(timeout 20 "$strand" "$f" 2>/dev/null | grep -E '^(sat|unsat|unknown)$' | tr '\n' ' ' | sed 's/ $//')
        if echo "$got" | grep -Eqx "$want"; then
                pass=$((pass + 1))
        else
                fail=$((fail + 1))
                echo "FAIL $f: expected $want, got $got"
        fi
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
echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
