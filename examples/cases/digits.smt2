; A date-like word that a regular expression accepts and that begins with 20.
(set-logic QF_SLIA)
(set-info :status sat)
(declare-fun d () String)
(assert (str.in_re d (re.++ ((_ re.loop 4 4) (re.range "0" "9")) (str.to_re "-") ((_ re.loop 2 2) (re.range "0" "9")))))
(assert (str.prefixof "20" d))
(assert (= (str.at d 5) "1"))
(check-sat)
