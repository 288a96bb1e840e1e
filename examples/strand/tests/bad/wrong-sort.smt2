(set-logic QF_S)
(assert (str.contains "a" 1))
