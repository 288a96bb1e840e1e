/* Shared by worker.c (the connection), worker_runs.c (requests and their threads; runs) and worker_builds.c (builds). */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "cache/store/program_folder.h"
#include "core/remote/message.h"
#include "core/remote/worker.h"
#include "core/run/runner.h"

#define WORKER_REQUESTS 1024 /* at a time, each with a thread; most wait for a slot */

struct request {
        uint64_t id;
        enum packet_type type;
        union { /* by its type; `run` stands for all of them in message_read() and message_done() */
                struct remote_run run;
                struct remote_build build;
                struct remote_file fetch;
        };
        struct worker *worker;
        int cancel_fd; /* an eventfd */
        TAILQ_ENTRY(request) link;
};

/* A runner kept for the next request with the same key on the same core, with its programs' files. */
struct kept_runner {
        SLIST_ENTRY(kept_runner) link;
        struct runner *runner;
        struct digest key;
        int cpu;
        int files[RECIPE_OUTPUTS_MAX];
        size_t n_files;
};

/* A file being received. A head sends one at a time: the first part of the next one ends an upload that was cancelled. */
struct arriving {
        struct digest id;
        uint64_t size;
        struct buffer bytes;
};

struct worker {
        const struct worker_options *options;
        unsigned n_slots;
        char scratch[PATH_SIZE];
        struct program_folder folder;
        struct arriving arriving; /* used by the reading thread */

        pthread_mutex_t out_lock;
        uint32_t out_sequence; /* under out_lock */

        pthread_mutex_t lock;
        pthread_cond_t ended; /* a request has ended */
        /* under lock */
        TAILQ_HEAD(, request) requests;
        size_t n_requests, n_building; /* n_building: builds with cores */
        SLIST_HEAD(, kept_runner) kept; /* except those in use */
};

int worker_send(struct worker *w, enum packet_type type, uint64_t id, struct slice body);
int worker_send_message(struct worker *w, enum packet_type type, uint64_t id, void *message);
void worker_send_failure(struct worker *w, uint64_t id, int r);

/* Opens a file of the folder, which is not deleted while the descriptor is open. -ENOENT if it is missing. */
int worker_hold(struct worker *w, const struct remote_file *f, int *ret_fd, char path[PATH_SIZE]);
/* The same, but adds a missing file to `wanted`; then *ret_fd is unchanged. */
int worker_look_for(struct worker *w, const struct remote_file *f, struct digest_list *wanted, int *ret_fd);
int worker_ask(struct worker *w, uint64_t id, const struct digest_list *wanted); /* asks the head for them. 1; 0: the list is empty */
int worker_send_output(struct worker *w, uint64_t id, unsigned stream, const struct blob *bytes);

/* worker_builds.c, called by the request's thread: 0 if it was answered, also with PACKET_WANT; after an error the caller sends the failure. */
int worker_build(struct worker *w, struct request *q);
int worker_fetch(struct worker *w, struct request *q);

void worker_request_free(struct request *q);
/* Takes over the request. */
int worker_runs_add(struct worker *w, struct request *q);
void worker_runs_cancel(struct worker *w, uint64_t id); /* 0: all of them */
void worker_runs_stop(struct worker *w); /* ends all of them, and closes the kept runners */
