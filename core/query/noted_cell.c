#include "core/query/noted_cell.h"

#include "cache/base/record.h"

#define NOTE_VERSION 2

int noted_encode(const struct noted_fact *f, struct slice rest, struct buffer *ret)
{
        const struct cell *cell = f->cell;

        record_put_u8(ret, NOTE_VERSION);
        record_put_u32(ret, cell->solver->number);
        record_put_u32(ret, cell->info->id);
        record_put_u8(ret, cell->has_seed);
        record_put_u64(ret, cell->seed);
        record_put_u64(ret, cell->wall_ns);
        buffer_add(ret, f->commit.id, GIT_OID_RAWSZ);
        buffer_add(ret, rest.data, rest.size);
        return buffer_error(ret);
}

void noted_done(struct noted_cell *n)
{
        solver_unref(n->cell.solver);
        case_info_unref(n->cell.info);
        fact_unref(n->fact);
        *n = (struct noted_cell){0};
}

int noted_open(struct workspace *w, struct slice row, struct noted_cell *ret)
{
        struct record rec = record_of(row);
        uint32_t solver, info;
        git_oid oid = {0};
        int r;

        *ret = (struct noted_cell){0};
        record_version(&rec, NOTE_VERSION);
        solver = record_u32(&rec);
        info = record_u32(&rec);
        ret->cell.has_seed = record_bool(&rec);
        ret->cell.seed = record_u64(&rec);
        ret->cell.wall_ns = record_u64(&rec);
        record_raw(&rec, oid.id, GIT_OID_RAWSZ);
        record_slice(&rec, record_left(&rec));
        if (record_end(&rec, "a note that names a cell") < 0)
                return -ENOENT; /* damaged */
        r = workspace_solver_by_number(w, solver, &ret->cell.solver);
        if (r == 0)
                r = history_number(ret->cell.solver->history, &oid, &ret->cell.commit);
        if (r == 0)
                r = cases_get(workspace_cases(w), info, &ret->cell.info);
        if (r == 0 && ret->cell.info->removed)
                r = -ENOENT;
        if (r == 0)
                r = run_find(w, &ret->cell, true, &ret->fact);
        return r;
}

void noted_name(struct slice fact_key, char ret[33])
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;

        digest_of(fact_key.data, fact_key.size, &d);
        digest_hex(&d, hex);
        snprintf(ret, 33, "%.32s", hex);
}
