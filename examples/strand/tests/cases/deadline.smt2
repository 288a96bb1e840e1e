; expect: unsat|unknown
; options: --timeout 0.2
(set-logic QF_SLIA)
(declare-fun s0 () String)
(declare-fun s1 () String)
(declare-fun s2 () String)
(declare-fun s3 () String)
(declare-fun i1 () Int)
(assert (str.<= (str.++ (str.++ s1 s3 s2) "b") (str.++ (str.substr s0 (- 1) i1) s1)))
(assert (= (str.replace_re s0 (re.+ re.allchar) s1) (str.++ s2 s3 "b")))
(assert (= (str.to_int s2) (str.to_int (str.++ "9" s3 s0))))
(check-sat)
