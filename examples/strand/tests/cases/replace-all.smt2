; expect: sat|unknown
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)(declare-fun n () Int)
(assert (= (str.replace_all x "a" "bb") "bbcbb"))
(assert (= (str.len x) 3))
(check-sat)
