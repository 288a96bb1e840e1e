; expect: sat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)(declare-fun n () Int)
(assert (= (str.to_code x) (+ 1 (str.to_code y))))
(assert (str.in_re y (re.range "k" "m")))
(assert (= z (str.from_code (+ 3 (str.to_code x)))))
(assert (str.< x z))
(assert (not (str.<= z x)))
(check-sat)
