#!/usr/bin/env python3
"""Files to measure the reader with: tests/smtlib/bench.py SMT2 [MEGABYTES].

Writes four files of about MEGABYTES (50) each to a temporary folder and runs `smt2 bench` on them: a bounded model check over bit-vectors
and arrays, string constraints, one wide term over few names, one term as deep as can be."""
import random
import subprocess
import sys
import tempfile


def model_check(out, size):
    r = random.Random(1)
    out.write("(set-info :smt-lib-version 2.6)\n(set-logic QF_ABV)\n(declare-fun mem () (Array (_ BitVec 32) (_ BitVec 8)))\n")
    step = 0
    while out.tell() < size:
        step += 1
        out.write(f"(declare-fun x{step} () (_ BitVec 32))\n(declare-fun state_{step} () (_ BitVec 32))\n(declare-fun ok{step} () Bool)\n")
        a, b, c = (r.randrange(1, step + 1) for _ in range(3))
        out.write(f"(assert (let ((?v_0 (bvadd x{a} state_{b}))) (let ((?v_1 (concat (select mem (bvadd ?v_0 #x{r.randrange(2**32):08x}))"
                  f" ((_ extract 23 0) ?v_0))))\n  (= state_{step} (ite (and ok{c} (not (bvult ?v_1 x{b})) (= ((_ extract 7 0) x{a})"
                  f" (_ bv{r.randrange(256)} 8))) (bvmul ?v_1 #x{r.randrange(2**32):08x}) (bvor state_{a} ((_ sign_extend 8) ((_ extract 23 0)"
                  f" x{c}))))))))\n")
        out.write(f"(assert (=> ok{step} (or ok{a} (bvsle x{step} state_{b}) (distinct x{a} x{b} state_{c}))))\n")
    out.write("(check-sat)\n")


def strings(out, size):
    r = random.Random(2)
    words = ["GET /index.html", "Content-Type: ", "\\u{a}", "a\"\"b", "https://", "%20", "<script>"]
    out.write("(set-logic QF_SLIA)\n")
    n = 0
    while out.tell() < size:
        n += 1
        out.write(f"(declare-fun literal_{n} () String)\n(declare-fun sigmaStar_{n} () String)\n(declare-fun i{n} () Int)\n")
        k = r.randrange(1, n + 1)
        out.write(f"(assert (= literal_{n} (str.++ sigmaStar_{k} \"{r.choice(words)}{n}\" (str.substr sigmaStar_{n} i{k} (- (str.len literal_{k}) {r.randrange(9)})))))\n")
        out.write(f"(assert (or (not (str.in_re sigmaStar_{n} (re.++ (re.* re.allchar) (str.to_re \"{r.choice(words)}\") (re.* (re.range \"a\" \"z\")))))"
                  f" (>= (str.indexof literal_{k} \"{r.choice(words)}\" i{n}) {r.randrange(1000)}) (str.contains literal_{n} literal_{k})))\n")
    out.write("(check-sat)\n")


def wide(out, size):
    r = random.Random(3)
    out.write("(set-logic QF_LIA)\n")
    for i in range(1000):
        out.write(f"(declare-const v{i} Int)\n")
    out.write("(assert (and")
    while out.tell() < size:
        out.write(f"\n  (<= (+ (* {r.randrange(100)} v{r.randrange(1000)}) v{r.randrange(1000)} (- v{r.randrange(1000)})) {r.randrange(10**6)})")
    out.write("))\n(check-sat)\n")


def deep(out, size):
    levels = size // 14
    out.write("(declare-const p Bool)(declare-const q Bool)(assert ")
    out.write("(or q (not " * levels + "p" + "))" * levels + ")\n(check-sat)\n")


def main():
    size = int(float(sys.argv[2]) * 1e6) if len(sys.argv) > 2 else 50_000_000
    with tempfile.TemporaryDirectory() as scratch:
        for make in (model_check, strings, wide, deep):
            path = f"{scratch}/{make.__name__}.smt2"
            with open(path, "w") as out:
                make(out, size)
            subprocess.run([sys.argv[1], "bench", path], check=True)


if __name__ == "__main__":
    main()
