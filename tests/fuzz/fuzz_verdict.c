/* What solvers print, and what cases say of themselves. */
#include "core/run/verdict.h"

#include "core/cases/cases.h"
#include "fuzz.h"

static void read_answer(struct input *in)
{
        struct execute_result x = {.end = (enum execute_end)(take_byte(in) % (END_NOEXEC + 1)), .code = take_byte(in)};
        enum format format = take_byte(in) & 1 ? FORMAT_CNF : FORMAT_SMT2;
        size_t cut = take_number(in, 2), questions = take_byte(in);
        struct verdicts v;

        x.out = (struct blob){.data = in->data, .size = in->size};
        x.out_size = in->size;
        x.out_cut = cut < in->size ? cut : 0;
        verdict_read(format, questions, &x, &v);
        must(v.last < N_VERDICTS && v.n <= in->size + 1 && v.n_certain <= v.n);
        for (size_t i = 0; i < v.n; i++)
                must(v.list[i] < N_VERDICTS);
        if (v.is_answer)
                must(v.n > 0 && v.last == v.list[v.n - 1]);
        if (x.end == END_TIMEOUT)
                must(v.last == VERDICT_TIMEOUT);
        if (x.end == END_MEMORY)
                must(v.last == VERDICT_MEMOUT);
        verdict_is_wrong(&v, v.list, v.n);
        must(!verdict_is_wrong(&v, NULL, 0));
        verdicts_done(&v);
}

static void read_case(struct input *in)
{
        enum format format = take_byte(in) & 1 ? FORMAT_CNF : FORMAT_SMT2;
        cleanup_free enum verdict *expected = NULL;
        cleanup_free char *logic = NULL;
        enum verdict status;
        size_t n;

        case_scan(format, SLICE(in->data, in->size), &logic, &status, &expected, &n);
        must(logic && strlen(logic) <= in->size + 4 && n <= in->size && status < N_VERDICTS);
        for (size_t i = 0; i < n; i++)
                must(expected[i] < N_VERDICTS);
        case_format("x", SLICE(in->data, in->size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct input in = {data, size};

        if (take_byte(&in) & 1)
                read_answer(&in);
        else
                read_case(&in);
        return 0;
}
