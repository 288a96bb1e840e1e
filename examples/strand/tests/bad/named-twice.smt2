(declare-const x String)(assert (and (! (= x "a") :named n) (! (= x "b") :named n)))
