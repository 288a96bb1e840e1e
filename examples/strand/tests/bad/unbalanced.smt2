(set-logic QF_S)
(assert (and true (or false true))
(check-sat)
