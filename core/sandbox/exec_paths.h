/* Names inside a sandbox that its two sides agree on. */
#pragma once

/* The folder of a runner, with what becomes each run's /scratch; no program sees what is in it. Its folder `case` is /case in all. */
#define SANDBOX_RUNS "/.runs"
