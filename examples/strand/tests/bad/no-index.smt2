(set-logic QF_S)
(assert ((_ re.loop) "b"))
