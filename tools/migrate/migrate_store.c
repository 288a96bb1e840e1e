/* migrate-store: rewrites in place the records of a store that have older formats. Commits, cases and inodes keep their numbers.
 *
 *     facts and samples   1: without a stack; 2: without the time waited; 3: the last answer is the verdict, even if questions had none
 *     builds              1: without their programs
 *     trials              1: without expectations
 *
 * After an interruption, run it again: it leaves rewritten records alone. */
#include <err.h>
#include <fcntl.h>

#include "cache/base/json.h"
#include "cache/base/lock.h"
#include "cache/base/record.h"
#include "core/build/build.h"
#include "core/workspace/format.h"
#include "core/workspace/meta.h"
#include "core/run/fact.h"

#define CHUNK 250 /* records rewritten in one transaction */

/* Copies a record and inserts zeros. */
static void insert_zeros(struct slice old, size_t at, size_t n, struct buffer *ret)
{
        const uint8_t *bytes = old.data;

        buffer_add(ret, bytes, at);
        buffer_add(ret, (const uint8_t[16]){0}, n);
        buffer_add(ret, bytes + at, old.size - at);
}

/* -- facts: the fields of a fixed size, numbers of eight bytes behind eight bytes, stand before the texts -------- */

#define HEAD_V1   (8 + 8 * 14)       /* bytes of these fields in format 1 */
#define STACK_AT  (8 + 8 * 8)        /* where format 2 has the limit of the stack */
#define WAITED_AT (STACK_AT + 8 * 3) /* where format 3 has the time waited */

/* Reads today's verdict out of the stored output. -ENODATA: the stored verdict stays. */
static int judge(const struct fact *f, const json_t *json, struct verdicts *ret)
{
        const json_t *end = json_object_get(json, "end");
        const struct execute_result run = {.end = END_EXIT, .code = (int)json_integer_value(json_object_get(end, "status")), .out = f->out, .err = f->err};

        if (strcmp(json_text(end, "reason", ""), "exit") != 0 || json_is_true(json_object_get(json_object_get(json, "stdout"), "cut")))
                return -ENODATA; /* the missing answers may be in the part that was cut */
        verdict_read(FORMAT_SMT2, json_array_size(json_object_get(json, "expected")), &run, ret);
        return 0;
}

static void replace(struct blob *b, char *text)
{
        blob_done(b);
        *b = (struct blob){.data = text, .size = strlen(text), .owned = text};
}

/* Sets it in the fact's fields, in its file run.json, and as one more line of its results. */
static int set_verdict(struct fact *f, json_t *json, enum verdict v)
{
        json_t *sample = json_array_get(json_object_get(json, "samples"), (size_t)json_integer_value(json_object_get(json, "chosen")));
        char *text;

        f->verdict = v;
        json_object_set_new(json, "verdict", json_string(verdict_name(v)));
        json_object_set_new(sample, "verdict", json_string(verdict_name(v)));
        replace(&f->results, format_string("%.*s%s\n", (int)f->results.size, (const char *)f->results.data, verdict_name(v)));
        text = json_dumps(json, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
        if (!text)
                return -ENOMEM;
        replace(&f->json, text);
        return 0;
}

/* Sets today's verdict of a run that left questions of its case unanswered. */
static int judge_anew(struct fact *f)
{
        json_t *json = json_loadb(f->json.data ? f->json.data : "", f->json.size, 0, NULL);
        struct verdicts v = {0};
        int r = json_array_size(json_object_get(json, "expected")) > 1 ? judge(f, json, &v) : -ENODATA;

        if (r == 0 && !v.is_answer && v.n > 0)
                r = set_verdict(f, json, v.last);
        verdicts_done(&v);
        json_decref(json);
        return r == -ENODATA ? 0 : r;
}

/* For TABLE_FACTS and TABLE_SAMPLES. */
static int rewrite_fact(struct slice, struct slice old, struct buffer *ret)
{
        cleanup_buffer struct buffer with_stack = {0}, with_both = {0};
        cleanup(fact_unrefp) struct fact *f = NULL;
        const uint8_t format = *(const uint8_t *)old.data;
        int r;

        if (format >= FACT_VERSION || old.size < HEAD_V1)
                return -EBADMSG;
        insert_zeros(old, STACK_AT, format < 2 ? 8 : 0, &with_stack);
        insert_zeros(SLICE(with_stack.data, with_stack.size), WAITED_AT, format < 3 ? 8 : 0, &with_both);
        if (buffer_error(&with_both) < 0)
                return -ENOMEM;
        with_both.data[0] = FACT_VERSION;
        r = fact_decode(SLICE(with_both.data, with_both.size), FACT_WHOLE, &f) ?: judge_anew(f);
        return r < 0 ? r : fact_encode(f, ret);
}

/* -- builds and trials ------------------------------------------------------------------------------------------- */

/* Inserts the lengths of two empty lists, of programs and of differences, which precede the log. */
static int rewrite_build(struct slice, struct slice old, struct buffer *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct record rec = record_of(old);
        bool has_reason;
        int r;

        record_version(&rec, 1);
        record_slice(&rec, 2);
        has_reason = record_bool(&rec);
        record_slice(&rec, GIT_OID_RAWSZ + 4 * 8);
        if (has_reason)
                record_slice(&rec, record_u64(&rec));
        for (uint64_t n = record_u64(&rec); n > 0 && rec.error == 0; n--) {
                record_slice(&rec, record_u64(&rec));
                record_slice(&rec, DIGEST_SIZE + 2 * 8);
        }
        if (rec.error < 0)
                return rec.error;
        insert_zeros(old, (size_t)(rec.at - (const uint8_t *)old.data), 2 * 8, ret);
        if (buffer_error(ret) < 0)
                return -ENOMEM;
        ret->data[0] = BUILD_RECORD_VERSION;
        r = build_record_decode(SLICE(ret->data, ret->size), WITH_LOG, &record);
        return r == -ENOENT ? 0 : r; /* an incremental build's record has no effect, and stays */
}

/* Inserts the number of expectations, 0, behind the features. The table has other records, too: a trial's key has a 't' or an 'a' behind its digest. */
static int rewrite_trial(struct slice key, struct slice old, struct buffer *ret)
{
        struct record rec = record_of(old);
        char kind = key.size > DIGEST_SIZE ? ((const char *)key.data)[DIGEST_SIZE] : '\0';

        record_version(&rec, 1);
        record_slice(&rec, 4 + 4 + 8 + 1 + 4 + 8);
        record_slice(&rec, 8 * (uint64_t)record_u32(&rec));
        if (rec.error < 0 || (kind != 't' && kind != 'a'))
                return -EBADMSG;
        insert_zeros(old, (size_t)(rec.at - (const uint8_t *)old.data), 4, ret);
        if (buffer_error(ret) == 0)
                ret->data[0] = 2;
        return buffer_error(ret);
}

/* -- a store ----------------------------------------------------------------------------------------------------- */

static const struct kind {
        const char *name;
        enum table table;
        /* -EBADMSG: it has today's format, or cannot be read */
        int (*rewrite)(struct slice key, struct slice old, struct buffer *ret);
} kinds[] = {
        {"builds", TABLE_BUILDS, rewrite_build},
        {"facts", TABLE_FACTS, rewrite_fact},
        {"samples", TABLE_SAMPLES, rewrite_fact},
        {"trials", TABLE_PORTFOLIOS, rewrite_trial},
};

struct migration {
        const struct kind *kind;
        struct store_txn *txn;
        struct buffer from, next; /* where this chunk and the next begin */
        uint64_t n, done;
};

/* 1: the next chunk begins with this key. */
static int migrate_one(struct migration *m, struct slice key, struct slice value)
{
        cleanup_buffer struct buffer new = {0};
        int r;

        if (m->n == CHUNK) {
                buffer_add(&m->next, key.data, key.size);
                return buffer_error(&m->next) < 0 ? -ENOMEM : 1;
        }
        r = value.size > 0 ? m->kind->rewrite(key, value, &new) : -EBADMSG;
        if (r == -EBADMSG)
                return 0;
        m->n++;
        return r < 0 ? r : store_put(m->txn, m->kind->table, key, SLICE(new.data, new.size));
}

/* Run again after a failed commit, from the same place. */
static int migrate_chunk(void *user, struct store_txn *t)
{
        struct migration *m = user;
        cleanup_walk struct store_walk w = {.txn = t, .table = m->kind->table, .from = SLICE(m->from.data, m->from.size)};
        int r = 0;

        m->txn = t;
        m->n = 0;
        buffer_done(&m->next);
        while (r == 0 && (r = store_walk(&w)) > 0)
                r = migrate_one(m, w.key, w.value);
        return MIN(r, 0);
}

static int migrate_table(struct store *s, const struct kind *k, uint64_t *ret_done)
{
        struct migration m = {.kind = k};
        int r;

        do {
                r = store_update(s, migrate_chunk, &m);
                m.done += m.n;
                buffer_done(&m.from);
                m.from = m.next;
                m.next = (struct buffer){0};
        } while (r == 0 && m.from.size > 0);
        buffer_done(&m.from);
        if (r == 0 && m.done > 0)
                printf("%s: %" PRIu64 " rewritten\n", k->name, m.done);
        *ret_done += m.done;
        return r;
}

static bool has_records(struct store *s)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++) {
                cleanup_walk struct store_walk walk = {.store = s, .table = kinds[i].table};

                r = store_walk(&walk);
        }
        return r != 0;
}

/* Checks that results are stored by program, and programs in files. Stores with a format of facts have results by program, and do not say so. A store
 * that no command has opened yet has none of the numbers. */
static int check_layout(struct store *s)
{
        cleanup_txn struct store_txn *t = NULL;
        uint64_t format;
        int r = store_read(s, &t);

        if (r < 0)
                return r;
        format = meta_number_in(t, FORMAT_FACTS);
        if (format > FACT_VERSION)
                return errorf(-EPROTONOSUPPORT, "%s has facts of format %" PRIu64 ", and this migrate-store knows format %d only: use a newer one",
                              store_dir(s), format, FACT_VERSION);
        if (((format > 0 || meta_number_in(t, "runs/keyed-by") == 1) && meta_number_in(t, FORMAT_PROGRAMS) == 1) || !has_records(s))
                return 0;
        return errorf(-EPROTONOSUPPORT, "%s is of before 23 November 2026: first run a command on it with solverfs of commit 38662ac, which takes it over",
                      store_dir(s));
}

int main(int argc, char **argv)
{
        struct store *s = NULL;
        uint64_t done = 0;
        int r, alone = -1, fd = -1;

        while (fd <= STDERR_FILENO && (fd = open("/dev/null", O_RDWR)) >= 0) /* if these are closed, no file of the store gets their numbers */
                ;
        close(fd);
        if (argc != 2)
                errx(2, "usage: migrate-store STORE");
        if (lock_try(argv[1], "store.lock", LOCK_ALONE, &alone) == -EAGAIN) /* an older process would measure what it cannot read any more */
                errx(1, "%s is in use: unmount it, and end its commands", argv[1]);
        closep(&alone);
        r = store_open(argv[1], workspace_tables, N_TABLES, STORE_CHECK, &s) ?: check_layout(s);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
                r = migrate_table(s, &kinds[i], &done);
        if (r == 0)
                r = format_note(s, false);
        if (r == 0 && done == 0)
                puts("nothing to do");
        store_close(s);
        if (r < 0)
                errx(1, "%s", error_message(r));
        if (fflush(stdout) != 0 || ferror(stdout))
                err(1, "standard output");
        return 0;
}
