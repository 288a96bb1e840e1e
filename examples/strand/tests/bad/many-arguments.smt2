(set-logic QF_S)
(assert (str.contains "a" "b" "c"))
