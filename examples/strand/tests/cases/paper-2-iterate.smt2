; expect: unsat unsat
; The paper, section 2: each theory alone is satisfied, the integer solver by |X| = 1, the string solver by a word of two
; characters; there is nothing to be found together, and enumerating candidates would not end.
(set-logic QF_SLIA)
(declare-fun X () String)
(declare-fun Y () String)
(push 1)
(assert (= X (str.++ "a" Y)))
(assert (str.in_re X (re.* (str.to_re "ab"))))
(assert (= (str.len X) 1))
(check-sat)
(pop 1)
; without a bound on the length
(push 1)
(assert (str.in_re X (re.* (str.to_re "ab"))))
(assert (= (str.len X) (+ (* 2 (str.len Y)) 1)))
(check-sat)
(pop 1)
