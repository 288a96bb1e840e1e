; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)(declare-fun n () Int)
(assert (= (str.++ x "ab" y "c" z) (str.++ y "ba" x "d" w)))
(assert (= x ""))
(check-sat)
