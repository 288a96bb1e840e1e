/* For mount.c, and for tests that speak FUSE without a kernel (fuse_session_custom_io). */
#pragma once

#include <fuse_lowlevel.h>

#include "fs/tree/tree.h"
#include "fs/kernel/waiters.h"

struct session;

/* `e` answers cold opens. `finished`: only what is finished is there (-o cached). */
int session_new(struct workspace *w, struct engine *e, bool finished, struct session **ret);
/* Answers every parked reader and every writer, and returns when none is left. Call it before libfuse's session ends, whose requests they hold. */
void session_drain(struct session *s);
struct session *session_free(struct session *s);
/* Once libfuse's session is mounted: notifications go through it, from now until it is attached to NULL. */
int session_attach(struct session *s, struct fuse_session *fuse);
/* Every waiting reader gets EINTR, and so does every later open of a cold file. */
void session_interrupt(struct session *s);
/* Nothing is open, and no case is being written. */
bool session_is_idle(struct session *s);

/* userdata: the struct session */
extern const struct fuse_lowlevel_ops session_operations, session_finished_operations;
