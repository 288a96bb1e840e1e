/* Keeps and finds scrambled inputs. */
#include "core/query/scrambled.h"

#include <inttypes.h>

#include "core/query/resolved_cell.h"
#include "core/smtlib/scramble.h"

#define FOLDER   "scrambled/"
#define NAME_TOP 4000 /* a case's name may have 4096 bytes */

/* -- rows -------------------------------------------------------------------------------------------------------- */

#define ROW_KEY_SIZE (DIGEST_SIZE + 8)

static void row_key(const struct digest *of, uint64_t seed, uint8_t ret[ROW_KEY_SIZE])
{
        memcpy(ret, of->bytes, DIGEST_SIZE);
        key_u64(ret + DIGEST_SIZE, seed);
}

int scrambled_list(struct workspace *w, const struct digest *of, struct scrambled_input **ret, size_t *ret_n)
{
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_SCRAMBLED, .prefix = of ? SLICE(of->bytes, DIGEST_SIZE) : SLICE("", 0)};
        int r;

        *ret = NULL;
        *ret_n = 0;
        while ((r = store_walk(&each)) > 0) {
                struct scrambled_input *at;

                if (each.key.size != ROW_KEY_SIZE || each.value.size != DIGEST_SIZE)
                        continue; /* an unreadable one is made again */
                at = list_add(*ret, *ret_n, (struct scrambled_input){0});
                memcpy(at->of.bytes, each.key.data, DIGEST_SIZE);
                memcpy(at->sha256.bytes, each.value.data, DIGEST_SIZE);
                at->seed = key_get_u64((const uint8_t *)each.key.data + DIGEST_SIZE);
        }
        return r;
}

/* -- one --------------------------------------------------------------------------------------------------------- */

/* Gives the input the case's status, which its bytes may lack: DIMACS has none, and a status may have been set later. */
static void take_status(const struct case_info *of, struct case_info **info)
{
        struct case_info *answered;

        if ((of->status == VERDICT_UNKNOWN && of->status_set == 0) || (*info)->status != VERDICT_UNKNOWN || (*info)->n_expected > 1)
                return;
        answered = case_info_with_status(*info, of->status, of->status_set);
        case_info_unref(*info);
        *info = answered;
}

int scrambled_find(struct workspace *w, const struct case_info *of, uint64_t seed, struct case_info **ret)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[ROW_KEY_SIZE];
        struct digest sha256;
        int r;

        row_key(&of->sha256, seed, key);
        r = store_fetch(workspace_store(w), TABLE_SCRAMBLED, SLICE(key, sizeof(key)), &b);
        if (r == 0 && b.size != DIGEST_SIZE)
                r = -ENOENT;
        if (r < 0)
                return r;
        memcpy(sha256.bytes, b.data, DIGEST_SIZE);
        r = cases_find_digest(workspace_cases(w), &sha256, ret);
        if (r == 0)
                take_status(of, ret);
        return r;
}

/* Finds the input's case by the input's name, without a search. -ENOENT: the case has another name now, or is not there. */
static int take_status_by_name(struct workspace *w, struct case_info **input)
{
        cleanup(case_info_unrefp) struct case_info *of = NULL, *made = NULL;
        uint64_t seed;
        int at = 0, r;

        if (sscanf((*input)->name, FOLDER "%" SCNu64 "/%n", &seed, &at) != 1 || at == 0)
                return -ENOENT;
        r = cases_find(workspace_cases(w), (*input)->name + at, &of) ?: scrambled_find(w, of, seed, &made);
        if (r < 0 || made->id != (*input)->id)
                return r < 0 ? r : -ENOENT;
        case_info_unref(*input);
        *input = steal_pointer(made);
        return 0;
}

int scrambled_take_status(struct workspace *w, struct scrambled_inputs *all, struct case_info **input)
{
        bool is_wanted = false;
        int r = take_status_by_name(w, input);

        if (r != -ENOENT)
                return r;
        r = all->is_read ? 0 : scrambled_list(w, NULL, &all->list, &all->n);
        all->is_read = true;
        for (size_t i = 0; r == 0 && i < all->n; i++) {
                cleanup(case_info_unrefp) struct case_info *of = NULL;

                if (!digest_equal(&all->list[i].sha256, &(*input)->sha256))
                        continue;
                r = cases_find_digest(workspace_cases(w), &all->list[i].of, &of);
                if (r == 0 && !of->removed) {
                        take_status(of, input);
                        is_wanted = true;
                }
                r = r == -ENOENT ? 0 : r;
        }
        return r < 0 || is_wanted ? r : -ENOENT;
}

int scrambled_keep(struct workspace *w, const struct case_info *of, uint64_t seed, struct slice text, struct case_info **ret)
{
        struct cases *cases = workspace_cases(w);
        cleanup_buffer struct buffer name = {0};
        uint8_t key[ROW_KEY_SIZE];
        struct digest sha256;
        uint32_t id;
        int r;

        row_key(&of->sha256, seed, key);
        buffer_addf(&name, FOLDER "%" PRIu64 "/%s", seed, strlen(of->name) > NAME_TOP ? basename(of->name) : of->name);
        r = cases_add_derived(cases, name.data, text, &id);
        digest_of(text.data, text.size, &sha256);
        if (r == 0)
                r = store_set(workspace_store(w), TABLE_SCRAMBLED, SLICE(key, sizeof(key)), SLICE(sha256.bytes, DIGEST_SIZE))
                    ?: cases_get(cases, id, ret);
        if (r == 0)
                take_status(of, ret);
        return r;
}

static int scramble(struct workspace *w, const struct case_info *of, uint64_t seed, struct buffer *ret)
{
        cleanup_blob struct blob bytes = {0};
        int r = cases_read_bytes(workspace_cases(w), of, CASE_SIZE_MAX, &bytes);

        if (r < 0)
                return r;
        r = (of->format == FORMAT_CNF ? scramble_cnf : scramble_smt)(SLICE(bytes.data, bytes.size), seed, ret);
        return r == -EINVAL ? errorf(-ENOTSUP, "cannot scramble this: %s", error_message(r)) : r; /* the caller sees one error for both */
}

int scrambled_make(struct workspace *w, const struct case_info *of, uint64_t seed, struct case_info **ret)
{
        cleanup_buffer struct buffer text = {0};
        int r = scramble(w, of, seed, &text);

        return r < 0 ? r : scrambled_keep(w, of, seed, SLICE(text.data, text.size), ret);
}

int scrambled_digest(struct workspace *w, const struct case_info *of, uint64_t seed, struct digest *ret)
{
        cleanup_buffer struct buffer text = {0};
        int r = scramble(w, of, seed, &text);

        if (r == 0)
                digest_of(text.data, text.size, ret);
        return r;
}

/* -- many -------------------------------------------------------------------------------------------------------- */

int scrambled_runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n)
{
        cleanup_free struct scrambled_input *inputs = NULL;
        cleanup_digests struct digest_list found = {0};
        cleanup_resolved struct resolved_cell resolved = {0};
        size_t n = 0;
        int r = cell_resolve(w, cell, NULL, &resolved) ?: resolved_digests(w, &resolved, false, &found);

        *ret_ids = NULL;
        *ret_n = 0;
        if (r == 0 && found.n > 0)
                r = scrambled_list(w, NULL, &inputs, &n);
        for (size_t i = 0; i < n && r == 0; i++) {
                cleanup(case_info_unrefp) struct case_info *of = NULL;

                if (inputs[i].seed != cell->scramble || !digest_list_find(&found, &inputs[i].sha256))
                        continue;
                r = cases_find_digest(workspace_cases(w), &inputs[i].of, &of);
                if (r == 0 && !of->removed)
                        list_add(*ret_ids, *ret_n, of->id);
                r = r == -ENOENT ? 0 : r;
        }
        sort_list(*ret_ids, *ret_n, sizeof(**ret_ids), compare_u32);
        return r;
}

/* -- unused inputs ----------------------------------------------------------------------------------------------------- */

struct sweep {
        struct workspace *workspace;
        bool is_read;
        int error;
        struct digest_list used; /* the inputs with results */
        struct scrambled_input *made; /* owned */
        size_t n_made;
};

static int drop_rows(void *user, const struct case_info *info)
{
        const struct sweep *s = user;
        struct store_update u = {.store = workspace_store(s->workspace)};

        while (store_update_begins(&u))
                for (size_t i = 0; u.r == 0 && i < s->n_made; i++) {
                        uint8_t key[ROW_KEY_SIZE];

                        row_key(&s->made[i].of, s->made[i].seed, key);
                        if (digest_equal(&s->made[i].sha256, &info->sha256) && store_has(u.txn, TABLE_SCRAMBLED, SLICE(key, sizeof(key))))
                                u.r = store_delete(u.txn, TABLE_SCRAMBLED, SLICE(key, sizeof(key)));
                }
        return u.r;
}

/* Collects the inputs of a table of facts or of samples from its keys. */
static int note_uses(struct sweep *s, size_t table)
{
        cleanup_walk struct store_walk each = {.store = workspace_store(s->workspace), .table = table, .keys_only = true};
        int r;

        while ((r = store_walk(&each)) > 0) {
                const uint8_t *sha256 = (const uint8_t *)each.key.data + DIGEST_SIZE;

                if (each.key.size >= RUN_KEY_SIZE && (s->used.n == 0 || memcmp(s->used.list[s->used.n - 1].bytes, sha256, DIGEST_SIZE) != 0))
                        digest_list_add(&s->used, sha256);
        }
        return r;
}

static int find_used(struct sweep *s)
{
        int r = scrambled_list(s->workspace, NULL, &s->made, &s->n_made)
            ?: note_uses(s, TABLE_FACTS)
            ?: note_uses(s, TABLE_SAMPLES);

        digest_list_sort(&s->used);
        return r;
}

/* Reads the results only once there is an input to look for. */
static bool is_used(void *user, const struct case_info *info)
{
        struct sweep *s = user;

        if (!s->is_read)
                s->error = find_used(s);
        s->is_read = true;
        return s->error < 0 || digest_list_find(&s->used, &info->sha256);
}

int scrambled_sweep(struct workspace *w, bool dry_run, int64_t seconds, uint64_t *ret_n, uint64_t *ret_bytes)
{
        struct sweep s = {.workspace = w};
        const struct derived_sweep sweep = {.dry_run = dry_run, .seconds = seconds, .is_wanted = is_used, .forget = drop_rows, .user = &s};
        int r = cases_sweep_derived(workspace_cases(w), &sweep, ret_n, ret_bytes);

        digest_list_done(&s.used);
        free(s.made);
        return r < 0 ? r : s.error;
}
