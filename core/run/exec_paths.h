/* Names inside a sandbox that its two sides agree on. */
#pragma once

/* The folder of a runner, with what becomes each run's /scratch and /case; no program sees what is in it. */
#define SANDBOX_RUNS "/.runs"
