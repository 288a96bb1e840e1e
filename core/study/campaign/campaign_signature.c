/* Signatures of findings. The first finding of a signature is kept, and a later one only if it is much smaller. */
#include "core/study/campaign/campaign_unknown.h"

static struct known_finding *find(struct unknowns *u, const char *signature)
{
        for (size_t i = 0; i < u->n_known; i++)
                if (strcmp(u->known[i].signature, signature) == 0)
                        return &u->known[i];
        return NULL;
}

/* The smallest finding of a signature represents it. */
static void load(struct campaign *c, const struct observation *f)
{
        struct unknowns *u = unknowns_of(c);
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct known_finding *k;

        if (!*f->signature || cases_get(workspace_cases(c->workspace), f->case_id, &info) < 0)
                return;
        k = find(u, f->signature);
        if (!k)
                k = list_add(u->known, u->n_known, (struct known_finding){.signature = copy_string(f->signature)});
        if (k->number != 0 && k->size <= info->size)
                return;
        k->number = f->number;
        k->size = info->size;
        k->is_own = strcmp(f->origin, c->settings->name) == 0;
}

int signatures_load(struct campaign *c)
{
        cleanup_observations struct observations all = {0};
        int r = observations_read(c->workspace, c->solver->number, NULL, &all);

        for (size_t i = 0; r == 0 && i < all.n; i++)
                load(c, all.list[i]);
        return r;
}

bool signature_claim(struct campaign *c, const char *signature, uint64_t size, uint32_t *ret_number)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct unknowns *u = unknowns_of(c);
        struct known_finding *k;

        while ((k = find(u, signature)) && k->number == 0) /* also when the search is over: a claim ends with its runs */
                pthread_cond_wait(&c->changed, &c->lock);
        if (!k)
                list_add(u->known, u->n_known, (struct known_finding){.signature = copy_string(signature)});
        /* An own finding that is not counted is claimed again: it is stored, and an earlier session was killed before its EVENT_FOUND. */
        else if (k->number != 0 && 2 * size > k->size && !(k->is_own && !k->is_counted)) {
                *ret_number = k->number;
                return false;
        }
        return true;
}

bool signature_stored(struct campaign *c, const char *signature, uint32_t number, uint64_t size)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct unknowns *u = unknowns_of(c);
        struct known_finding *k = find(u, signature);
        bool is_new = false;

        if (k && number == 0 && k->number == 0) { /* it did not show again: the claim is given up */
                free(k->signature);
                *k = u->known[--u->n_known];
        } else if (k && number != 0) {
                is_new = k->number != number || !k->is_counted;
                k->number = number;
                k->size = size;
                k->is_own = k->is_counted = true; /* before its EVENT_FOUND, or who waits would claim it, too */
        }
        pthread_cond_broadcast(&c->changed);
        return is_new;
}

int signatures_keep(struct campaign *c)
{
        struct unknowns *u = unknowns_of(c);
        cleanup_free struct finding_count *list = NULL;
        size_t n;

        pthread_mutex_lock(&c->lock);
        n = u->n_counts;
        list = allocate(n, sizeof(*list));
        if (n > 0)
                memcpy(list, u->counts, n * sizeof(*list));
        pthread_mutex_unlock(&c->lock);
        return n > 0 ? finding_put_counts(c->workspace, c->solver->number, c->settings->name, list, n) : 0;
}
