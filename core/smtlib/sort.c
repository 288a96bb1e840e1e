/* Symbols, sorts and functions: each is looked up in a table of the bank, and made if it is not there. */
#include "core/smtlib/smtlib_internal.h"

#define SORT_SIZE_MOST  100000 /* nodes of a sort written out: each level of abbreviations can double it */
#define SORT_DEPTH_MOST 1000

/* -- symbols -- */

static const struct symbol *find_hashed(const struct bank *b, struct slice name, uint32_t hash)
{
        for (struct table_slot *s = table_first(&b->symbols, hash); s && s->item; s = table_next(&b->symbols, s)) {
                const struct symbol *found = s->item;

                if (s->hash == hash && same_bytes(found->name, name))
                        return found;
        }
        return NULL;
}

const struct symbol *symbol_find(struct bank *b, struct slice name)
{
        return find_hashed(b, name, (uint32_t)text_hash(b->seed, name));
}

const struct symbol *symbol_of(struct bank *b, struct slice name)
{
        uint32_t hash = (uint32_t)text_hash(b->seed, name);
        struct symbol *made = (struct symbol *)find_hashed(b, name, hash);
        char *text;

        if (made)
                return made;
        made = arena_take(&b->arena, sizeof(*made) + name.size + 1);
        text = (char *)(made + 1);
        if (name.size > 0)
                memcpy(text, name.data, name.size);
        text[name.size] = '\0';
        *made = (struct symbol){
                .id = (uint32_t)b->symbols.n,
                .name = SLICE(text, name.size),
                .op = operator_find(name),
                .is_reserved = word_is_reserved(name),
        };
        table_add(&b->symbols, hash, made);
        return made;
}

const struct symbol *symbol_fresh(struct bank *b, struct slice stem)
{
        const char *bang = memrchr(stem.data, '!', stem.size);
        cleanup_buffer struct buffer name = {0};

        if (bang && digits_only(SLICE(bang + 1, (size_t)((const char *)stem.data + stem.size - bang - 1))))
                stem.size = (size_t)(bang - (const char *)stem.data); /* x!1 is followed by x!2, not x!1!1 */
        do {
                name.size = 0;
                buffer_add(&name, stem.data, stem.size);
                buffer_addf(&name, "!%llu", (unsigned long long)++b->fresh);
        } while (symbol_find(b, SLICE(name.data, name.size)));
        return symbol_of(b, SLICE(name.data, name.size));
}

/* -- sorts -- */

static uint32_t list_hash(uint64_t h, const struct sort *const *args, size_t n)
{
        for (size_t i = 0; i < n; i++)
                h = hash_mix(h, args[i]->id);
        return (uint32_t)h;
}

static const struct sort *sort_intern(struct bank *b, const struct sort *proto, const struct sort *const *args, size_t n)
{
        uint64_t h = hash_mix(b->seed, (uint64_t)proto->index[0] << 32 | proto->index[1]);
        uint32_t hash = list_hash(hash_mix(h, (uint64_t)proto->kind << 32 | (proto->symbol ? proto->symbol->id : 0)), args, n);
        struct sort *made;

        for (struct table_slot *s = table_first(&b->sorts, hash); s && s->item; s = table_next(&b->sorts, s)) {
                const struct sort *found = s->item;

                if (s->hash == hash && found->kind == proto->kind && found->symbol == proto->symbol && found->n_args == n &&
                    memcmp(found->index, proto->index, sizeof(found->index)) == 0 &&
                    (n == 0 || memcmp(found->args, args, n * sizeof(*args)) == 0))
                        return found;
        }
        made = arena_take(&b->arena, sizeof(*made) + n * sizeof(*args));
        *made = *proto;
        made->id = (uint32_t)b->sorts.n;
        made->n_args = (uint32_t)n;
        made->size = made->depth = 1;
        made->has_parameter = proto->kind == SORT_PARAMETER;
        made->has_unknown = proto->kind == SORT_UNKNOWN;
        for (size_t i = 0; i < n; i++) {
                made->args[i] = args[i];
                made->size += args[i]->size;
                made->depth = MAX(made->depth, args[i]->depth + 1);
                made->has_parameter |= args[i]->has_parameter;
                made->has_unknown |= args[i]->has_unknown;
                if (made->size > SORT_SIZE_MOST || made->depth > SORT_DEPTH_MOST) {
                        bank_errorf(b, "a sort of more than %d parts, or nested more than %d deep", SORT_SIZE_MOST,
                                    SORT_DEPTH_MOST);
                        return NULL;
                }
        }
        table_add(&b->sorts, hash, made);
        return made;
}

const struct sort *sort_simple(struct bank *b, enum sort_kind kind)
{
        assert(kind < SORT_BITVEC);
        return b->simple[kind];
}

const struct sort *sort_bitvec(struct bank *b, uint32_t width)
{
        if (width == 0) {
                bank_errorf(b, "a bit-vector has at least one bit");
                return NULL;
        }
        return sort_intern(b, &(struct sort){.kind = SORT_BITVEC, .index = {width}}, NULL, 0);
}

const struct sort *sort_float(struct bank *b, uint32_t exponent, uint32_t significand)
{
        if (exponent < 2 || significand < 2) {
                bank_errorf(b, "a floating-point sort has at least two bits of exponent and two of significand");
                return NULL;
        }
        return sort_intern(b, &(struct sort){.kind = SORT_FLOAT, .index = {exponent, significand}}, NULL, 0);
}

const struct sort *sort_array(struct bank *b, const struct sort *index, const struct sort *element)
{
        const struct sort *args[] = {index, element};

        return index && element ? sort_intern(b, &(struct sort){.kind = SORT_ARRAY}, args, 2) : NULL;
}

const struct sort *sort_named_kind(struct bank *b, enum sort_kind kind, const struct symbol *s, const struct sort *const *args,
                                   size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!args[i])
                        return NULL;
        return sort_intern(b, &(struct sort){.kind = kind, .symbol = s}, args, n);
}

const struct sort *sort_named(struct bank *b, const struct symbol *s, const struct sort *const *args, size_t n)
{
        return s ? sort_named_kind(b, SORT_NAMED, s, args, n) : NULL;
}

bool sort_agrees(const struct sort *a, const struct sort *b)
{
        if (a == b || a->kind == SORT_UNKNOWN || b->kind == SORT_UNKNOWN)
                return true;
        if ((!a->has_unknown && !b->has_unknown) || a->kind != b->kind || a->symbol != b->symbol || a->n_args != b->n_args)
                return false;
        for (size_t i = 0; i < a->n_args; i++)
                if (!sort_agrees(a->args[i], b->args[i]))
                        return false;
        return true;
}

bool sort_takes(const struct sort *wanted, const struct sort *is)
{
        return sort_agrees(wanted, is) || (wanted->kind == SORT_REAL && is->kind == SORT_INT);
}

/* The same head with other arguments. */
static const struct sort *sort_with_args(struct bank *to, const struct sort *s, const struct symbol *symbol,
                                         const struct sort *const *args)
{
        return sort_intern(to, &(struct sort){.kind = s->kind, .symbol = symbol, .index = {s->index[0], s->index[1]}}, args,
                           s->n_args);
}

const struct sort *sort_instantiate(struct bank *b, const struct sort *s, const struct sort *const *parameters,
                                    const struct sort *const *with, size_t n)
{
        cleanup_free const struct sort **args = NULL;

        if (!s->has_parameter)
                return s;
        for (size_t i = 0; i < n; i++)
                if (s == parameters[i])
                        return with[i];
        if (s->n_args == 0)
                return s;
        args = allocate(s->n_args, sizeof(*args));
        for (size_t i = 0; i < s->n_args; i++)
                if (!(args[i] = sort_instantiate(b, s->args[i], parameters, with, n)))
                        return NULL;
        return sort_with_args(b, s, s->symbol, args);
}

const struct sort *sort_copy(struct bank *to, const struct sort *s)
{
        cleanup_free const struct sort **args = allocate(s->n_args, sizeof(*args));

        for (size_t i = 0; i < s->n_args; i++)
                args[i] = sort_copy(to, s->args[i]);
        return sort_with_args(to, s, s->symbol ? symbol_of(to, s->symbol->name) : NULL, args);
}

void sort_print(const struct sort *s, struct buffer *ret)
{
        static const char *const simple[SORT_BITVEC] = {"?", "Bool", "Int", "Real", "String", "RegLan", "RoundingMode"};

        if (s->kind < SORT_BITVEC) {
                buffer_adds(ret, simple[s->kind]);
                return;
        }
        if (s->kind == SORT_BITVEC) {
                buffer_addf(ret, "(_ BitVec %u)", s->index[0]);
                return;
        }
        if (s->kind == SORT_FLOAT) {
                buffer_addf(ret, "(_ FloatingPoint %u %u)", s->index[0], s->index[1]);
                return;
        }
        if (s->n_args > 0)
                buffer_adds(ret, "(");
        if (s->kind == SORT_ARRAY)
                buffer_adds(ret, "Array");
        else if (s->kind == SORT_INDEXED)
                buffer_add(ret, s->symbol->name.data, s->symbol->name.size);
        else
                token_add_symbol(ret, s->symbol->name);
        for (size_t i = 0; i < s->n_args; i++) {
                buffer_adds(ret, " ");
                sort_print(s->args[i], ret);
        }
        if (s->n_args > 0)
                buffer_adds(ret, ")");
}

/* -- functions -- */

const struct function *function_of(struct bank *b, enum function_kind kind, const struct symbol *s,
                                   const struct sort *const *args, size_t n, const struct sort *result)
{
        struct function *made;
        uint32_t hash;

        if (!s || !result)
                return NULL;
        for (size_t i = 0; i < n; i++)
                if (!args[i])
                        return NULL;
        hash = list_hash(hash_mix(b->seed ^ kind, (uint64_t)s->id << 32 | result->id), args, n);
        for (struct table_slot *i = table_first(&b->functions, hash); i && i->item; i = table_next(&b->functions, i)) {
                const struct function *found = i->item;

                if (i->hash == hash && found->kind == kind && found->symbol == s && found->result == result &&
                    found->n_args == n && (n == 0 || memcmp(found->args, args, n * sizeof(*args)) == 0))
                        return found;
        }
        made = arena_take(&b->arena, sizeof(*made) + n * sizeof(*args));
        *made = (struct function){
                .kind = kind, .id = (uint32_t)b->functions.n, .symbol = s, .result = result, .n_args = (uint32_t)n};
        if (n > 0)
                memcpy(made->args, args, n * sizeof(*args));
        table_add(&b->functions, hash, made);
        return made;
}

const struct function *function_copy(struct bank *to, const struct function *f)
{
        cleanup_free const struct sort **args = allocate(f->n_args, sizeof(*args));

        for (size_t i = 0; i < f->n_args; i++)
                args[i] = sort_copy(to, f->args[i]);
        return function_of(to, f->kind, symbol_of(to, f->symbol->name), args, f->n_args, sort_copy(to, f->result));
}
