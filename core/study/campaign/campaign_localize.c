/* Localizing while a campaign runs. A thread searches for the commits responsible for the findings so far, and tells the strategy, which then chooses
 * fewer inputs with a known cause.
 *
 * A turn of the localizer (campaign_turns.c) is one build or run, and as many more as begin within the time that the search had before. All findings of
 * that time are localized together and share builds.
 *
 * When the search for inputs is over the localizer has all cores, and a bounded time of wall clock. A localization that is not finished by then is kept as
 * unfinished, and goes on with the next call of the campaign. */
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "core/study/campaign/campaign_internal.h"
#include "core/study/observation/finding_localized.h"

static bool is_unexplained(const struct campaign *c)
{
        for (size_t i = 0; i < c->n_found; i++)
                if (c->found[i].cause == 0 && !c->found[i].is_tried)
                        return true;
        return false;
}

void campaign_add_found(struct campaign *c, uint64_t id, uint32_t finding)
{
        list_grow(c->found, c->n_found);
        c->found[c->n_found++] = (struct campaign_found){.id = id, .finding = finding};
}

void campaign_learn(struct campaign *c, uint64_t id, uint64_t cause)
{
        for (size_t i = 0; i < c->n_found; i++)
                if (c->found[i].id == id)
                        c->found[i].cause = cause;
        if (c->hunt->learned)
                c->hunt->learned(c, id, cause);
}

uint64_t campaign_count_causes(const struct campaign *c)
{
        uint64_t n = 0;

        for (size_t i = 0; i < c->n_found; i++) {
                bool is_new = c->found[i].cause != 0;

                for (size_t k = 0; is_new && k < i; k++)
                        is_new = c->found[k].cause != c->found[i].cause;
                n += is_new;
        }
        return n;
}

/* Under the lock: notes the causes that are known by now in the journal, and tells the hunt. */
static int learn(struct campaign *c)
{
        for (size_t i = 0; i < c->n_found; i++) {
                cleanup_observation struct observation *f = NULL;
                uint64_t cause = 0;
                int r;

                if (c->found[i].cause != 0 || observation_get(c->workspace, OF_CAMPAIGNS, c->solver->number, c->found[i].finding, &f) < 0)
                        continue;
                r = finding_cause(c->workspace, c->solver, f, &cause);
                if (r == -ENOENT)
                        continue; /* it was found after this search for commits began */
                c->found[i].is_tried = true;
                if (r < 0 || cause == 0)
                        continue;
                r = campaign_note(c, &(struct campaign_record){.event = EVENT_CAUSE, .id = c->found[i].id, .cause = cause});
                if (r < 0)
                        return r;
                campaign_learn(c, c->found[i].id, cause);
        }
        return 0;
}

static void await_turn(void *user)
{
        struct campaign *c = user;

        pthread_mutex_lock(&c->lock);
        if (!c->is_over && now_ns() - c->turns.began >= c->turns.most && c->has_item) {
                campaign_end_turn(c, BESIDE_LOCALIZER);
                campaign_begin_turn(c, BESIDE_LOCALIZER);
        }
        c->has_item = true;
        pthread_mutex_unlock(&c->lock);
}

static unsigned width(void *user)
{
        struct campaign *c = user;

        return campaign_is_over(c) ? campaign_count_seats(c) : 1;
}

static bool is_time_over(void *user)
{
        const struct campaign *c = user;

        return fd_is_readable(c->localize_timer) && !fd_is_readable(c->cancel_fd);
}

static int watch_fd(int epoll, int fd)
{
        struct epoll_event e = {.events = EPOLLIN};

        return fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0 ? 0 : -errno;
}

/* Makes one descriptor that becomes readable on both: cancelled, and out of time. */
static int make_end(struct campaign *c)
{
        int r;

        c->localize_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        c->localize_end = epoll_create1(EPOLL_CLOEXEC);
        if (c->localize_timer < 0 || c->localize_end < 0)
                return errorf(-errno, "cannot make a timer: %s", strerror(errno));
        r = watch_fd(c->localize_end, c->localize_timer);
        return r < 0 ? r : watch_fd(c->localize_end, c->cancel_fd);
}

void campaign_limit_localizer(struct campaign *c)
{
        uint64_t ns = MAX((uint64_t)(c->settings->localize_seconds * 1e9), UINT64_C(1));
        struct itimerspec until = {.it_value = {.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)}};

        if (c->localize_timer >= 0)
                timerfd_settime(c->localize_timer, 0, &until, NULL);
}

/* -- searching -- */

static bool is_left_out(void *user, const struct observation *f)
{
        struct campaign *c = user;
        bool is_tried = false;

        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < c->n_found; i++)
                is_tried |= c->found[i].finding == f->number && c->found[i].is_tried;
        pthread_mutex_unlock(&c->lock);
        return is_tried;
}

/* Also where its result is not kept: another search in this session would come to the same. */
static void note_tried(void *user, const struct observation *f)
{
        struct campaign *c = user;

        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < c->n_found; i++)
                c->found[i].is_tried |= c->found[i].finding == f->number;
        pthread_mutex_unlock(&c->lock);
}

static void say(void *user, const char *line)
{
        campaign_say(user, "%s", line);
}

static int localize(struct campaign *c, size_t *ret_open)
{
        const struct localizing how = {.width = width,
                                       .await_turn = await_turn,
                                       .is_left_out = is_left_out,
                                       .ended = note_tried,
                                       .tell = say,
                                       .is_over = is_time_over,
                                       .user = c,
                                       .end_fd = c->localize_end};
        int r = findings_localize(c->workspace, c->engine, c->solver, c->settings->name, &how, ret_open), k;

        if (r < 0 && r != -ECANCELED)
                campaign_say(c, "not localized: %s", error_message(r));
        pthread_mutex_lock(&c->lock);
        k = learn(c);
        pthread_mutex_unlock(&c->lock);
        return r < 0 ? r : k;
}

int campaign_localize_all(struct campaign *c)
{
        size_t n = 0;
        int r = c->settings->localize ? localize(c, &n) : 0;

        if (r == 0)
                campaign_say_open(c, n, "localized", c->settings->localize_seconds, "--localize-for", "the same command goes on");
        return r;
}

/* -- while it searches for inputs -- */

static void *localizer(void *user)
{
        struct campaign *c = user;
        size_t n_open;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        while (r == 0) {
                while (!c->is_over && !is_unexplained(c))
                        pthread_cond_wait(&c->changed, &c->lock);
                if (c->is_over)
                        break;
                campaign_begin_turn(c, BESIDE_LOCALIZER);
                c->has_item = false;
                pthread_mutex_unlock(&c->lock);
                r = localize(c, &n_open);
                pthread_mutex_lock(&c->lock);
                campaign_end_turn(c, BESIDE_LOCALIZER);
        }
        pthread_mutex_unlock(&c->lock);
        return NULL;
}

int campaign_start_localizer(struct campaign *c)
{
        int r = c->settings->localize ? make_end(c) : 0;

        return r == 0 && c->settings->localize ? campaign_start_beside(c, BESIDE_LOCALIZER, localizer, c) : r;
}

