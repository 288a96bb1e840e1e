(set-logic QF_SLIA)
(declare-fun x0 () String)
(declare-fun y0 () String)
(declare-fun y1 () String)
; w has no letter c: w and v are no conjugates
(assert (= (str.++ y0 y1) (str.++ "bbab" x0 y1)))
(assert (= (str.++ y1 y0) (str.++ y1 x0 "bbac")))
; no letter c in w
(assert (str.in_re x0 (re.++ re.all (str.to_re "c") re.all)))
(check-sat)
