; A word of (ab)* that begins with b.
(set-logic QF_S)
(set-info :status unsat)
(declare-fun x () String)
(assert (str.in_re x (re.* (str.to_re "ab"))))
(assert (str.prefixof "b" x))
(check-sat)
