/* A commit's message, author, date and list of changes. */
#include <ctype.h>
#include <time.h>

#include "core/history/history_internal.h"

#define RENAMES_MAX 4000 /* more changed files than this are listed as added and deleted */
#define TEXT_MAX    (8 << 20)
/* The limit of memory for the folders that differ: a few objects of a hostile repository can name any number of files. The diff takes about ENTRY_COST
 * per file beside its path; MEMORY_MAX is enough for about a million files. */
#define MEMORY_MAX ((size_t)256 << 20)
#define ENTRY_COST 250
#define DEPTH_MAX  256

/* -- dates and paths ---------------------------------------------------------------------------------------------- */

static void add_date(struct buffer *b, git_time when)
{
        time_t local = (time_t)(when.time + 60 * (int64_t)when.offset);
        struct tm tm;
        char text[64];

        if (!gmtime_r(&local, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
                buffer_addf(b, "@%lld\n", (long long)when.time); /* outside the calendar */
                return;
        }
        buffer_addf(b, "%s%c%02d:%02d\n", text, when.offset < 0 ? '-' : '+', abs(when.offset) / 60, abs(when.offset) % 60);
}

/* Quotes paths as git does (core.quotePath): in double quotes with C escapes, only if needed. */
static void add_path(struct buffer *b, const char *path)
{
        static const char from[] = "\a\b\t\n\v\f\r\"\\", to[] = "abtnvfr\"\\";
        bool plain = true;

        for (const unsigned char *p = (const unsigned char *)path; *p; p++)
                plain = plain && *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\';
        if (plain) {
                buffer_adds(b, path);
                return;
        }
        buffer_adds(b, "\"");
        for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
                const char *escape = strchr(from, *p);

                if (escape)
                        buffer_addf(b, "\\%c", to[escape - from]);
                else if (*p < 0x20 || *p >= 0x7f)
                        buffer_addf(b, "\\%03o", *p);
                else
                        buffer_add(b, p, 1);
        }
        buffer_adds(b, "\"");
}

static void add_delta(struct buffer *b, const git_diff_delta *d)
{
        if (d->status == GIT_DELTA_RENAMED) {
                buffer_addf(b, "R%03u\t", (unsigned)d->similarity);
                add_path(b, d->old_file.path);
                buffer_adds(b, "\t");
        } else {
                buffer_addf(b, "%c\t", git_diff_status_char(d->status));
        }
        add_path(b, d->status == GIT_DELTA_DELETED ? d->old_file.path : d->new_file.path);
        buffer_adds(b, "\n");
}

/* -- the diff ----------------------------------------------------------------------------------------------------- */

static int commit_tree(const git_commit *c, git_tree **ret)
{
        int r = git_commit_tree(ret, c);

        return r < 0 ? errorf(-EIO, "the tree of commit %s is damaged: %s", oid_text(git_commit_id(c)), git_error_text())
                     : 0;
}

static int weigh(git_repository *git, const git_tree_entry *before, const git_tree_entry *after, unsigned depth, size_t path,
                 size_t *left);

/* Weighs the content of a folder; one of its two sides may be missing. */
static int weigh_trees(git_repository *git, const git_tree *before, const git_tree *after, unsigned depth, size_t path,
                       size_t *left)
{
        int r = 0;

        for (size_t i = 0; r == 0 && after && i < git_tree_entrycount(after); i++) {
                const git_tree_entry *e = git_tree_entry_byindex(after, i);

                r = weigh(git, before ? git_tree_entry_byname(before, git_tree_entry_name(e)) : NULL, e, depth, path, left);
        }
        for (size_t i = 0; r == 0 && before && i < git_tree_entrycount(before); i++) {
                const git_tree_entry *e = git_tree_entry_byindex(before, i);

                if (!after || !git_tree_entry_byname(after, git_tree_entry_name(e)))
                        r = weigh(git, e, NULL, depth, path, left);
        }
        return r;
}

/* Counts the memory that the diff would take. -EFBIG: more than `left`. `path`: length of the folder's path. */
static int weigh(git_repository *git, const git_tree_entry *before, const git_tree_entry *after, unsigned depth, size_t path,
                 size_t *left)
{
        cleanup_git_tree git_tree *a = NULL, *b = NULL;

        path += strlen(git_tree_entry_name(before ?: after)) + 1;
        if (*left < path + ENTRY_COST || depth > DEPTH_MAX)
                return -EFBIG;
        *left -= path + ENTRY_COST;
        if (before && after && oid_equal(git_tree_entry_id(before), git_tree_entry_id(after)))
                return 0;
        if ((before && git_tree_entry_type(before) == GIT_OBJECT_TREE &&
             git_tree_lookup(&a, git, git_tree_entry_id(before)) < 0) ||
            (after && git_tree_entry_type(after) == GIT_OBJECT_TREE && git_tree_lookup(&b, git, git_tree_entry_id(after)) < 0))
                return 0; /* the diff reports it */
        return weigh_trees(git, a, b, depth + 1, path, left);
}

/* The diff against the first parent, with renames. */
static int commit_diff(git_repository *git, git_commit *c, git_diff **ret)
{
        cleanup_git_commit git_commit *parent = NULL;
        cleanup_git_tree git_tree *old = NULL, *new = NULL;
        git_diff_options options = GIT_DIFF_OPTIONS_INIT;
        git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
        size_t left = MEMORY_MAX;
        int r = commit_tree(c, &new);

        if (r == 0 && git_commit_parentcount(c) > 0) {
                if (git_commit_parent(&parent, c, 0) < 0)
                        return errorf(-EIO, "the first parent of commit %s is damaged: %s", oid_text(git_commit_id(c)),
                                      git_error_text());
                r = commit_tree(parent, &old);
        }
        if (r < 0)
                return r;
        if (weigh_trees(git, old, new, 0, 0, &left) < 0)
                return errorf(-EFBIG, "the changes of commit %s are among too many files and folders to be listed, or too deep",
                              oid_text(git_commit_id(c)));
        options.flags = GIT_DIFF_INCLUDE_TYPECHANGE;
        options.context_lines = 0;
        options.max_size = TEXT_MAX;
        find.flags = GIT_DIFF_FIND_RENAMES | GIT_DIFF_FIND_EXACT_MATCH_ONLY; /* by ids alone: reads no content, and all versions of git agree */
        find.rename_limit = RENAMES_MAX;
        r = git_diff_tree_to_tree(ret, git, old, new, &options) ?: git_diff_find_similar(*ret, &find);
        return r < 0 ? errorf(-EIO, "the changes of commit %s cannot be read: %s", oid_text(git_commit_id(c)), git_error_text()) : 0;
}

static int add_changes(git_repository *git, git_commit *c, struct buffer *b)
{
        cleanup_git_diff git_diff *diff = NULL;
        int r = commit_diff(git, c, &diff);

        for (size_t i = 0; r == 0 && i < git_diff_num_deltas(diff); i++)
                add_delta(b, git_diff_get_delta(diff, i));
        return r;
}

/* -- hunks, patch, files, texts ----------------------------------------------------------------------------------- */

static int each_hunk(git_repository *git, git_diff *diff, size_t delta, commit_hunk_fn fn, void *user)
{
        const git_diff_delta *d = git_diff_get_delta(diff, delta);
        cleanup_git_blob git_blob *old = NULL, *new = NULL;
        cleanup_git_patch git_patch *patch = NULL;
        struct commit_hunk hunk = {.path = d->status == GIT_DELTA_DELETED ? d->old_file.path : d->new_file.path};
        int r = git_patch_from_diff(&patch, diff, delta);

        /* an entry that is no file, or a binary one, has no hunks */
        if (r < 0 || !patch || git_patch_num_hunks(patch) == 0)
                return r < 0 ? errorf(-EIO, "the changes of %s cannot be read: %s", hunk.path, git_error_text()) : 0;
        if (git_blob_lookup(&old, git, &d->old_file.id) == 0)
                hunk.text[0] = SLICE(git_blob_rawcontent(old), git_blob_rawsize(old));
        if (git_blob_lookup(&new, git, &d->new_file.id) == 0)
                hunk.text[1] = SLICE(git_blob_rawcontent(new), git_blob_rawsize(new));
        for (size_t i = 0; r == 0 && i < git_patch_num_hunks(patch); i++) {
                const git_diff_hunk *h;

                if (git_patch_get_hunk(&h, NULL, patch, i) < 0)
                        break;
                hunk.line[0] = (unsigned)h->old_start;
                hunk.n[0] = (unsigned)h->old_lines;
                hunk.line[1] = (unsigned)h->new_start;
                hunk.n[1] = (unsigned)h->new_lines;
                r = fn(user, &hunk);
        }
        return r;
}

int history_hunks(struct history *h, uint32_t number, commit_hunk_fn fn, void *user)
{
        cleanup_handle struct handle handle = {0};
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_diff git_diff *diff = NULL;
        int r = history_handle(h, &handle)
            ?: history_object(h, handle.git, number, &c)
            ?: commit_diff(handle.git, c, &diff);

        for (size_t i = 0; r == 0 && i < git_diff_num_deltas(diff); i++)
                r = each_hunk(handle.git, diff, i, fn, user);
        return r;
}

int history_patch(struct history *h, uint32_t number, struct buffer *ret)
{
        cleanup_handle struct handle handle = {0};
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_diff git_diff *diff = NULL;
        git_buf patch = {0};
        int r = history_handle(h, &handle)
            ?: history_object(h, handle.git, number, &c)
            ?: commit_diff(handle.git, c, &diff);

        if (r == 0 && git_diff_to_buf(&patch, diff, GIT_DIFF_FORMAT_PATCH) < 0)
                r = errorf(-EIO, "the changes of commit %s cannot be read: %s", oid_text(git_commit_id(c)), git_error_text());
        buffer_add(ret, patch.ptr, patch.size);
        git_buf_dispose(&patch);
        return r < 0 ? r : buffer_error(ret);
}

struct file_call {
        history_file_fn fn;
        void *user;
};

static int walk_entry(const char *folder, const git_tree_entry *e, void *user)
{
        const struct file_call *w = user;
        cleanup_free char *path = git_tree_entry_type(e) == GIT_OBJECT_BLOB ? format_string("%s%s", folder, git_tree_entry_name(e)) : NULL;

        if (path)
                w->fn(w->user, path);
        return 0;
}

int history_files(struct history *h, uint32_t number, history_file_fn fn, void *user)
{
        cleanup_handle struct handle handle = {0};
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_tree git_tree *tree = NULL;
        size_t left = MEMORY_MAX;
        int r = history_handle(h, &handle)
            ?: history_object(h, handle.git, number, &c)
            ?: commit_tree(c, &tree)
            ?: weigh_trees(handle.git, NULL, tree, 0, 0, &left);

        if (r == 0 && git_tree_walk(tree, GIT_TREEWALK_PRE, walk_entry, &(struct file_call){fn, user}) < 0)
                r = errorf(-EIO, "the files of commit %s cannot be read: %s", oid_text(git_commit_id(c)), git_error_text());
        return r;
}

int history_text(struct history *h, uint32_t number, enum commit_text which, struct buffer *ret)
{
        cleanup_handle struct handle handle = {0};
        cleanup_git_commit git_commit *c = NULL;
        const git_signature *author;
        int r = history_handle(h, &handle) ?: history_object(h, handle.git, number, &c);

        if (r < 0)
                return r;
        switch (which) {
        case COMMIT_MESSAGE:
                buffer_adds(ret, git_commit_message_raw(c) ?: "");
                break;
        case COMMIT_AUTHOR:
                author = git_commit_author(c);
                buffer_addf(ret, "%s <%s>\n", author ? author->name : "", author ? author->email : "");
                break;
        case COMMIT_DATE:
                add_date(ret, (git_time){.time = git_commit_time(c), .offset = git_commit_time_offset(c)});
                break;
        case COMMIT_CHANGES:
                r = add_changes(handle.git, c, ret);
                break;
        }
        return r < 0 ? r : buffer_error(ret);
}

void history_subject(struct history *h, uint32_t number, struct buffer *ret)
{
        cleanup_buffer struct buffer message = {0};
        char *subject, *end;
        int r = history_text(h, number, COMMIT_MESSAGE, &message);

        buffer_adds(ret, ""); /* a caller that finds text does not ask again */
        if (r < 0)
                log_error("%s", error_message(r));
        if (r < 0 || message.size == 0)
                return;
        subject = message.data + strspn(message.data, " \t\r\n");
        end = subject + strcspn(subject, "\n");
        while (end > subject && isspace((unsigned char)end[-1]))
                end--;
        *end = '\0';
        buffer_add_printable(ret, subject);
}
