; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)
(declare-fun p () Bool)
(assert (= x (ite p "one" "two")))
(assert (= (str.++ x y) "three"))
(check-sat)
