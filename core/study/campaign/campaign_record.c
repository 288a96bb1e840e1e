/* Campaigns in the store: settings and status, as JSON. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>
#include <jansson.h>

#include "core/run/host.h"

/* In TABLE_CAMPAIGNS: 's' solver(4) name → settings, 't' solver(4) name → status */
struct campaign_key {
        uint8_t bytes[5 + NAME_MAX + 1];
        size_t size;
};

static struct slice key_of(struct campaign_key *k, char kind, uint32_t solver, const char *name)
{
        k->bytes[0] = (uint8_t)kind;
        key_u32(k->bytes + 1, solver);
        k->size = 5 + strlen(name);
        memcpy(k->bytes + 5, name, strlen(name));
        return SLICE(k->bytes, k->size);
}

int campaign_check_name(const char *name)
{
        size_t n = strlen(name);

        if (n == 0 || n > 100 || name[0] == '.')
                return errorf(-EINVAL, "'%s' is not a name for a campaign: 1 to 100 characters, the first not a point", name);
        for (size_t i = 0; i < n; i++)
                if (name[i] == '/' || (unsigned char)name[i] <= ' ' || (unsigned char)name[i] == 127)
                        return errorf(-EINVAL, "the name of a campaign has no blanks, slashes or control characters: '%s'", name);
        return 0;
}

/* -- settings -- */

int campaign_settings_new(struct campaign_settings *s)
{
        *s = (struct campaign_settings){.strategy = STRATEGY_SOLVERFS,
                                        .seed = 1,
                                        .timeout = strategy_defaults.timeout,
                                        .threshold = strategy_defaults.threshold,
                                        .window = strategy_defaults.window,
                                        .localize = true,
                                        .localize_seconds = -1,
                                        .reduce_seconds = -1,
                                        .label = VERDICT_UNKNOWN,
                                        .iterations = 300,
                                        .chain = 25};
        return 0;
}

void campaign_settings_done(struct campaign_settings *s)
{
        free(s->name);
        free(s->target);
        free(s->corpus);
        free(s->fingerprint);
        if (s->references)
                strings_free(s->references);
        if (s->oracles)
                strings_free(s->oracles);
        *s = (struct campaign_settings){0};
}

static json_t *strings_json(char *const *list)
{
        json_t *a = json_array();

        for (; list && *list; list++)
                json_array_append_new(a, json_string(*list));
        return a;
}

static int strings_from_json(json_t *a, char ***ret)
{
        size_t n = json_array_size(a);
        char **list = calloc(n + 1, sizeof(*list));

        for (size_t i = 0; list && i < n; i++) {
                const char *text = json_string_value(json_array_get(a, i));

                list[i] = strdup(text ? text : "");
                if (!list[i]) {
                        strings_free(list);
                        return -ENOMEM;
                }
        }
        *ret = list;
        return list ? 0 : -ENOMEM;
}

static json_t *settings_json(const struct campaign_settings *s)
{
        return json_pack("{si so ss so ss sI sf sf sf sf si ss* sb sb sf sb sf sb ss si si ss*}", "version", 1, "references",
                         strings_json(s->references), "target", s->target, "oracles", strings_json(s->oracles), "strategy",
                         strategy_name(s->strategy), "seed", (json_int_t)s->seed, "timeout", s->timeout, "threshold",
                         s->threshold, "window", s->window, "seconds", s->seconds, "jobs", (int)s->jobs, "corpus", s->corpus,
                         "any-pair", s->any_pair, "localize", s->localize, "localize-seconds", s->localize_seconds, "cpu-time", s->cpu_time, "reduce-seconds",
                         s->reduce_seconds, "unknowns", s->kind == CAMPAIGN_UNKNOWNS, "label", verdict_name(s->label), "iterations", (int)s->iterations, "chain",
                         (int)s->chain, "fingerprint", s->fingerprint);
}

static int settings_from_json(json_t *j, const char *name, struct campaign_settings *ret)
{
        cleanup_campaign_settings struct campaign_settings s = {.localize_seconds = -1};
        const char *target, *strategy, *corpus = NULL, *label = "unknown", *fingerprint = NULL;
        json_t *references, *oracles;
        int version, jobs, any_pair, localize, cpu_time = 0, unknowns = 0, iterations = 300, chain = 25, r;
        json_int_t seed;

        if (json_unpack(j, "{si so ss so ss sI sF sF sF sF si s?s sb sb s?F s?b s?F s?b s?s s?i s?i s?s}", "version", &version,
                        "references", &references, "target", &target, "oracles", &oracles, "strategy", &strategy, "seed", &seed,
                        "timeout", &s.timeout, "threshold", &s.threshold, "window", &s.window, "seconds", &s.seconds, "jobs",
                        &jobs, "corpus", &corpus, "any-pair", &any_pair, "localize", &localize, "localize-seconds", &s.localize_seconds, "cpu-time", &cpu_time,
                        "reduce-seconds", &s.reduce_seconds, "unknowns", &unknowns, "label", &label, "iterations", &iterations, "chain", &chain, "fingerprint", &fingerprint) < 0)
                return errorf(-EIO, "the settings of the campaign %s are damaged", name);
        s.name = strdup(name);
        s.target = strdup(target);
        s.corpus = corpus ? strdup(corpus) : NULL;
        s.seed = (uint64_t)seed;
        s.jobs = (unsigned)jobs;
        s.any_pair = any_pair;
        s.localize = localize;
        s.cpu_time = cpu_time;
        s.kind = unknowns ? CAMPAIGN_UNKNOWNS : CAMPAIGN_SLOWDOWNS;
        s.label = strcmp(label, "sat") == 0 ? VERDICT_SAT : strcmp(label, "unsat") == 0 ? VERDICT_UNSAT : VERDICT_UNKNOWN;
        s.iterations = (unsigned)iterations;
        s.chain = (unsigned)chain;
        s.fingerprint = fingerprint ? strdup(fingerprint) : NULL;
        r = strategy_parse(strategy, &s.strategy);
        if (r == 0)
                r = strings_from_json(references, &s.references);
        if (r == 0)
                r = strings_from_json(oracles, &s.oracles);
        if (r == 0 && (!s.name || !s.target || (corpus && !s.corpus)))
                r = -ENOMEM;
        if (r < 0)
                return r;
        *ret = s;
        s = (struct campaign_settings){0};
        return 0;
}

/* -- status -- */

const char *campaign_state_name(enum campaign_state s)
{
        static const char *const names[] = {
                [CAMPAIGN_STOPPED] = "stopped", [CAMPAIGN_RUNNING] = "running", [CAMPAIGN_FINISHED] = "finished"};

        return names[s];
}

static json_t *status_json(const struct campaign_status *s)
{
        return json_pack("{si si sI sI sf sI sI sf sI sI sI sI sI sI sI sI sI}", "version", 1, "state", (int)s->state, "begun",
                         (json_int_t)s->begun, "changed", (json_int_t)s->changed, "worked", s->worked, "inputs",
                         (json_int_t)s->inputs, "runs", (json_int_t)s->runs, "solving", s->solving, "candidates",
                         (json_int_t)s->candidates, "finds", (json_int_t)s->finds, "soundness", (json_int_t)s->soundness,
                         "crashes", (json_int_t)s->crashes, "rejected", (json_int_t)s->rejected, "skipped",
                         (json_int_t)s->skipped, "implications", (json_int_t)s->implications, "duplicates",
                         (json_int_t)s->duplicates, "distinct", (json_int_t)s->distinct);
}

static int status_from_json(json_t *j, const char *name, struct campaign_status *s)
{
        json_int_t begun, changed, inputs, runs, candidates, finds, soundness, crashes, rejected, skipped, distinct = 0, implications = 0,
                                                                                                           duplicates = 0;
        int version, state;

        if (json_unpack(j, "{si si sI sI sF sI sI sF sI sI sI sI sI sI s?I s?I s?I}", "version", &version, "state", &state, "begun",
                        &begun, "changed", &changed, "worked", &s->worked, "inputs", &inputs, "runs", &runs, "solving",
                        &s->solving, "candidates", &candidates, "finds", &finds, "soundness", &soundness, "crashes", &crashes,
                        "rejected", &rejected, "skipped", &skipped, "implications", &implications, "duplicates",
                        &duplicates, "distinct", &distinct) < 0 ||
            state < 0 || state >= N_CAMPAIGN_STATES)
                return errorf(-EIO, "the status of the campaign %s is damaged", name);
        s->state = (enum campaign_state)state;
        s->begun = begun;
        s->changed = changed;
        s->inputs = (uint64_t)inputs;
        s->runs = (uint64_t)runs;
        s->candidates = (uint64_t)candidates;
        s->finds = (uint64_t)finds;
        s->soundness = (uint64_t)soundness;
        s->crashes = (uint64_t)crashes;
        s->rejected = (uint64_t)rejected;
        s->skipped = (uint64_t)skipped;
        s->implications = (uint64_t)implications;
        s->duplicates = (uint64_t)duplicates;
        s->distinct = (uint64_t)distinct;
        return 0;
}

/* -- the table -- */

static int put_json(struct workspace *w, char kind, uint32_t solver, const char *name, json_t *j)
{
        cleanup_free char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
        struct campaign_key key;

        json_decref(j);
        if (!text)
                return -ENOMEM;
        return store_set(workspace_store(w), TABLE_CAMPAIGNS, key_of(&key, kind, solver, name), slice_string(text));
}

static int get_json(struct workspace *w, char kind, uint32_t solver, const char *name, json_t **ret)
{
        cleanup_blob struct blob b = {0};
        struct campaign_key key;
        int r = strlen(name) > NAME_MAX ? -ENOENT
                                        : store_fetch(workspace_store(w), TABLE_CAMPAIGNS, key_of(&key, kind, solver, name), &b);

        if (r == -ENOENT)
                return errorf(r, "there is no campaign '%s'", name);
        if (r < 0)
                return r;
        *ret = json_loadb(b.data, b.size, 0, NULL);
        return *ret ? 0 : errorf(-EIO, "the record of the campaign %s is damaged", name);
}

int campaign_put_settings(struct workspace *w, uint32_t solver, const struct campaign_settings *s)
{
        return put_json(w, 's', solver, s->name, settings_json(s));
}

int campaign_put_status(struct workspace *w, uint32_t solver, const char *name, const struct campaign_status *s)
{
        return put_json(w, 't', solver, name, status_json(s));
}

int campaign_get(struct workspace *w, uint32_t solver, const char *name, struct campaign_settings *ret_settings,
                 struct campaign_status *ret_status)
{
        json_t *j = NULL;
        int r = 0;

        if (ret_status) {
                *ret_status = (struct campaign_status){0};
                r = get_json(w, 't', solver, name, &j);
                if (r == 0)
                        r = status_from_json(j, name, ret_status);
                json_decref(j);
                j = NULL;
                if (r == -ENOENT && ret_settings)
                        r = 0; /* killed before it had one */
        }
        if (r == 0 && ret_settings) {
                r = get_json(w, 's', solver, name, &j);
                if (r == 0)
                        r = settings_from_json(j, name, ret_settings);
                json_decref(j);
        }
        return r;
}

struct names {
        char **list;
        size_t n;
};

static int add_name(void *user, struct slice key, struct slice value)
{
        struct names *names = user;

        char **longer = reallocarray(names->list, names->n + 2, sizeof(*longer));

        if (!longer)
                return -ENOMEM;
        names->list = longer;
        longer[names->n + 1] = NULL;
        longer[names->n] = strndup((const char *)key.data + 5, key.size - 5);
        return longer[names->n] ? (names->n++, 0) : -ENOMEM;
}

int campaign_names(struct workspace *w, uint32_t solver, char ***ret, size_t *ret_n)
{
        cleanup_txn struct store_txn *t = NULL;
        struct campaign_key key;
        struct names names = {.list = calloc(1, sizeof(*names.list))};
        int r = names.list ? store_read(workspace_store(w), &t) : -ENOMEM;

        if (r == 0)
                r = store_each(t, TABLE_CAMPAIGNS, key_of(&key, 's', solver, ""), SLICE("", 0), false, add_name, &names);
        if (r < 0) {
                strings_free(names.list);
                return r;
        }
        *ret = names.list;
        *ret_n = names.n;
        return 0;
}

int campaign_folder(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE])
{
        char dir[PATH_SIZE];
        int n = snprintf(dir, sizeof(dir), "campaigns/%s/%s", solver, name);

        return n >= PATH_SIZE ? -ENAMETOOLONG : path_join(ret, workspace_dir(w), dir);
}

int campaign_machine(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE])
{
        cleanup_blob struct blob b = {0};
        char folder[PATH_SIZE], path[PATH_SIZE];
        int r = campaign_folder(w, solver, name, folder);

        if (r == 0)
                r = path_join(path, folder, "machine");
        if (r == 0)
                r = read_file(path, PATH_SIZE - 1, &b);
        if (r == 0)
                snprintf(ret, PATH_SIZE, "%.*s", (int)b.size, (const char *)b.data);
        return r;
}

bool campaign_is_elsewhere(struct workspace *w, const char *solver, const char *name, char ret_machine[PATH_SIZE])
{
        return campaign_machine(w, solver, name, ret_machine) == 0 && *ret_machine && strcmp(ret_machine, host_machine()) != 0;
}

/* -- for people -- */

void campaign_print_settings(const struct campaign_settings *s, struct buffer *ret)
{
        for (char *const *p = s->references; p && *p; p++)
                buffer_addf(ret, "reference = %s\n", *p);
        buffer_addf(ret, "target = %s\n", s->target);
        for (char *const *p = s->oracles; p && *p; p++)
                buffer_addf(ret, "oracle = %s\n", *p);
        if (s->kind == CAMPAIGN_UNKNOWNS) {
                buffer_addf(ret, "seeds = %s\noracle = %s\niterations = %u\nchain = %u\n", s->corpus ? s->corpus : "",
                            s->label == VERDICT_UNKNOWN ? "auto" : verdict_name(s->label), s->iterations, s->chain);
                buffer_addf(ret, "seed = %" PRIu64 "\ntimeout = %gs\nclock = %s\nfor = %gs\n", s->seed, s->timeout,
                            s->cpu_time ? "cpu" : "wall", s->seconds);
        } else {
                buffer_addf(ret, "strategy = %s\nseed = %" PRIu64 "\ntimeout = %gs\nthreshold = %gs\nwindow = %gs\nfor = %gs\n",
                            strategy_name(s->strategy), s->seed, s->timeout, s->threshold, s->window, s->seconds);
                if (s->corpus)
                        buffer_addf(ret, "corpus = %s\n", s->corpus);
                buffer_addf(ret, "pairs = %s\nclock = %s\n", s->any_pair ? "any" : "target", s->cpu_time ? "cpu" : "wall");
        }
        buffer_addf(ret, "localize = %s\n", s->localize ? "true" : "false");
        if (s->localize && s->localize_seconds >= 0)
                buffer_addf(ret, "localize-for = %gs\n", s->localize_seconds);
        buffer_addf(ret, "reduce-for = %gs\n", s->reduce_seconds);
}

static void print_work(const struct campaign_status *s, const char *inputs, struct buffer *ret)
{
        buffer_addf(ret, "state %s\nworked %.0fs\n%s %" PRIu64 "\nruns %" PRIu64 "\n", campaign_state_name(s->state), s->worked,
                    inputs, s->inputs, s->runs);
        buffer_addf(ret, "mean-solving-time %.3fs\n", s->runs > 0 ? s->solving / (double)s->runs : 0);
}

/* Known once they are reduced. */
static void print_distinct(const struct campaign_status *s, struct buffer *ret)
{
        if (s->distinct > 0)
                buffer_addf(ret, "to-report %" PRIu64 "\n", s->distinct);
}

void campaign_print_status(enum campaign_kind kind, const struct campaign_status *s, struct buffer *ret)
{
        double hours = s->worked / 3600;

        if (kind == CAMPAIGN_UNKNOWNS) {
                buffer_addf(ret, "soundness %" PRIu64 "\ncrashes %" PRIu64 "\n", s->soundness, s->crashes);
                buffer_addf(ret, "regressions %" PRIu64 "\nimplications %" PRIu64 "\n", s->finds - s->implications,
                            s->implications);
                print_distinct(s, ret);
                buffer_addf(ret, "unknowns %" PRIu64 "\nduplicates %" PRIu64 "\nrejected %" PRIu64 "\n", s->candidates,
                            s->duplicates, s->rejected);
                print_work(s, "mutants", ret);
                buffer_addf(ret, "mutants-per-second %.1f\nskipped-seeds %" PRIu64 "\n",
                            s->worked > 0 ? (double)s->inputs / s->worked : 0, s->skipped);
                return;
        }
        print_work(s, "inputs", ret);
        buffer_addf(ret, "finds %" PRIu64 "\nfinds-per-hour %.2f\n", s->finds, hours > 0 ? (double)s->finds / hours : 0);
        print_distinct(s, ret);
        buffer_addf(ret,
                    "candidates %" PRIu64 "\nrejected %" PRIu64 "\nsoundness %" PRIu64 "\ncrashes %" PRIu64
                    "\nskipped-seeds %" PRIu64 "\n",
                    s->candidates, s->rejected, s->soundness, s->crashes, s->skipped);
}
