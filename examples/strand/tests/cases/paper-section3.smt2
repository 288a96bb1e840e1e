; expect: sat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)
(assert (= z (str.++ x y)))
(assert (= z (str.++ w "c")))
(assert (= (str.++ "c" y) "cbc"))
(check-sat)
