#!/usr/bin/env python3
"""What the times of a script's queries are worth, and what they cost.

    tests/bench/queries.py SOLVERFS [--queries 1000] [--rounds 10] [--seed 1]

A made-up solver computes for a random time for each check-sat, says on standard error how long it took by its own clock, and answers. Prints how far
queries.tsv is from that, whether its seconds add up to the run's, and the CPU time of a run that tells each answer at once over that of one that tells
all of them at its end: what telling costs. Exit status 1: they do not add up, or it costs more than 2 %.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

SOLVER = r"""
#include <stdio.h>
#include <string.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int argc, char **argv)
{
        static char line[256], together[1 << 16];
        FILE *f = fopen(argv[argc - 1], "r");
        volatile unsigned long sink = 0;
        unsigned long units;
        double before = now();
        if (argc > 2)
                setvbuf(stdout, together, _IOFBF, sizeof(together));
        while (fgets(line, sizeof(line), f)) {
                if (sscanf(line, "(check-sat) ; %lu", &units) != 1)
                        continue;
                for (unsigned long i = 0; i < units * 1000; i++)
                        sink += i;
                puts("sat");
                if (argc <= 2)
                        fflush(stdout);
                double after = now();
                fprintf(stderr, "%.9f\n", after - before);
                before = after;
        }
        return 0;
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("solverfs")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    random.seed(o.seed)
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        (top / "solver.c").write_text(SOLVER)
        subprocess.run(["cc", "-O1", "-o", top / "solver", top / "solver.c"], check=True)
        script = "".join(f"(check-sat) ; {int(10 ** random.uniform(1.5, 4.3))}\n" for _ in range(o.queries))
        (top / "script.smt2").write_text(script)

        def solverfs(*words):
            return subprocess.run([o.solverfs, "--store", top / "store", *words], check=True, capture_output=True, text=True).stdout

        solverfs("init")
        solverfs("case", "add", str(top / "script.smt2"))
        versions = [f"exec:{top}/solver", f"exec:{top}/solver --together"]
        for _ in range(o.rounds):
            for version in versions:
                solverfs("run", version, "script.smt2", "--again")
        rows = [line.split("\t") for line in solverfs("run", versions[0], "script.smt2", "--print", "queries.tsv").splitlines()[1:]]
        own = [float(line) for line in solverfs("run", versions[0], "script.smt2", "--print", "stderr").split()]
        total = float(solverfs("run", versions[0], "script.smt2", "--print", "time"))
        off = [abs(float(row[3]) - seconds) for row, seconds in zip(rows, own, strict=True)]
        cpu = [float(solverfs("run", version, "script.smt2", "--print", "cputime")) for version in versions]
        added = sum(float(row[3]) for row in rows)
        print(f"queries\t{len(rows)}, {min(own) * 1e3:.3f} to {max(own) * 1e3:.1f} ms by the solver's own clock; the run {total:.3f} s")
        print(f"off\tmedian {statistics.median(off) * 1e6:.0f} us, 99 % within {sorted(off)[len(off) * 99 // 100] * 1e6:.0f} us, most {max(off) * 1e6:.0f} us")
        print(f"sum\t{added:.6f} s, {added / total:.4f} of the run's {total:.6f} s")
        print(f"cost\t{cpu[0] / cpu[1]:.4f} of the CPU time of a run that answers at its end (medians of {o.rounds} or more, in turn)")
    return 0 if added / total > 0.98 and cpu[0] / cpu[1] <= 1.02 else 1


if __name__ == "__main__":
    sys.exit(main())
