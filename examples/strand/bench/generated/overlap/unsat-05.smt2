(set-logic QF_SLIA)
(declare-fun x0 () String)
(assert (= (str.++ "abbbb" x0) (str.++ x0 "bbbab")))
; |x0| is 2 modulo 5, if w is primitive
(assert (= (mod (str.len x0) 5) 0))
(check-sat)
