; A word that ends in "world" and is one letter longer than "hello world".
(set-logic QF_SLIA)
(set-info :status sat)
(declare-fun x () String)
(declare-fun y () String)
(assert (= x (str.++ "hello " y)))
(assert (str.suffixof "world" x))
(assert (= (str.len x) 12))
(check-sat)
