(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)
(assert (= (str.++ "a" x) (str.++ x "b")))
(check-sat)
