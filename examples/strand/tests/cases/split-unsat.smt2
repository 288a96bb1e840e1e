; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)
(assert (= (str.++ x "a" y) "bbb"))
(check-sat)
