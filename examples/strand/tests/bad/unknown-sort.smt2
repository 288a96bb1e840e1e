(set-logic QF_S)
(declare-fun x () Strin)
