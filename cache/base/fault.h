/* Injected faults, for tests: each place where something can go wrong has a name, and a test decides what happens there.
 *
 *     if ((r = fault_at("journal.append")) < 0)
 *             return r;
 *
 * Without $SOLVERFS_FAULTS in the environment at the process's start, fault_at() is one relaxed load. $SOLVERFS_FAULTS is the absolute path of a
 * folder, the same for all processes under test. A file in it named after the place says what happens at each visit:
 *
 *     fail ENOSPC          returns -ENOSPC (any errno's name)
 *     delay 200            continues after so many milliseconds
 *     block                continues when the file is removed or says something else
 *     kill                 SIGKILL to the process itself
 *     stop                 SIGSTOP to the process itself
 *
 * `after N` behind the order spares the first N visits; `times N` limits the order to N visits. Write the file under another name and rename it, or a
 * process may read half of it. The size of <place>.met counts the visits, whether the place has a file or not: a test that waits until a
 * process is blocked there waits for it.
 *
 *     write("faults/store.commit", "block\n");
 *     await(size("faults/store.commit.met") == 1);
 *     …
 *     unlink("faults/store.commit");
 *
 * The places (a new one is a line in the code and one here):
 *
 *     store.begin      a write transaction has begun         journal.append   before a group is written
 *     store.commit     before a transaction is written       journal.sync     written, not synced
 *     store.journaled  in the journal, not in the index      store.committed  in both, not reported
 *     store.read       before a reading transaction          programs.put     before a program is stored
 *     store.compacting  a new journal is in its place, the index does not record it yet
 *     journal.read     before a piece of a segment is read   journal.look     before a header is read, or what follows the last group
 *     programs.place   a program encoded, not in its place   programs.read    before a program's file is read
 *     programs.get     before one goes into programs/        cases.place      a case's bytes staged, not in their place
 *     cases.enter      in their place, not in the index      cases.undo       entering failed, not undone yet
 *     build.checkout   before a worktree is written          store.compacted  a new journal in force, the index not synced
 *     build.command    before each command                   build.keep       built and stored, worktree not marked so
 *     build.live       before a piece of a log is shown
 *     execute.start    before a program is started           execute.started  while it runs
 *     execute.end      it has ended                          engine.compute   before a query is computed
 *     keeper.start     before a sandbox that stays is made   keeper.begin     before a run is given to it
 *     keeper.begun     while the run goes on                 keeper.end       it has ended
 *     engine.answer    computed and stored, not answered     open.answer      before a parked open is replied to
 *     reduce.try       before candidates of a reduction are tried
 *     measure.sample   a sample was taken: `fail EBUSY` marks it disturbed, another errno undisturbed
 *     clock.back       the time of day is asked for: `fail ETIME` sets the clock back by an hour
 *     run.clock        before a run: `fail ETIME` simulates its clock (core/run/simulated_clock.h)
 *     case.looked      before stat() of a case being written case.closed      its RELEASE came
 *     case.flush       before a written file becomes a case  case.minute      a written file is looked up: `fail ETIME`: its name has expired
 *     campaign.found   a finding stored, not in the campaign's journal
 *     portfolio.answered  a case is answered, the trial is not in the store
 *     import.campaign  before a file of an imported campaign is written, and before the one that completes it
 *     fsck.folder      a folder of a commit was looked at    campaign.checkpoint  a checkpoint is synced, not in its place
 *     history.copy     before a folder of loose objects of a local repository is copied
 *     campaign.journal before a campaign writes its journal  campaign.input   between two inputs of a campaign
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic bool fault_wanted;

int fault_meet(const char *place);

/* 0, or -errno with a sentence: the caller must fail with it. */
static inline int fault_at(const char *place)
{
        return __builtin_expect(atomic_load_explicit(&fault_wanted, memory_order_relaxed), 0) ? fault_meet(place) : 0;
}
