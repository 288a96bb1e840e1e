/* The nodes of a cluster that are slower than others, by the probe that each worker tells. */
#include "core/remote/cluster_internal.h"

static void judge(struct cluster *c)
{
        const struct probed *least = c->probed, *most = c->probed;
        bool was_even = !c->uneven[0];

        for (size_t i = 1; i < c->n_probed; i++) {
                least = c->probed[i].ns < least->ns ? &c->probed[i] : least;
                most = c->probed[i].ns > most->ns ? &c->probed[i] : most;
        }
        c->uneven[0] = '\0';
        if ((double)most->ns <= CLUSTER_UNEVEN * (double)least->ns)
                return;
        snprintf(c->uneven, sizeof(c->uneven), "%.80s takes %.2f times as long as %.80s for the same probe", most->host,
                 (double)most->ns / (double)least->ns, least->host);
        if (was_even)
                log_warning("cluster %s: %s; their times stand under one machine", c->settings.name, c->uneven);
}

void cluster_note_probe(struct cluster *c, const char *host, uint64_t ns)
{
        size_t i = 0;

        if (ns == 0)
                return;
        while (i < c->n_probed && strcmp(c->probed[i].host, host) != 0)
                i++;
        if (i == c->n_probed) {
                list_grow(c->probed, c->n_probed);
                c->probed[c->n_probed++] = (struct probed){.host = copy_string(host), .ns = ns};
        }
        c->probed[i].ns = MIN(c->probed[i].ns, ns);
        judge(c);
}
