/* A list is read by lines. A line that begins as one of the forms, with the more indented lines below it, is an entry; one of three functions reads it. */
#include "core/why/options/option_list.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/recipe/recipe.h"
#include "core/run/verdict.h"

#define NAME_LEAST 4               /* letters of the shortest name of a file or an option that counts in a patch */
#define LINE_MOST  ((size_t)65536) /* bytes; the rest of a longer line is ignored */

/* -- patterns ----------------------------------------------------------------------------------------------------- */

enum {
        MODULE,
        MODULE_FORM, /* name, type */
        RANGE_FORM,  /* name, least, default, greatest */
        SPELLING,    /* dashes, [no-], name, value after '=' or a blank; the separator from the next spelling */
        INTERVAL,
        DEFAULT,
        BRACES,
        INTS,
        REALS,
        NUMBERED,
        QUOTED,
        WORD,
        NOT_OF_SEARCH,
        MODE,
        N_PATTERNS
};
static const char *const patterns[N_PATTERNS] = {
        [MODULE] = "^\\[module\\] ([\\w.-]+)",
        [MODULE_FORM] = "^([\\w.-]+) \\((bool|unsigned int|int|double|symbol|string)\\)",
        [RANGE_FORM] = "^([a-z][\\w-]*) (-?[0-9]+) (-?[0-9]+) (-?[0-9]+)$",
        [SPELLING] = "\\G(--?)(\\[no-\\])?(\\w[\\w.-]*)(?:(?:\\[=| *= *)(<[^>]*>|\\{[^}]*\\}|[^\\s\\],]+(?:,[^\\s\\],]+)*)\\]?"
                     "| (<[^>]*>|\\{[^}]*\\}|[A-Z_]+(?!\\w)))?( *[,|/] *(?=-))?",
        [INTERVAL] = "\\G *[\\[(] *(\\S+) *\\.\\. *(\\S+?)[\\])]",
        [DEFAULT] = "(?|(?:[(\\[]default(?:s to| is|:| =|=)?+ *+|\\(=)[\"']?([^\"',;)\\]\\s]+)|\\s{2}\\[([^\\]\\s*]+)\\]\\s|\\[([^\\]\\s*]+)\\]\\s*$)",
        [BRACES] = "\\{([^}]*)\\}\\s*$",
        [INTS] = "^(?i:u?int(?:32|64)?|u(?:32|64)|unsigned(?: int)?|integer|n|num(?:ber)?|k)$",
        [REALS] = "^(?i:double|float|real|f)$",
        [NUMBERED] = "(?<![\\w.-])([0-9]+)(?:=| - )",
        [QUOTED] = "'([\\w.-]+)'",
        [WORD] = "([\\w.+-]+)",
        [NOT_OF_SEARCH] = "(?i)(?:^|[-_.])(?:help|version|verb\\w*|quiet|print\\w*|dump|trace|log|stats|statistics|seed|timeout|[tr]limit|cpu|mem|"
                          "memory|proofs?|witness|debug|display|warnings?|colors?|profile|check|validate|lang|copyright|output|interactive|file|report|"
                          "produce)(?:$|[-_.])",
        [MODE] = "^\\+ (\\w[\\w.-]*)(?: \\(default\\))?\\s*$",
};
static pcre2_code *codes[N_PATTERNS];
#define GROUPS_MOST 7

static void compile(void)
{
        PCRE2_SIZE at;
        int error;

        for (size_t i = 0; i < N_PATTERNS; i++)
                codes[i] = pcre2_compile((PCRE2_SPTR)patterns[i], PCRE2_ZERO_TERMINATED, 0, &error, &at, NULL);
}

/* The groups of the last match in a text; 0 is the match itself. An unset group is empty. */
struct match {
        const char *text;
        size_t begin[GROUPS_MOST], end[GROUPS_MOST];
};

/* The next match after the last one. A text beyond PCRE2's limits has none. */
static bool match_next(struct match *m, unsigned which)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pcre2_match_data *data = pcre2_match_data_create(GROUPS_MOST, NULL);
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
        int n;

        pthread_once(&once, compile);
        n = pcre2_match(codes[which], (PCRE2_SPTR)m->text, strlen(m->text), m->end[0], 0, data, NULL);
        for (int i = 0; i < GROUPS_MOST && n > 0; i++) {
                const bool is_there = i < n && at[2 * i] != PCRE2_UNSET;

                m->begin[i] = is_there ? at[2 * i] : 0;
                m->end[i] = is_there ? at[2 * i + 1] : 0;
        }
        pcre2_match_data_free(data);
        return n > 0;
}

/* NULL: the group is unset. */
static char *group(const struct match *m, size_t i)
{
        return m->end[i] > m->begin[i] ? copy_prefix(m->text + m->begin[i], m->end[i] - m->begin[i]) : NULL;
}

static bool matches(unsigned which, const char *text)
{
        return match_next(&(struct match){.text = text}, which);
}

/* Adds the first group of each match, once. */
static void add_all(unsigned which, const char *text, char ***list)
{
        struct match m = {.text = text};

        while (match_next(&m, which)) {
                cleanup_free char *word = group(&m, 1);

                if (!strings_have(*list, word))
                        strings_add(list, word);
        }
}

/* The first group of the last match; NULL: none. */
static char *last_of(unsigned which, const char *text)
{
        struct match m = {.text = text}, last = m;

        while (match_next(&m, which))
                last = m;
        return group(&last, 1);
}

/* 1, 0; -1: not a bool. */
static int bool_of(const char *word)
{
        static const char *const words[] = {"false", "off", "no", "0", "true", "on", "yes", "1"};

        for (int i = 0; i < 8; i++)
                if (strcasecmp(word, words[i]) == 0)
                        return i >= 4;
        return -1;
}

/* NaN: not a number, or infinite. */
static double number_of(const char *word)
{
        char *end;
        double x = strtod(word, &end);

        return end == word || *end != '\0' || !isfinite(x) ? NAN : x;
}

/* -- one option --------------------------------------------------------------------------------------------------- */

static void option_done(struct option *o)
{
        free(o->name);
        free(o->set);
        free(o->off);
        free(o->value);
        strings_free(o->values);
}

static bool is_number(const struct option *o)
{
        return o->type == OPTION_INT || o->type == OPTION_REAL;
}

static void set_range(struct option *o, const char *low, const char *high)
{
        o->low = number_of(low);
        o->high = number_of(high);
        if (strchr(low, '.') || strchr(high, '.') || (o->value && strchr(o->value, '.')))
                o->type = OPTION_REAL;
}

/* Finds the type from the word for the value, perhaps in brackets, and from the description. False: not known to have other values. */
static bool find_type(struct option *o, const char *word, const char *text)
{
        const size_t bracket = strchr("<{", *word) != NULL;
        cleanup_free char *bare = copy_prefix(word + bracket, strlen(word) - 2 * bracket), *braces = last_of(BRACES, text);
        char *dots = strstr(bare, "..");

        o->type = OPTION_INT;
        if (dots) {
                *dots = '\0';
                set_range(o, bare, dots + 2);
        } else if (matches(REALS, bare)) {
                o->type = OPTION_REAL;
        } else if (matches(INTS, bare)) {
                o->type = OPTION_INT;
        } else if (strpbrk(bare, "|,") || braces) {
                o->type = OPTION_ENUM;
                add_all(WORD, strpbrk(bare, "|,") ? bare : braces, &o->values);
        } else if (strcmp(bare, "MODE") == 0 || strstr(text, "=help") || strstr(text, " help)")) {
                o->type = OPTION_ENUM;
                o->asks_modes = true;
        } else if (o->value && isfinite(number_of(o->value))) {
                o->type = strchr(o->value, '.') ? OPTION_REAL : OPTION_INT;
        } else {
                o->type = OPTION_BOOL;
                return strcasecmp(bare, "bool") == 0 || (o->value && bool_of(o->value) >= 0);
        }
        return true;
}

static bool read_module_form(const struct match *m, const char *module, const char *text, struct option *o)
{
        cleanup_free char *name = group(m, 1), *type = group(m, 2);

        o->name = format_string("%s%s%s", module ?: "", module ? "." : "", name);
        o->set = format_string("%s=", o->name);
        if (strcmp(type, "symbol") != 0)
                return strcmp(type, "string") != 0 && find_type(o, type, text);
        o->type = OPTION_ENUM;
        add_all(QUOTED, text, &o->values);
        return true;
}

static bool read_range_form(const struct match *m, struct option *o)
{
        cleanup_free char *low = group(m, 2), *high = group(m, 4);

        o->name = group(m, 1);
        o->set = format_string("--%s=", o->name);
        free(o->value);
        o->value = group(m, 3);
        o->type = OPTION_INT;
        set_range(o, low, high);
        if (o->low == 0 && o->high == 1)
                o->type = OPTION_BOOL;
        return true;
}

/* The first spelling of more than one letter counts: for a single letter it is unknown whether the value follows directly or in the next word. */
static bool read_help_form(struct match *m, const char *text, struct option *o)
{
        cleanup_free char *dashes = NULL, *word = NULL;
        bool has_no = strstr(text, "[*]");

        do {
                cleanup_free char *name = group(m, 3), *value = group(m, m->end[4] > 0 ? 4 : 5);

                has_no |= m->end[2] > 0 || (o->name && strncmp(name, "no-", 3) == 0 && strcmp(name + 3, o->name) == 0);
                if (!o->name && strlen(name) > 1) {
                        o->name = steal_pointer(name);
                        dashes = group(m, 1);
                }
                if (value && !word)
                        word = steal_pointer(value);
        } while (m->end[6] > 0 && match_next(m, SPELLING));
        if (!o->name)
                return false;
        o->set = format_string("%s%s%s", dashes, o->name, word ? "=" : "");
        if (!word && (has_no || (o->value && bool_of(o->value) >= 0)))
                o->off = format_string("%sno-%s", dashes, o->name);
        if (!word || !find_type(o, word, text))
                return o->off;
        if (match_next(m, INTERVAL)) {
                cleanup_free char *low = group(m, 1), *high = group(m, 2);

                set_range(o, low, high);
        }
        return true;
}

/* -- the list ----------------------------------------------------------------------------------------------------- */

void option_list_done(struct option_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                option_done(&l->list[i]);
        free(l->list);
        *l = (struct option_list){0};
}

const struct option *option_list_find(const struct option_list *l, const char *name)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->list[i].name, name) == 0)
                        return &l->list[i];
        return NULL;
}

/* An option's line; `text` also has the further indented lines below it. */
struct entry {
        char *module; /* of z3: "smt", or NULL */
        struct buffer head, text;
        size_t indent;
        bool is_open;
};

/* Ends the entry, if one is open: adds its option unless that has no other value or was named before. */
static void close_entry(struct entry *e, struct option_list *ret)
{
        struct option o = {.type = OPTION_BOOL, .low = NAN, .high = NAN, .values = allocate(1, sizeof(char *))};
        struct match m = {.text = e->head.data};
        bool is_known, is_of_use = false;

        if (e->is_open) {
                o.value = last_of(DEFAULT, e->text.data);
                is_known = true;
                if (match_next(&m, MODULE_FORM))
                        is_of_use = read_module_form(&m, e->module, e->text.data, &o);
                else if (match_next(&m, RANGE_FORM))
                        is_of_use = read_range_form(&m, &o);
                else if (match_next(&m, SPELLING))
                        is_of_use = read_help_form(&m, e->text.data, &o);
                else
                        is_known = false;
                if (is_of_use && o.type == OPTION_INT)
                        add_all(NUMBERED, e->text.data, &o.values);
                if (is_number(&o) && strings_count(o.values) == 1) /* not a list of values */
                        free(steal_pointer(o.values[0]));
                is_of_use = is_of_use && ret->n < OPTION_LIST_MOST && !option_list_find(ret, o.name);
                ret->unread += !is_known;
                ret->passed_over += is_known && !is_of_use;
        }
        if (is_of_use) {
                o.is_of_search = !matches(NOT_OF_SEARCH, o.name);
                list_add(ret->list, ret->n, o);
        } else {
                option_done(&o);
        }
        e->is_open = false;
        e->head.size = e->text.size = 0;
}

/* A line with dashes begins an entry only if it is not much more indented than the open one: else it is a description that names an option. */
static void read_line(struct entry *e, const char *line, struct option_list *ret)
{
        const char *p = line + strspn(line, " \t");
        const size_t indent = (size_t)(p - line);
        const bool is_help = p[0] == '-' && (p[1] == '-' || p[1] == '[' || isalnum((unsigned char)p[1])) && (!e->is_open || indent <= e->indent + 4);
        const bool begins = is_help || matches(MODULE_FORM, p) || (indent == 0 && matches(RANGE_FORM, p));

        if (*p && (begins || !e->is_open || indent <= e->indent))
                close_entry(e, ret);
        if (matches(MODULE, p)) {
                free(e->module);
                e->module = last_of(MODULE, p);
        } else if (begins) {
                e->is_open = true;
                e->indent = indent;
                buffer_adds(&e->head, p);
        }
        if (e->is_open)
                buffer_addf(&e->text, "%s ", p);
}

/* The next line of a text as a string, cut at a NUL; free(). NULL: no line is left. */
static char *next_line(struct slice *text)
{
        struct slice line;

        return slice_next_line(text, &line) ? copy_prefix(line.data, MIN(line.size, LINE_MOST)) : NULL;
}

void option_list_read(struct slice text, struct option_list *ret)
{
        struct entry e = {0};

        *ret = (struct option_list){0};
        for (char *line; (line = next_line(&text)); free(line))
                read_line(&e, line, ret);
        close_entry(&e, ret);
        free(e.module);
        buffer_done(&e.head);
        buffer_done(&e.text);
}

void option_read_modes(struct option *o, struct slice text)
{
        for (char *line; (line = next_line(&text)); free(line)) {
                add_all(MODE, line, &o->values);
                if (!matches(MODE, line) || !strstr(line, "(default)"))
                        continue;
                free(o->value);
                o->value = last_of(MODE, line);
        }
}

/* -- values ------------------------------------------------------------------------------------------------------- */

static bool same_value(const struct option *o, const char *a, const char *b)
{
        if (o->type == OPTION_BOOL && bool_of(a) >= 0)
                return bool_of(a) == bool_of(b);
        return strcmp(a, b) == 0 || (is_number(o) && number_of(a) == number_of(b));
}

bool option_differs(const struct option *a, const struct option *b)
{
        return a->value && b->value && !same_value(a, a->value, b->value);
}

/* Adds the value unless it is the default, or in the list. */
static void add_value(const struct option *o, const char *value, char ***ret)
{
        bool is_known = o->value && same_value(o, value, o->value);

        for (char **v = *ret; !is_known && *v; v++)
                is_known = same_value(o, value, *v);
        if (!is_known)
                strings_add(ret, value);
}

char **option_values(const struct option *o, const struct option *reference)
{
        const double value = o->value ? number_of(o->value) : 1, tries[] = {0, value / 2, value * 2, 1, o->low, o->high};
        char **ret = allocate(1, sizeof(*ret)), text[32];

        if (reference && reference->value && reference->type == o->type)
                add_value(o, reference->value, &ret);
        if (o->type == OPTION_BOOL) {
                add_value(o, "true", &ret);
                add_value(o, "false", &ret);
        }
        for (char **v = o->values; *v; v++)
                add_value(o, *v, &ret);
        for (size_t i = 0; is_number(o) && !*o->values && i < ARRAY_SIZE(tries); i++) {
                const double x = o->type == OPTION_INT ? trunc(tries[i]) : tries[i];

                snprintf(text, sizeof(text), o->type == OPTION_INT ? "%.0f" : "%g", x);
                if (fabs(x) < 1e15 && !(x < o->low || x > o->high))
                        add_value(o, text, &ret);
        }
        return ret;
}

void option_add_argument(const struct option *o, const char *value, struct buffer *to)
{
        cleanup_free char *word = o->off ? copy_string(bool_of(value) == 1 ? o->set : o->off) : format_string("%s%s", o->set, value);

        buffer_add_plain_word(to, word, ":,");
}

/* -- patches ------------------------------------------------------------------------------------------------------ */

/* Adds the mark, then the text's letters and digits, in lower case. A patch so read has words " letters" for lines and " /letters" for files. */
static void add_letters(const char *mark, const char *p, size_t n, struct buffer *to)
{
        buffer_adds(to, mark);
        for (size_t i = 0; i < n; i++)
                if (isalnum((unsigned char)p[i]))
                        buffer_add(to, &(char){(char)tolower((unsigned char)p[i])}, 1);
}

void option_read_patch(struct slice patch, struct buffer *ret)
{
        for (char *line; (line = next_line(&patch)); free(line)) {
                const char *file = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;

                if (strncmp(line, "+++ ", 4) == 0)
                        add_letters(" /", file, strcspn(file, "."), ret);
                else if (*line == '+' || (*line == '-' && strncmp(line, "--- ", 4) != 0))
                        add_letters(" ", line, strlen(line), ret);
        }
        buffer_adds(ret, " ");
}

bool option_is_in_patch(const struct option *o, const char *patch)
{
        const char *dot = strchr(o->name, '.');

        for (const char *name = o->name; name; name = name == o->name && dot ? dot + 1 : NULL) {
                cleanup_buffer struct buffer letters = {0};

                add_letters("/", name, strlen(name), &letters);
                if (letters.size > NAME_LEAST && strstr(patch, letters.data + 1))
                        return true;
                for (const char *p = patch; (p = strchr(p, '/')); p++)
                        if (strcspn(p, " ") > NAME_LEAST && strncmp(letters.data, p, strcspn(p, " ")) == 0)
                                return true;
        }
        return false;
}
