(set-logic QF_S))
