; expect: sat|unknown
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)
(assert (= (str.substr x 1 2) "bc"))
(assert (= (str.at x 0) "a"))
(assert (not (= x "abc")))
(check-sat)
