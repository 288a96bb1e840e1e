#!/usr/bin/env python3
"""Tables of made-up runs, to judge selectors of a portfolio by others than the recorded ones.

    tests/bench/tables.py FOLDER [QUERIES [SEED]]

Writes FOLDER/KIND.tsv for each kind; `build/tests/bench/bench_selectors FOLDER/KIND.tsv` replays it (drift: --order file). The limit is 60 s.

A runtime is exp(the arm's location on the query's family + the query's hardness + noise); with some probability the arm never solves it, or gives
up soon. Features follow family and hardness as well as a kind says.
"""
import math
import pathlib
import random
import sys

LIMIT = 60

KINDS = {
    # arms, families, how far families differ for an arm, deviations of hardness and of noise, never, gives up, location, what features tell
    "kinds": dict(arms=6, families=6, differ=2.5, hardness=1.2, noise=.5, never=.1, fails=0, location=0, family=1, size=.5),
    "easy": dict(arms=4, families=2, differ=1, hardness=1, noise=.4, never=.01, fails=0, location=-3, family=1, size=.8),
    "alike": dict(arms=6, families=3, differ=.3, hardness=1.8, noise=.3, never=.05, fails=0, location=1, family=.5, size=.5),
    "logics": dict(arms=5, families=4, differ=2, hardness=1.5, noise=.7, never=.25, fails=.05, location=-1, family=1, size=.3),
    "drift": dict(arms=5, families=4, differ=2, hardness=1.5, noise=.7, never=.25, fails=.05, location=-1, family=1, size=.3),
    "failing": dict(arms=6, families=3, differ=1.5, hardness=1, noise=.5, never=.1, fails=.5, location=0, family=.7, size=.3),
    "blind": dict(arms=5, families=3, differ=2, hardness=1.5, noise=.8, never=.15, fails=0, location=0, family=0, size=0),
    "heavy": dict(arms=4, families=5, differ=1.5, hardness=2.5, noise=1.5, never=.4, fails=0, location=1, family=.8, size=.4),
    "two": dict(arms=2, families=3, differ=2, hardness=1.5, noise=.6, never=.2, fails=0, location=0, family=.8, size=.5),
    "many": dict(arms=16, families=5, differ=1.5, hardness=1.3, noise=.6, never=.2, fails=.05, location=0, family=.8, size=.4),
}


def run(rng, family, arm, hardness, k):
    if rng.random() < k["fails"] * family["fails"][arm]:
        return "error", min(LIMIT, math.exp(rng.gauss(-2, 1)))
    seconds = math.exp(family["location"][arm] + hardness + rng.gauss(0, k["noise"]))
    if seconds >= LIMIT or rng.random() < family["never"][arm]:
        return "timeout", LIMIT
    return "sat", seconds


def features(rng, number, hardness, k, families):
    told = number if rng.random() < k["family"] else rng.randrange(families)
    yield from (round(math.exp(rng.gauss(3 * (told == f), .5))) for f in range(families))
    yield round(math.exp(4 + k["size"] * hardness + (1 - k["size"]) * rng.gauss(0, 1.5)))
    yield round(math.exp(2 + k["size"] * hardness + rng.gauss(0, 1)))
    yield from (round(math.exp(rng.gauss(2, 1))) for _ in range(3))


def table(kind, queries, seed):
    k, rng = KINDS[kind], random.Random(f"{kind} {seed}")
    general = [rng.gauss(k["location"], .7) for _ in range(k["arms"])]
    families = [
        dict(
            location=[g + rng.gauss(0, k["differ"]) for g in general],
            never=[min(.95, rng.expovariate(1 / k["never"])) for _ in general],
            fails=[rng.random() < .5 for _ in general],
            hardness=rng.gauss(0, 1),
        )
        for _ in range(k["families"])
    ]
    names = [f"f{i}" for i in range(k["families"] + 5)]
    yield ["query", *names, *(f"arm{a}_{what}" for a in range(k["arms"]) for what in ("result", "seconds"))]
    for q in range(queries):
        number = q * k["families"] // queries if kind == "drift" else rng.randrange(k["families"])
        hardness = families[number]["hardness"] + rng.gauss(0, k["hardness"])
        runs = [run(rng, families[number], a, hardness, k) for a in range(k["arms"])]
        yield [f"q{q}", *features(rng, number, hardness, k, k["families"]), *(x for r in runs for x in (r[0], f"{r[1]:.4f}"))]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    queries, seed = (int(x) for x in (sys.argv[2:] + ["500", "1"][len(sys.argv) - 2:]))
    for kind in KINDS:
        with open(folder / f"{kind}.tsv", "w") as out:
            out.writelines("\t".join(map(str, row)) + "\n" for row in table(kind, queries, seed))


if __name__ == "__main__":
    main()
