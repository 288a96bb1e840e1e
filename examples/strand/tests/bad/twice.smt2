(set-logic QF_S)
(declare-const x String)
(declare-const x String)
