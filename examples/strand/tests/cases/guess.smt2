; expect: sat
; options: --timeout 10
; The search alone does not find a model in any time: random functions of random functions.
(declare-const a String)
(declare-const b String)
(declare-const c String)
(declare-const i Int)
(declare-const k Int)
(assert (< (str.indexof (str.at a i) (str.substr c i k) (str.indexof b c i)) (str.indexof (str.replace a c c) (str.substr c k 2) (str.indexof c a i))))
(assert (not (str.prefixof c b)))
(assert (> (+ (str.to_int (str.substr b 1 2)) (str.to_int (str.at b 3))) 17))
(check-sat)
