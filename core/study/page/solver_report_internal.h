/* Shared by the files of the solver's report: the data read, and the sections that show them. */
#pragma once

#include <math.h>

#include "core/query/query.h"
#include "core/workspace/select.h"
#include "core/report/html.h"
#include "core/study/observation/observation.h"
#include "core/study/page/solver_report.h"
#include "core/study/base/verdict_plot.h"

#define NOT_SHOWN UINT32_MAX

/* A measured commit. Neighbours on the line of first parents with the same program are one entry. */
struct report_commit {
        uint32_t number, place;      /* of the first commit; its place in the order of the history */
        uint32_t line_from, line_to; /* the first and the last commit, by place on the line of first parents; NOT_SHOWN: not on_line */
        bool on_line;
        uint32_t column; /* NOT_SHOWN: left out */
        struct digest program;
        struct commit commit; /* the first commit */
        git_oid last;         /* the last commit */
};

struct report_cell {
        float seconds;
        bool is_known, is_wrong;
        uint8_t verdict;
};

struct report_column {
        struct report_commit *of; /* borrowed */
        char *subject, *author;   /* owned */
        struct buffer tags;       /* of its commits: "v1, v1.0"; empty: none */
        size_t measured, wrong;
        size_t solved;      /* of the measured cases */
        double par2;        /* seconds; over the measured cases */
        bool is_comparable; /* the previous shown commit on the line has the same cases measured */
};

struct report_step {
        uint32_t case_index;
        const struct report_commit *before, *after; /* measured; the step is between them */
        bool is_slower;
        double seconds_before, seconds_after; /* geometric means, as in struct step; NaN: no answer */
};

struct report {
        const struct solver_report_options *options;
        struct workspace *workspace; /* this and the next: from the options */
        struct solver *solver;
        int64_t newest; /* seconds; the time of the newest result on the page */

        struct case_selection cases;
        size_t all_cases; /* of the set, before some were left out */
        double limit;     /* seconds; the recipe's */

        struct commit_order *order; /* a ref */
        struct ref_list *refs;      /* a ref */
        struct report_commit *commits; /* owned; in the order of the history */
        uint32_t *of_commit;           /* owned; of every commit: the index of the measured commit that represents it, or NOT_SHOWN */
        size_t n_commits, unbuildable;
        struct report_column *columns; /* owned; the shown ones */
        size_t n_columns;
        struct report_cell *cells; /* owned; [column * cases.n + case] */
        struct report_cell **by_seed; /* owned; [n_seeds] likewise, under the solver's seeds 1, 2, …; none if nothing is known */
        size_t n_seeds;

        struct report_step *steps; /* owned; by case, then by place */
        size_t n_steps;

        struct buffer left_out, not_started; /* sentences for the end of the page, as items of a list */
};

/* Read cases, commits and cells, and find the steps. *r is all zero except for its options; call report_done() after an error, too. */
int report_read(struct report *r);
int report_find_steps(struct report *r);
void report_done(struct report *r);
#define cleanup_report cleanup(report_done)

static inline const struct report_cell *report_cell(const struct report *r, size_t column, size_t case_index)
{
        return &r->cells[column * r->cases.n + case_index];
}
static inline bool cell_is_solved(const struct report_cell *c)
{
        return c->is_known && !c->is_wrong && verdict_is_decided((enum verdict)c->verdict);
}
/* The measured commit that represents this commit: itself, or a neighbour with the same program. NULL: not measured. */
struct report_commit *report_commit_of(const struct report *r, uint32_t number);
void report_newer(struct report *r, int64_t seconds); /* r->newest becomes at least this */
/* Adds a sentence to the end of the page; escapes it. */
void report_left_out(struct report *r, const char *format, ...) printf_like(2, 3);

/* The first line of a commit's message and its author's name; "" if they cannot be read. */
void report_commit_texts(struct solver *s, uint32_t commit, char **ret_subject, char **ret_author);
/* A path for a link, NULL if the page has no links; valid until the next call with the same buffer. */
const char *report_path(const struct report *r, struct buffer *room, const char *format, ...) printf_like(3, 4);
const char *report_commit_path(const struct report *r, const char *sha, struct buffer *room); /* of a commit */
/* A version: a link by the first 12 digits if it is a full sha, else its text. report_cell_version() adds it as a cell of its own. */
void report_add_version(const struct report *r, const char *version, struct buffer *b);
void report_cell_version(const struct report *r, struct html_table *t, const char *version, struct buffer *b);
/* Cells of a finding or an alarm: its number, linked to its folder (`end` "/") or file (""); its mark and address. */
void report_cell_number(const struct report *r, struct html_table *t, const struct observation *o, const char *end, struct buffer *b);
void report_cell_mark(struct html_table *t, const struct observation *o, struct buffer *b);
/* A cell with a word in the colour for worse or better. */
void report_cell_direction(struct html_table *t, bool is_worse, const char *word, struct buffer *b);
struct short_text report_date(int64_t seconds); /* "2024-01-31" */

/* The sections. Each appends. */
void report_write_history(struct report *r, struct buffer *b); /* the plots */
int report_write_tags(struct report *r, struct buffer *b);
void report_write_steps(struct report *r, struct buffer *b);
int report_write_alarms(struct report *r, struct buffer *b);
int report_write_findings(struct report *r, struct buffer *b);
void report_write_cases(struct report *r, struct buffer *b);
void report_write_commits(struct report *r, struct buffer *b);
