#include "core/run/runner_files.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "core/run/leftovers.h"
#include "core/sandbox/sandbox.h"

/* -- the input -- */

static int open_new(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

        if (fd >= 0 && fchmod(fd, 0444) < 0) /* whatever our umask; the folder above is ours alone */
                closep(&fd);
        return fd;
}

static int copy_to(const struct run_input *input, const char *to)
{
        cleanup_close int from = -1, fd = open_new(to);

        if (fd < 0)
                return -errno;
        if (!input->path)
                return write_all(fd, input->bytes.data, input->bytes.size);
        from = open(input->path, O_RDONLY | O_CLOEXEC);
        return from < 0 ? -errno : copy_fd(from, fd);
}

static void drop_written(struct runner_files *f)
{
        if (f->written >= 0)
                unlink(f->input);
        closep(&f->written);
}

/* Overwrites the file that the last run has read: making and removing a file would take longer than all else here. In a sandbox a program can change
 * nothing of it: on a read-only mount not even the access time is updated. */
static int write_again(struct runner_files *f, struct slice bytes)
{
        struct stat st = {0};
        int r;

        if (f->written >= 0 && (fstat(f->written, &st) < 0 || st.st_nlink == 0)) /* somebody has removed it */
                closep(&f->written);
        if (f->written < 0)
                f->written = open_new(f->input);
        if (f->written < 0)
                return -errno;
        r = lseek(f->written, 0, SEEK_SET) < 0 ? -errno : write_all(f->written, bytes.data, bytes.size);
        if (r == 0 && (off_t)bytes.size < st.st_size && ftruncate(f->written, (off_t)bytes.size) < 0)
                r = -errno;
        if (r < 0)
                drop_written(f);
        return r;
}

/* In the folder that becomes /case: bytes go into the file of the last run, a file is linked or copied. Otherwise a file stays where it is, and bytes are
 * copied. */
static int make_input(struct runner_files *f, const struct run_input *input, bool in_folder, const char *name)
{
        int r;

        if (!in_folder && input->path)
                return snprintf(f->input, sizeof(f->input), "%s", input->path) < (int)sizeof(f->input) ? 0 : -ENAMETOOLONG;
        r = path_join(f->input, f->folder, name);
        f->has_input = r == 0;
        if (r == 0 && in_folder && !input->path) {
                r = write_again(f, input->bytes);
        } else if (r == 0) {
                drop_written(f);
                if (!input->path || link(input->path, f->input) < 0) /* another disk, or a file with too many links */
                        r = copy_to(input, f->input);
        }
        return r < 0 ? errorf(r, "cannot put the input of a run into %s: %s", f->folder, error_message(r)) : 0;
}

/* -- the folders -- */

/* Makes a folder with this mode, whatever our umask. */
static int make_folder(const char *path, mode_t mode)
{
        if (mkdir(path, mode) < 0 || chmod(path, mode) < 0)
                return errorf(-errno, "cannot make %s: %s", path, strerror(errno));
        return 0;
}

static int make_base(struct runner_files *f, const char *parent)
{
        int r;

        if (f->base[0] != '\0')
                return 0;
        r = scratch_make(parent, f->base);
        if (r < 0) {
                f->base[0] = '\0';
                return r;
        }
        return path_join(f->folder, f->base, "case") ?: make_folder(f->folder, 0755);
}

#define CHANGES                                                                                                          \
        (IN_ATTRIB | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | \
         IN_MOVE_SELF)

static bool look_at_scratch(const struct runner_files *f, struct statx *ret)
{
        return statx(AT_FDCWD, f->scratch, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, ret) == 0;
}

/* From now on inotify reports every change in it, and its times show every other one. Where it cannot be watched, it is made anew for each run. */
static void watch_scratch(struct runner_files *f)
{
        if (f->watch < 0)
                f->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (f->watch >= 0 && look_at_scratch(f, &f->untouched))
                f->watched = inotify_add_watch(f->watch, f->scratch, CHANGES | IN_ONLYDIR | IN_DONT_FOLLOW);
}

static int make_scratch(struct runner_files *f, uid_t owner)
{
        int r;

        if (f->has_scratch)
                return 0;
        snprintf(f->scratch_name, sizeof(f->scratch_name), f->generation ? "scratch-%u" : "scratch", f->generation);
        r = path_join(f->scratch, f->base, f->scratch_name) ?: make_folder(f->scratch, 0700);
        if (r < 0)
                return r;
        f->has_scratch = true;
        if (owner != (uid_t)-1 && sandbox_hand_scratch(f->scratch, owner) == 0)
                watch_scratch(f);
        return 0;
}

int runner_files_make(struct runner_files *f, const char *parent, const struct run_input *input, bool in_folder, const char *name, uid_t owner)
{
        int r = make_base(f, parent) ?: make_scratch(f, owner) ?: make_input(f, input, in_folder, name);

        if (r < 0)
                runner_files_clear(f);
        return r;
}

static bool is_same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
        return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* True if it was changed or listed. Flags have no event on older kernels, and a listing changes only a time. */
static bool was_touched(struct runner_files *f)
{
        const struct statx *was = &f->untouched;
        struct inotify_event e[16];
        struct statx is;

        return f->watched < 0 || read(f->watch, e, sizeof(e)) >= 0 || errno != EAGAIN || !look_at_scratch(f, &is) ||
               is.stx_attributes != was->stx_attributes || is.stx_mode != was->stx_mode || is.stx_size != was->stx_size ||
               !is_same_time(&is.stx_atime, &was->stx_atime) || !is_same_time(&is.stx_ctime, &was->stx_ctime);
}

static void forget_watch(struct runner_files *f)
{
        char events[4096];

        if (f->watched >= 0)
                inotify_rm_watch(f->watch, f->watched);
        f->watched = -1;
        while (f->watch >= 0 && read(f->watch, events, sizeof(events)) > 0)
                ;
}

static void remove_scratch(struct runner_files *f)
{
        int r;

        forget_watch(f);
        f->has_scratch = false;
        if (rmdir(f->scratch) == 0)
                return;
        r = remove_tree(f->scratch);
        if (r < 0) {
                log_warning("leftovers of a run stay until its runner is closed: %s", error_message(r));
                f->generation++;
        }
}

bool runner_files_are_handed(const struct runner_files *f)
{
        return f->watched >= 0 && (f->written >= 0 || !f->has_input);
}

void runner_files_clear(struct runner_files *f)
{
        if (f->has_scratch && was_touched(f))
                remove_scratch(f);
        if (f->has_input && f->written < 0)
                unlink(f->input);
        f->has_input = false;
        f->input[0] = '\0';
}

void runner_files_done(struct runner_files *f)
{
        int r = f->base[0] != '\0' ? remove_tree(f->base) : 0;

        if (r < 0)
                log_warning("%s", error_message(r));
        closep(&f->watch);
        closep(&f->written);
        *f = (struct runner_files)RUNNER_FILES_NONE;
}
