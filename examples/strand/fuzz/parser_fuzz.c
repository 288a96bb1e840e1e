/* libFuzzer target: any bytes through the parser; the answers are not computed.
 * make fuzz-parser; ./fuzz/parser_fuzz -max_total_time=60 -dict=fuzz/smt2.dict tests/cases */
#include "../src/parser.h"
#include "../src/eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct parser p;
        struct bank b;

        term_bank_init(&b);
        parser_init(&p, &b, (const char *)data, size);
        for (;;) {
                enum parser_event e = parser_next(&p);

                if (e == PARSER_EOF || e == PARSER_EXIT || e == PARSER_ERROR)
                        break;
        }
        parser_free(&p);
        term_bank_free(&b);
        return 0;
}
