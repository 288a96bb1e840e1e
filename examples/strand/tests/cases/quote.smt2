; expect: sat
(set-logic QF_S)
(declare-const |a b| String)
(assert (= |a b| "say ""yes"" \u{22}"))
(assert (str.contains |a b| """ """))
(check-sat)
(get-value (|a b|))
