; x and its turned-round self agree, so x repeats one letter; "ab" does not.
(set-logic QF_SLIA)
(set-info :status unsat)
(declare-fun x () String)
(assert (= (str.++ x "a") (str.++ "a" x)))
(assert (= (str.len x) 4))
(assert (str.contains x "b"))
(check-sat)
