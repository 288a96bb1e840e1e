; expect: unsat
(set-logic QF_S)
(declare-const p Bool)
(assert (and p (not p)))
(check-sat)
