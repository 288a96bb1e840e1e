(set-logic QF_SLIA)
(declare-fun x0 () String)
(declare-fun y0 () String)
(declare-fun y1 () String)
(assert (= (str.++ y0 y1) (str.++ "bbaa" x0 y1)))
(assert (= (str.++ y1 y0) (str.++ y1 x0 "aabb")))
; as a factor, w's first letter changed does not occur in a power of w, but perhaps w is like that: c then
(assert (str.contains x0 "cbaa"))
(check-sat)
