; expect: unsat|unknown
; options: --no-length --timeout 1
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)(declare-fun n () Int)
(assert (= (str.++ x y) (str.++ z w)))
(assert (= (str.len x) (str.len z)))
(assert (not (= y w)))
(check-sat)
