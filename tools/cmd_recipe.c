/* solverfs recipe: the recipes that --recipe finds by name. */
#include "command.h"
#include "recipes.h"

/* -- list ------------------------------------------------------------------------------------------------------- */

/* The first comment of the file, which says what solver it is for. */
static void describe(const char *path, struct buffer *ret)
{
        cleanup_blob struct blob text = {0};
        const char *p;
        size_t n;

        buffer_adds(ret, "");
        if (read_file(path, 1 << 20, &text) < 0 || text.size < 2 || *(const char *)text.data != '#')
                return;
        p = (const char *)text.data + 1;
        n = text.size - 1;
        while (n > 0 && *p == ' ')
                p++, n--;
        buffer_add(ret, p, memchr(p, '\n', n) ? (size_t)((const char *)memchr(p, '\n', n) - p) : n);
}

static void list_one(void *user, const char *name, const char *path)
{
        static const struct column columns[] = {{"RECIPE", 14, false}, {"FILE", 40, false}, {"ABOUT", 0, false}};
        cleanup_buffer struct buffer about = {0};
        cleanup_free char *shown = NULL, *file = printable(path);

        describe(path, &about);
        shown = printable(about.data);
        if (common.json)
                output_json(json_pack("{s:s, s:s, s:s}", "name", name, "file", file, "about", shown));
        else
                output_rowf(columns, ARRAY_SIZE(columns), "%s\t%s\t%s", name, file, *shown ? shown : "-");
}

void cmd_recipe_list(int argc, char **argv)
{
        command_parse(argc, argv, NULL, "List the recipes that 'solver add --recipe' takes by name: name, file, what its first line says.\v"
                                     "They are looked for in the folders of $SOLVERFS_RECIPES, and where solverfs was installed.", options_json);
        recipes_each(list_one, NULL);
}

/* -- show ------------------------------------------------------------------------------------------------------- */

void cmd_recipe_show(int argc, char **argv)
{
        cleanup_blob struct blob text = {0};
        cleanup_buffer struct buffer shown = {0};
        struct recipe **list;
        char path[PATH_SIZE];
        size_t n;
        int r;
        static const char doc[] =
                "Print a recipe as it is written, to begin one of your own with, and check it.\v"
                "Exit status 1 when the recipe has mistakes, which are told. For a solver of the store, 'config' in its folder of "
                "the mount has the recipe in force.";
        struct words words = command_parse(argc, argv, "NAME|FILE", doc, NULL);

        r = recipes_find(words.list[0], path);
        if (r == 0)
                r = read_file(path, 1 << 20, &text);
        command_must_as(r == -ENOENT ? STATUS_ABSENT : status_of(r), r);
        buffer_add(&shown, text.data, text.size);
        output_write(&shown);
        command_must_as(STATUS_FAILED, recipe_read(path, NULL, &list, &n));
        recipe_list_free(list, n);
}
