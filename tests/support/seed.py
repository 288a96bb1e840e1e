"""Where the random numbers of test scripts begin: SOLVERFS_TEST_SEED, or the usual number, or a fresh one. seed.h is the same in C.

    seed.py SIZE    random bytes; reports the seed on standard error
"""
import os
import random
import sys


def test_seed(usual=None):
    given = os.environ.get("SOLVERFS_TEST_SEED") or usual
    return random.SystemRandom().randrange(1 << 32) if given is None else int(given)


if __name__ == "__main__":
    seed = test_seed()
    print(f"SOLVERFS_TEST_SEED={seed}", file=sys.stderr)
    sys.stdout.buffer.write(random.Random(seed).randbytes(int(sys.argv[1])))
