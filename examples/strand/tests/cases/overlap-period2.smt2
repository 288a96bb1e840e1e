; expect: sat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)(declare-fun n () Int)
(assert (= (str.++ "ab" x "c" y) (str.++ x "bac" z)))
(assert (> (str.len x) 100))
(check-sat)
