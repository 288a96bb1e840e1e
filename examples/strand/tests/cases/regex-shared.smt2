; expect: sat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)
(assert (str.in_re (str.++ x "z" y) (re.* (re.++ (re.union (str.to_re "b") (str.to_re "a")) (re.union (str.to_re "z") (str.to_re "a"))))))
(assert (str.in_re x (re.* (re.range "a" "u"))))
(assert (str.in_re (str.++ "a" y) (re.* (re.range "a" "u"))))
(check-sat)
