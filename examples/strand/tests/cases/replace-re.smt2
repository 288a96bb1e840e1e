; expect: unsat unsat sat unsat unsat sat
(set-logic QF_SLIA)
(declare-const x String)
(declare-const y String)
(push 1) ; no digit is left
(assert (= y (str.replace_re_all x (re.+ (re.range "0" "9")) "#")))
(assert (str.in_re y (re.++ re.all (re.range "0" "9") re.all)))
(check-sat)
(pop 1)
(push 1) ; what replaced the first match is behind no digit
(assert (= y (str.replace_re x (re.range "0" "9") "#")))
(assert (str.contains y "5#"))
(assert (not (str.contains x "#")))
(check-sat)
(pop 1)
(push 1) ; the shortest match
(assert (= y (str.replace_re x (re.+ (re.range "0" "9")) "#")))
(assert (str.contains y "#5"))
(assert (not (str.contains x "#")))
(check-sat)
(pop 1)
(push 1)
(assert (= y (str.replace_all (str.replace_all x "a" "b") "b" "c")))
(assert (str.in_re y (re.++ re.all (re.union (str.to_re "a") (str.to_re "b")) re.all)))
(check-sat)
(pop 1)
(push 1) ; the replacement is a variable
(assert (= (str.++ x "aca") (str.replace_re_all x (re.range "a" "a") x)))
(check-sat)
(pop 1)
(push 1) ; a language without a match that counts
(assert (str.is_digit (str.replace_re_all (str.++ y x) (re.inter re.all (re.* (str.to_re ""))) (str.at x 0))))
(check-sat)
(pop 1)
