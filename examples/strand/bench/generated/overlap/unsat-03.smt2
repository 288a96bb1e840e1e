(set-logic QF_SLIA)
(declare-fun x0 () String)
(declare-fun y0 () String)
(declare-fun y1 () String)
(assert (= (str.++ "aab" x0 y0) (str.++ x0 "baa" y1)))
(assert (= (str.len y0) (str.len y1)))
; as a factor, w's first letter changed does not occur in a power of w, but perhaps w is like that: c then
(assert (str.contains x0 "cab"))
(check-sat)
