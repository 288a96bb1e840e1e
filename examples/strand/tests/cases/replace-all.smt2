; expect: sat
(set-logic QF_SLIA)
(declare-fun x () String)
(assert (= (str.replace_all x "a" "bb") "bbcbb"))
(assert (= (str.len x) 3))
(check-sat)
