; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)
(assert (str.in_re x (re.* (str.to_re "ab"))))
(assert (str.in_re (str.++ x "a") (re.* (str.to_re "ba"))))
(assert (not (= x "")))
(check-sat)
