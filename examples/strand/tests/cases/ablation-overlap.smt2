; expect: unknown|unsat
; options: --no-overlap --timeout 1
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)(declare-fun n () Int)
(assert (= (str.++ "a" x) (str.++ x "b")))
(check-sat)
