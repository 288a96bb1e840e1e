(declare-const x String)(assert (! (= x "a") :named x))
