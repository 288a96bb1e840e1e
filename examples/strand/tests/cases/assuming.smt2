; expect: unsat sat
(set-logic QF_S)
(declare-const p Bool)
(declare-const x String)
(assert (=> p (= x "a")))
(assert (str.in_re x (str.to_re "b")))
(check-sat-assuming (p))
(check-sat-assuming ((not p)))
