(set-logic QF_S)
(assert (= "a" "b))
