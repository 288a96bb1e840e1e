; expect: unsat unsat unsat unsat
; The paper, sections 1 and 3: a X = X b, for which splitting alone does not end, and its three arrangements one by one.
(set-logic QF_SLIA)
(declare-fun X () String)
(push 1)
(assert (= (str.++ "a" X) (str.++ X "b")))
(check-sat)
(pop 1)
; the first: X is empty, what is left is a = b
(push 1)
(assert (= X ""))
(assert (= (str.++ "a" X) (str.++ X "b")))
(check-sat)
(pop 1)
; the second: the concatenations align
(push 1)
(assert (= X "a"))
(assert (= X "b"))
(check-sat)
(pop 1)
; the third, Fig. 2: [2.1] and [2.2]
(push 1)
(declare-fun X1 () String)
(assert (= X (str.++ "a" X1)))
(assert (= X (str.++ X1 "b")))
(check-sat)
(pop 1)
