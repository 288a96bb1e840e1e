; A whole made of two equal halves has an even length.
(set-logic QF_SLIA)
(set-info :status unsat)
(declare-fun w () String)
(declare-fun h () String)
(assert (= w (str.++ h h)))
(assert (= (str.len w) 7))
(check-sat)
