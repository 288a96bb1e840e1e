(set-logic QF_SLIA)
(declare-fun x0 () String)
(declare-fun y0 () String)
(declare-fun y1 () String)
(assert (= (str.++ "aba" x0 y0) (str.++ x0 "baa" y1)))
(assert (= (str.len y0) (str.len y1)))
; no letter c in w
(assert (str.in_re x0 (re.++ re.all (str.to_re "c") re.all)))
(check-sat)
