#include "core/run/runner_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/run/leftovers.h"

/* -- the input -- */

/* Not to be changed by whoever reads it, and at an offset of its own. */
static int bytes_as_stdin(struct slice bytes, int *ret)
{
        cleanup_close int fd = memfd_create("solverfs-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        char path[64];
        int r;

        if (fd < 0)
                return errorf(-errno, "cannot hold an input in memory: %s", strerror(errno));
        r = write_all(fd, bytes.data, bytes.size);
        if (r == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
                r = -errno;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (r == 0)
                r = (*ret = open(path, O_RDONLY | O_CLOEXEC)) < 0 ? -errno : 0;
        return r < 0 ? errorf(r, "cannot hold an input in memory: %s", strerror(-r)) : 0;
}

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

static int make_file(struct runner_files *f, const struct run_input *input, const char *name)
{
        int r = path_join(f->folder, f->base, f->case_name);

        if (r < 0)
                return r;
        if (mkdir(f->folder, 0755) < 0 || chmod(f->folder, 0755) < 0)
                return errorf(-errno, "cannot make %s: %s", f->folder, strerror(errno));
        r = path_join(f->input, f->folder, name);
        if (r == 0 && (!input->path || link(input->path, f->input) < 0)) /* another disk, or a file that may have no more links */
                r = copy_to(input, f->input);
        return r < 0 ? errorf(r, "cannot put the input of a run into %s: %s", f->folder, error_message(r)) : 0;
}

static int make_input(struct runner_files *f, const struct run_input *input, enum input_as as, const char *name)
{
        if (as == INPUT_STDIN && !input->path)
                return bytes_as_stdin(input->bytes, &f->input_fd);
        if (as == INPUT_STDIN) {
                f->input_fd = open(input->path, O_RDONLY | O_CLOEXEC);
                return f->input_fd < 0 ? errorf(-errno, "cannot open %s: %s", input->path, strerror(errno)) : 0;
        }
        if (as == INPUT_THERE && input->path) {
                if (snprintf(f->input, sizeof(f->input), "%s", input->path) >= (int)sizeof(f->input))
                        return -ENAMETOOLONG;
                return 0;
        }
        return make_file(f, input, name);
}

/* -- the folders -- */

static int make_base(struct runner_files *f, const char *parent)
{
        char base[PATH_SIZE];
        int r;

        if (f->base[0] != '\0')
                return 0;
        r = scratch_make(parent, base);
        if (r == 0)
                memcpy(f->base, base, sizeof(base));
        return r;
}

static int make_scratch(struct runner_files *f)
{
        int r;

        if (f->generation == 0) {
                snprintf(f->scratch_name, sizeof(f->scratch_name), "scratch");
                snprintf(f->case_name, sizeof(f->case_name), "case");
        } else {
                snprintf(f->scratch_name, sizeof(f->scratch_name), "scratch-%u", f->generation);
                snprintf(f->case_name, sizeof(f->case_name), "case-%u", f->generation);
        }
        r = path_join(f->scratch, f->base, f->scratch_name);
        if (r == 0 && (mkdir(f->scratch, 0700) < 0 || chmod(f->scratch, 0700) < 0))
                r = errorf(-errno, "cannot make %s: %s", f->scratch, strerror(errno));
        return r;
}

int runner_files_make(struct runner_files *f, const char *parent, const struct run_input *input, enum input_as as,
                      const char *name)
{
        int r = make_base(f, parent);

        f->input_fd = -1;
        if (r == 0)
                r = make_scratch(f);
        if (r == 0)
                r = make_input(f, input, as, name);
        if (r < 0)
                runner_files_clear(f);
        return r;
}

static void remove_folder(struct runner_files *f, const char *path)
{
        int r;

        if (path[0] == '\0' || rmdir(path) == 0)
                return;
        r = remove_tree(path);
        if (r < 0) {
                log_warning("what a run left stays until its runner is closed: %s", error_message(r));
                f->generation++;
        }
}

void runner_files_clear(struct runner_files *f)
{
        closep(&f->input_fd);
        remove_folder(f, f->scratch);
        if (f->folder[0] != '\0')
                unlink(f->input);
        remove_folder(f, f->folder);
        f->scratch[0] = f->folder[0] = f->input[0] = '\0';
}

void runner_files_done(struct runner_files *f)
{
        int r = f->base[0] != '\0' ? remove_tree(f->base) : 0;

        if (r < 0)
                log_warning("%s", error_message(r));
        f->base[0] = '\0';
}
