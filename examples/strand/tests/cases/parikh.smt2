; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)(declare-fun n () Int)
(assert (= (str.++ x "abdc" y) (str.++ y "dcbe" x)))
(check-sat)
