/* The config of a store: reads it when the file changes, notes its mistakes, restores a truncated one. */
#include "core/workspace/workspace_internal.h"

#include <sys/stat.h>

#include "core/workspace/names.h"

#define LOOK_NS  (100 * NSEC_PER_MSEC) /* the file is checked at most this often */
#define AGAIN_NS NSEC_PER_SEC          /* an unchanged file is read again this often after an unfinished reading */

/* -- reading it -- */

void workspace_note_mistake(struct workspace *w, const char *what, int r)
{
        cleanup_buffer struct buffer line = {0};

        buffer_addf(&line, "%s: %s\n", what, error_message(r));
        if (!w->mistakes_before.data || !strstr(w->mistakes_before.data, line.data))
                log_error("%.*s", (int)line.size - 1, line.data);
        buffer_add(&w->mistakes, line.data, line.size);
}

/* The error of a truncated config. */
static int cut_off(struct workspace *w, const struct config_text *c)
{
        static const char until[] = "what was last read counts, until 'solverfs fsck' puts it back";

        if (c->gone)
                return errorf(-EUCLEAN, "%s is gone; %s", w->config, until);
        return errorf(-EUCLEAN, "%s was cut off behind %zu of its %zu bytes; %s", w->config, c->left, c->text.size, until);
}

static bool any_recipe_differs(const struct solver_list *before, const struct solver_list *now)
{
        for (size_t i = 0; i < before->n; i++) {
                bool same = false;

                for (size_t k = 0; k < now->n && !same; k++)
                        same = before->list[i]->number == now->list[k]->number &&
                               before->list[i]->version == now->list[k]->version;
                if (!same)
                        return true;
        }
        return false;
}

/* Takes the solvers of a config that was read, and keeps a copy of its text. < 0: none of it can be read, so the old solvers stay. */
static int take_config(struct workspace *w, const struct config_text *c)
{
        struct settings settings = {0}; /* checked only: they take effect at the next opening */
        const bool is_open = w->solvers; /* else this is workspace_open(), which has checked the settings */
        struct solver_list *l;
        int r = is_open ? settings_parse(config_text_slice(c), w->config, &settings) : 0;
        const bool is_good = r == 0;

        if (!is_good)
                workspace_note_mistake(w, "the settings stay as they were", r);
        settings_done(&settings);
        if (c->cut)
                workspace_note_mistake(w, "the config", cut_off(w, c));
        r = solver_list_read(w, c, &l);
        if (r < 0)
                return r;
        w->recipes_changed += is_open && any_recipe_differs(w->solvers, l);
        solver_list_unref(w->solvers);
        w->solvers = l;
        r = is_good ? config_text_keep(w->store, c, is_open) : 0; /* whoever has a solver of ours waits for our lock */
        if (r < 0 && r != -EAGAIN)
                workspace_note_mistake(w, "no copy of the config is kept", r);
        w->unfinished |= r < 0;
        return 0;
}

int workspace_refresh(struct workspace *w)
{
        cleanup_config_text struct config_text text = {0};
        uint64_t now = now_ns();
        struct stat st;
        bool is_as_read;
        int r;

        if (w->solvers && now - w->looked < LOOK_NS)
                return 0;
        w->looked = now;
        if (stat(w->config, &st) < 0) {
                if (errno != ENOENT)
                        return w->solvers ? 0 : errorf(-errno, "cannot read %s: %s", w->config, strerror(errno));
                st = (struct stat){0};
        }
        is_as_read = st.st_size == w->config_size && memcmp(&st.st_mtim, &w->config_time, sizeof(st.st_mtim)) == 0;
        if (w->solvers && is_as_read && !(w->unfinished && now - w->read >= AGAIN_NS))
                return 0;
        w->config_size = st.st_size;
        w->config_time = st.st_mtim;
        w->read = now;
        w->unfinished = false;
        buffer_done(&w->mistakes_before);
        w->mistakes_before = w->mistakes;
        w->mistakes = (struct buffer){0};
        r = config_text_read(w->store, w->config, &text) ?: take_config(w, &text);
        if (r < 0 && w->solvers) {
                workspace_note_mistake(w, "the solvers stay as they were", r);
                w->unfinished = r != -EINVAL; /* a mistake in the text stays one until the file changes */
                r = 0;
        }
        return r;
}

/* -- asking for it -- */

int workspace_solvers(struct workspace *w, struct solver_list **ret)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);
        int r = workspace_refresh(w);

        if (r == 0)
                *ret = solver_list_ref(w->solvers);
        return r;
}

void workspace_look_again(struct workspace *w)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        w->looked = 0;
}

int workspace_config_written(struct workspace *w, int r)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        if (r == 0) {
                w->looked = 0;
                w->config_size = -1;
        }
        return r;
}

uint64_t workspace_recipes_changed(struct workspace *w)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        workspace_refresh(w); /* when it cannot be read, nothing has changed */
        return w->recipes_changed;
}

void workspace_mistakes(struct workspace *w, struct buffer *ret)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        if (workspace_refresh(w) == 0 && w->mistakes.size > 0)
                buffer_add(ret, w->mistakes.data, w->mistakes.size);
}

int workspace_recipes(struct workspace *w, struct recipe ***ret_list, size_t *ret_n)
{
        cleanup_config_text struct config_text text = {0};
        int r = config_text_read(w->store, w->config, &text);

        if (r == 0 && text.blank)
                r = errorf(-ENODATA, "%s does not even have a version: it was emptied", w->config);
        return r < 0 ? r : recipe_parse_config(config_text_slice(&text), w->config, ret_list, ret_n);
}

/* -- a truncated config -- */

/* The names of all solvers the store ever had, among them those of the lost config. */
static void solvers_ever(struct workspace *w, struct buffer *ret)
{
        for (uint32_t i = 0;; i++) {
                cleanup_free char *name = NULL;

                if (names_name(w->store, NAMES_SOLVER, i, &name) < 0)
                        return;
                buffer_addf(ret, "%s%s", i > 0 ? ", " : "", name);
        }
}

int workspace_check_config(struct workspace *w, bool look_only)
{
        cleanup_config_text struct config_text c = {0};
        cleanup_buffer struct buffer names = {0};
        int r = config_text_read(w->store, w->config, &c);

        if (r < 0 || !(c.cut || c.blank))
                return r;
        if (c.cut && look_only)
                return cut_off(w, &c), 1;
        if (c.cut) {
                r = write_file_atomic(w->config, c.text.data, c.text.size, 0600);
                if (r == 0 && c.gone)
                        errorf(-EUCLEAN, "%s was gone: it is written back", w->config);
                else if (r == 0)
                        errorf(-EUCLEAN, "%s was cut off behind %zu of %zu bytes: it is written back", w->config, c.left,
                               c.text.size);
                return r < 0 ? r : 1;
        }
        solvers_ever(w, &names);
        return errorf(-ENODATA,
                      "%s was emptied, and nothing has a copy: put it back from a backup, or write it anew (solvers there "
                      "were: %s)",
                      w->config, names.size > 0 ? names.data : "none");
}

int workspace_check_editable(struct workspace *w)
{
        int r = workspace_check_config(w, true);

        return r > 0 ? -EUCLEAN : r;
}
