#!/usr/bin/env python3
"""What learning costs a portfolio where there is little to win: the default held against its best arm alone.

    tests/bench/shapes.py build/tests/bench/bench_selectors [SEEDS [LIMIT...]]

For each shape and limit (60 and 20 seconds unless told) SEEDS tables (20) of 500 made-up queries are replayed, each in an order of its own. Prints
PAR-2 and queries solved of the default, of its best arm alone and of the virtual best, and the ratio of the first two: the mean of all tables, and the
worst one. With --keep FOLDER the tables stay there.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile


def good(at, never=0.01, noise=0.4):
    """Seconds grow with the query's hardness, from exp(at) on; `at` may be one for each family."""
    def run(rng, query, limit):
        location = at[query["family"]] if isinstance(at, tuple) else at
        return None if rng.random() < never else math.exp(location + query["hardness"] + rng.gauss(0, noise))
    return run


def steady(begin, end, never=0.01):
    """Takes this part of the limit, whatever the query is."""
    return lambda rng, query, limit: None if rng.random() < never else rng.uniform(begin, end) * limit


def dead(rng, query, limit):
    return None


def liar(chance):
    """Answers some queries soon, and each of them wrongly."""
    def run(rng, query, limit):
        return -min(limit / 2, math.exp(rng.gauss(-1, 1))) if rng.random() < chance else None
    return run


# In most: an arm that solves about 475 of 500, one that solves 445, three that never answer, one that answers 70 wrongly.
REST = [dead, dead, dead, liar(0.14)]
SHAPES = {
    "dominant": [good(-0.5), good(0.5, 0.07, 0.6), good(1, 0.3, 0.6)],
    "dominant, with the rest": [good(-0.5), good(0.5, 0.07, 0.6), *REST],
    "steady at a third": [steady(0.27, 0.3), steady(0.3, 0.35, 0.07), *REST],
    "steady, no liar": [steady(0.27, 0.3), steady(0.3, 0.35, 0.07), dead, dead, dead, steady(0.25, 0.35, 0.86)],
    "late": [steady(0.4, 1), steady(0.5, 1, 0.07), *REST],
    "anywhere": [steady(0, 0.57), steady(0, 0.6, 0.07), *REST],
    "seven dead": [dead, dead, dead, dead, good(0, 0.02), dead, dead, dead],
    "heavy": [good(0.5, 0.01, 1.5), dead, good(1.2, 0.1, 1.8), dead],
    "liars": [liar(0.5), good(0, 0.02), liar(0.2), good(1, 0.2)],
    "chaotic": [good(1, 0.05, 2.5), good(1.2, 0.05, 2.5), good(1.5, 0.1, 2.5), dead],
    "complementary": [good((-1.5, 3.0), 0.02), good((3.0, -1.5), 0.02), good(2, 0.2)],
    "complementary, blind": [good(-0.5, 0.3), good(-0.5, 0.3), good(-0.5, 0.3)],
}
OTHER = {"sat": "unsat", "unsat": "sat"}


def table(shape, seed, limit, queries):
    rng = random.Random(f"{shape} {seed}")
    arms = SHAPES[shape]
    yield ["query", "status", "family", "size", "noise", *(f"arm{a}_{what}" for a in range(len(arms)) for what in ("result", "seconds"))]
    for q in range(queries):
        query = dict(family=rng.randrange(2), hardness=rng.gauss(0, 1.2))
        is_hopeless, truth = rng.random() < 0.04, rng.choice(["sat", "unsat"])
        row = [f"q{q}", truth, math.exp(rng.gauss(3 * query["family"], 0.5)), math.exp(4 + 0.5 * query["hardness"] + rng.gauss(0, 0.8)), math.exp(rng.gauss(2, 1))]
        for arm in arms:
            seconds = arm(rng, query, limit)
            if seconds is not None and seconds < 0:
                row += [OTHER[truth], -seconds]
            elif seconds is None or is_hopeless or seconds >= limit:
                row += ["timeout", limit]
            else:
                row += [truth, seconds]
        yield row


def measure(selectors, path, limit, options):
    command = [selectors, str(path), "--limit", str(limit), "--seeds", "1", "--json", *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout.splitlines()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selectors", metavar="BENCH_SELECTORS")
    parser.add_argument("seeds", nargs="?", type=int, default=20)
    parser.add_argument("limits", nargs="*", type=float, default=[60, 20])
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--option", action="append", default=[], help="for bench_selectors, as --option=--without=guard")
    o = parser.parse_args()
    print("shape\tlimit\tpar2\tsolved\tbest-arm\tsolved\tvirtual-best\tratio\tworst")
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for shape in SHAPES:
            for limit in o.limits:
                scores = []
                for seed in range(1, o.seeds + 1):
                    path = folder / f"{shape.replace(', ', '-').replace(' ', '-')}-{limit:g}-{seed}.tsv"
                    with open(path, "w") as out:
                        out.writelines("\t".join(map(str, row)) + "\n" for row in table(shape, seed, limit, 500))
                    scores.append(measure(o.selectors, path, limit, o.option))
                mean = lambda key: sum(s[key] for s in scores) / len(scores)
                ratios = [s["par2"] / s["best_arm_par2"] for s in scores]
                print(f"{shape}\t{limit:g}\t{mean('par2'):.0f}\t{mean('solved'):.1f}\t{mean('best_arm_par2'):.0f}\t{mean('best_arm_solved'):.1f}\t"
                      f"{mean('virtual_best_par2'):.0f}\t{sum(ratios) / len(ratios):.3f}\t{max(ratios):.3f}", flush=True)


if __name__ == "__main__":
    main()
