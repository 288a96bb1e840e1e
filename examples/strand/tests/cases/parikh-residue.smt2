; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)
(assert (= (str.++ y "bd" x z) (str.++ x "abc" y "d")))
(check-sat)
