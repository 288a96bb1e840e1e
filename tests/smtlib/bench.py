#!/usr/bin/env python3
"""How fast scripts are read: tests/smtlib/bench.py SMT2 [FOLDER...]; SMT2 is build/tests/smtlib/smt2.

Prints a line for each folder, whose files that end in .smt2 are read again and again (`smt2 rate`), for 240 small files made up, and for each
of four large ones: a bounded model check over bit-vectors and arrays, string constraints, one wide term over few names, one term as deep as
can be. The seconds are processor time, with giving back the memory; the files are in memory. $SOLVERFS_CORPORA may name the folders,
separated by colons; $SOLVERFS_BENCH_MEGABYTES (20) says how large the large ones are."""
import os
import pathlib
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


MAKERS = (model_check, strings, wide, deep)
SMALL = 2000  # bytes


def rate(smt2, name, paths):
    subprocess.run([smt2, "rate", name, *map(str, paths)], check=True)


def made(smt2, megabytes):
    with tempfile.TemporaryDirectory() as scratch:
        small = []
        for maker in MAKERS[:2] + MAKERS[3:]:
            for i in range(80):
                small.append(f"{scratch}/small_{maker.__name__}{i}.smt2")
                with open(small[-1], "w") as out:
                    maker(out, SMALL + 50 * i)
        rate(smt2, "small, made", small)
        for maker in MAKERS:
            path = f"{scratch}/{maker.__name__}.smt2"
            with open(path, "w") as out:
                maker(out, int(megabytes * 1e6))
            rate(smt2, maker.__name__, [path])
            os.unlink(path)


def main():
    smt2, folders = sys.argv[1], sys.argv[2:] or [f for f in os.environ.get("SOLVERFS_CORPORA", "").split(":") if f]
    for folder in folders:
        files = sorted(pathlib.Path(folder).rglob("*.smt2"))
        if not files:
            sys.exit(f"{folder}: no .smt2 file below it")
        rate(smt2, pathlib.Path(folder).name, files)
    made(smt2, float(os.environ.get("SOLVERFS_BENCH_MEGABYTES", "20")))


if __name__ == "__main__":
    main()
