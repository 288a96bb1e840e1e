; expect: unsat
(set-logic QF_S)
(declare-const x String)
(assert (= x "\u{61}\u0062\x"))
(assert (or (not (= (str.len x) 4)) (not (= (str.at x 2) "\u{5c}")) (not (= (_ char #x61) (str.at x 0)))))
(check-sat)
