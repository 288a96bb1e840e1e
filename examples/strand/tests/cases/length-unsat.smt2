; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)
(declare-fun y () String)
(assert (= (str.++ x "ab" y) (str.++ y x)))
(check-sat)
