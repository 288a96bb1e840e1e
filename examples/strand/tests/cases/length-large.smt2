; expect: unsat|unknown
; options: --timeout 0.3
(set-logic QF_SLIA)
(declare-const x String)
(declare-const y String)
(declare-const z String)
(assert (= (str.++ "ab" x y "c" z) (str.++ y "ab" z x "c")))
(assert (> (str.len x) 9223372036854775800))
(check-sat)
