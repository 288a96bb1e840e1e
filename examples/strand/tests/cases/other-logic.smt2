; expect: unknown
(set-logic QF_AUFBV)
(declare-fun a () (Array Int Int))
(assert (= (select a 0) #x00))
(check-sat)
