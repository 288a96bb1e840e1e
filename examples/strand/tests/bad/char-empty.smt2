(set-logic QF_S)(declare-const x String)(assert (= x (_ char #x)))(check-sat)
