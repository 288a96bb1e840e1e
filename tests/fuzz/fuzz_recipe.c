/* Recipes and configs as a stranger may send them. What is read can be printed, and what is printed is read back as the same. */
#include "core/recipe/recipe.h"

#include "fuzz.h"
#include "core/recipe/recipe_keys.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
        enter_scratch();
        return 0;
}

static void digest_all(const struct recipe *r, struct digest ret[2])
{
        recipe_build_digest(r, &ret[0]);
        recipe_run_digest(r, true, 7, &r->limits, &ret[1]);
}

static void check_again(const struct recipe *r)
{
        cleanup_buffer struct buffer text = {0}, again = {0};
        struct digest before[2], after[2];
        struct recipe **list;
        char **argv;
        size_t n;

        if (r->base)
                return; /* a variant is printed as what it adds to its base */
        must(recipe_print(r, &text) == 0 && buffer_error(&text) == 0);
        must(recipe_parse(text.data, "printed", r->name, &list, &n) == 0);
        must(n == 1);
        digest_all(r, before);
        digest_all(list[0], after);
        must(digest_equal(&before[0], &after[0]) && digest_equal(&before[1], &after[1]));
        must(recipe_print(list[0], &again) == 0);
        must(strcmp(strchr(text.data, '\n'), strchr(again.data, '\n')) == 0); /* the first line says where it came from */
        must(recipe_command(r, "/bin/true", "/case", true, 3, &r->limits, &argv) == 0);
        must(strings_count(argv) > 0);
        strings_free(argv);
        recipe_list_free(list, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct input in = {data, size};
        bool config = take_byte(&in) & 1;
        cleanup_free char *text = strndup((const char *)in.data, in.size);
        struct recipe **list;
        size_t n;
        int r = config ? recipe_parse_config(SLICE(in.data, in.size), "fuzz", &list, &n)
                       : recipe_parse(text, "fuzz.recipe", "solver", &list, &n);

        if (r < 0) {
                must(strlen(error_message(r)) > 0);
                return 0;
        }
        for (size_t i = 0; i < n; i++)
                check_again(list[i]);
        recipe_list_free(list, n);
        return 0;
}
