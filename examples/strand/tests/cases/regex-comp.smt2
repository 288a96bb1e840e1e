; expect: unsat
(set-logic QF_SLIA)
(declare-fun x () String)(declare-fun y () String)(declare-fun z () String)(declare-fun w () String)
(assert (str.in_re x (re.inter (re.comp (re.++ re.all (str.to_re "ab") re.all)) (re.+ (re.union (str.to_re "a") (str.to_re "b"))))))
(assert (str.in_re x (re.++ (re.opt (str.to_re "a")) ((_ re.loop 2 4) (re.range "b" "c")) re.allchar)))
(assert (str.in_re x (re.++ re.all (re.diff re.allchar (str.to_re "b")))))
(assert (str.prefixof "a" x))
(check-sat)
