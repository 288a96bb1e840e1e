/* The colour and marker of a run's end, the same in all pictures. */
#pragma once

#include "core/run/verdict.h"

/* The values are styles of plot_style(). */
enum verdict_plot {
        VERDICT_PLOT_SAT,     /* blue circle */
        VERDICT_PLOT_WRONG,   /* orange square */
        VERDICT_PLOT_UNSAT,   /* green triangle */
        VERDICT_PLOT_UNKNOWN, /* pink diamond */
        VERDICT_PLOT_FAILED,  /* light blue: crash, error, memout */
        VERDICT_PLOT_TIMEOUT, /* amber cross */
        N_VERDICT_PLOTS
};

/* The order of drawing: nothing covers a wrong answer. */
static const enum verdict_plot verdict_plot_order[N_VERDICT_PLOTS] = {VERDICT_PLOT_SAT,    VERDICT_PLOT_UNSAT,   VERDICT_PLOT_UNKNOWN,
                                                                      VERDICT_PLOT_FAILED, VERDICT_PLOT_TIMEOUT, VERDICT_PLOT_WRONG};

static inline enum verdict_plot verdict_plot_of(enum verdict v, bool is_wrong)
{
        return is_wrong                 ? VERDICT_PLOT_WRONG
               : v == VERDICT_SAT     ? VERDICT_PLOT_SAT
               : v == VERDICT_UNSAT   ? VERDICT_PLOT_UNSAT
               : v == VERDICT_UNKNOWN ? VERDICT_PLOT_UNKNOWN
               : v == VERDICT_TIMEOUT ? VERDICT_PLOT_TIMEOUT
                                        : VERDICT_PLOT_FAILED;
}

static const char *const verdict_plot_names[N_VERDICT_PLOTS] = {"sat", "WRONG", "unsat", "unknown", "crash, error or memout", "timeout"};

static inline const char *verdict_plot_name(enum verdict v, bool is_wrong)
{
        return verdict_plot_names[verdict_plot_of(v, is_wrong)];
}
