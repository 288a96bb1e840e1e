(set-logic QF_S)
(assert (= x "a"))
