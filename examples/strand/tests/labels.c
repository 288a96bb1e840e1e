/* What the paper prints in section 4.1, printed again: the generalized word equations, the arrangement of a Y = X b,
 * and the overlap of a X = X b (Fig. 2); and overlaps that only show when the arrangements of several equations are
 * merged. Exits with the number of differences. */
#include "../src/label.h"

static struct bank bank;
static struct search s = {.b = &bank};
static int failures;

/* Letters that are variables: upper case. */
static const struct word *word(const char *text)
{
        const struct word *w = word_make(&s, NULL, 0);

        for (; *text; text++) {
                static tid var[256];
                unsigned char c = (unsigned char)*text;

                if (c >= 'A' && c <= 'Z') {
                        if (!var[c])
                                var[c] = term_var(&bank, SORT_STR, (char[]){(char)c, 0});
                        w = word_join(&s, w, word_var(&s, search_var(&s, var[c])));
                } else {
                        w = word_join(&s, w, word_chars(&s, &(uint32_t){c}, 1));
                }
        }
        return w;
}

static uint32_t var(const char *name)
{
        return (uint32_t)SYM_VAR(word(name)->s[0]);
}

static void expect(const char *what, const char *got, const char *want)
{
        if (!strcmp(got, want))
                return;
        printf("FAIL labels, %s: %s instead of %s\n", what, got, want);
        failures++;
}

static void equation(const char *l, const char *r, const char *want)
{
        struct generalized g = {word(l), word(r)};
        char text[1000] = "";
        FILE *f = fmemopen(text, sizeof(text), "w");

        label_print_equation(f, &s, &g);
        fclose(f);
        text[strcspn(text, "\n")] = 0;
        expect("equation", text, want);
}

/* replaced: variables and what they were replaced by, in order; the last pair is the split in question. */
static void arrangement(const char *l, const char *r, const char *const *replaced, const char *want, bool overlaps)
{
        struct generalized g = {word(l), word(r)};
        struct state st = {};
        char text[1000] = "";
        FILE *f = fmemopen(text, sizeof(text), "w");

        for (; replaced[2]; replaced += 2)
                vec_push(&st.solved, (struct solved){var(replaced[0]), word(replaced[1])});
        if (want) {
                label_print_arrangement(f, &s, &st, &g, var(replaced[0]), word(replaced[1]));
                fclose(f);
                text[strcspn(text, "\n")] = 0;
                expect("arrangement", text, want);
        } else {
                fclose(f);
        }
        expect("overlap", label_overlaps(&s, &st, &g, false, var(replaced[0]), word(replaced[1])) ? "yes" : "no",
               overlaps ? "yes" : "no");
        vec_free(&st.solved);
}

int main(void)
{
        term_bank_init(&bank);
        equation("aX", "Xb", "{▷a1} a {◁a1, ▷X1} X {◁X1} = {▷X2} X {◁X2, ▷b1} b {◁b1}");
        equation("aY", "Xb", "{▷a1} a {◁a1, ▷Y1} Y {◁Y1} = {▷X1} X {◁X1, ▷b1} b {◁b1}");
        arrangement("aY", "Xb", (const char *const[]){"X", "a", "Y", "b", NULL}, "{▷a1, ▷X1} · {◁a1, ▷Y1, ◁X1, ▷b1} · {◁Y1, ◁b1}",
                    false);
        /* Fig. 2: X = a X', the label ▷X1 is between ▷X2 and ◁X2 */
        arrangement("aX", "Xb", (const char *const[]){"X", "aZ", NULL, NULL}, "{▷a1, ▷X2} · {◁a1, ▷X1} · {◁X2, ▷b1} · {◁X1, ◁b1}",
                    true);
        /* X = Y Z: where the second X begins is not decided yet; then Z = U V with U before it: now it is */
        arrangement("XA", "YUXB", (const char *const[]){"X", "YZ", NULL, NULL},
                    "{▷X1, ▷Y1} · {◁Y1, ▷U1} · [{◁X1, ▷A1} | {◁U1, ▷X2} · {◁X2, ▷B1}] · {◁A1, ◁B1}", false);
        arrangement("XA", "YUXB", (const char *const[]){"X", "YZ", "Z", "UV", NULL}, NULL, true);
        arrangement("XA", "YUXB", (const char *const[]){"X", "YZ", "U", "ZV", NULL}, NULL, false);
        /* X twice, side by side: never */
        arrangement("XXA", "YB", (const char *const[]){"Y", "XZ", NULL, NULL}, NULL, false);
        /* Two equations: Y T = a X U makes Y = a X W; in Y R = X b S X then overlaps itself */
        arrangement("YR", "XbS", (const char *const[]){"Y", "aXW", "X", "aZ", NULL}, NULL, true);
        arrangement("YR", "XbS", (const char *const[]){"Y", "aPW", "X", "aZ", NULL}, NULL, false);
        vec_free(&s.vars);
        vec_free(&s.index);
        arena_free(&s.scratch);
        term_bank_free(&bank);
        return failures;
}
