(set-logic QF_SLIA)
(declare-fun x0 () String)
(assert (= (str.++ "baa" x0) (str.++ x0 "aba")))
; no letter c in w
(assert (str.in_re x0 (re.++ re.all (str.to_re "c") re.all)))
(check-sat)
