/* Faults on purpose, for tests: the places where something can go wrong have names, and a test says what happens there.
 *
 *     if ((r = fault_at("journal.append")) < 0)
 *             return r;
 *
 * Without $SOLVERFS_FAULTS in the environment at the process's start this is one relaxed load. With it, it is a folder, the same for all
 * processes that are to be disturbed, and a file in it named after the place says what happens to everyone who comes by:
 *
 *     fail ENOSPC          returns -ENOSPC (any errno's name)
 *     delay 200            goes on after so many milliseconds
 *     block                goes on when the file is taken away or says something else
 *     kill                 SIGKILL to the process itself
 *     stop                 SIGSTOP to the process itself
 *
 * and, behind it, `after N` (the first N to come by are left alone) and `times N` (N are met by it, the later ones not). Write the file
 * under another name and rename it, or what is half there may be read. Beside it, <place>.met grows by a byte for everyone who came by,
 * whether the place has a file or not: its size is how many, and a test that waits for "somebody is blocked there" waits for it.
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
 *     store.journaled  in the journal, not in the index      store.committed  in both, not answered
 *     store.read       before a reading transaction          programs.put     before a program is stored
 *     programs.place   one is encoded, not in its place      programs.read    before a program's file is read
 *     programs.get     before one is put in the folder       cases.place      a case's bytes staged, not in their place
 *     cases.enter      in their place, not in the index      cases.undo       could not be entered, not taken back
 *     build.checkout   before a worktree is written          store.compacted  a new journal in force, not synced
 *     build.command    before each command                   build.keep       built and stored, worktree not marked so
 *     build.live       before a piece of a log is shown
 *     execute.start    before a program is started           execute.started  while it runs
 *     execute.end      it has ended                          engine.compute   before a query is worked out
 *     keeper.start     before a sandbox that stays is made   keeper.begin     before a run is given to it
 *     keeper.begun     while the run goes on                 keeper.end       it has ended
 *     engine.answer    worked out and stored, not answered   open.answer      before a parked open is replied to
 *     reduce.try       before candidates of a reduction are tried
 *     measure.sample   a sample was taken: fail EBUSY, as if others had disturbed it; another errno, as if nobody had
 *     run.clock        before a run: fail ETIME, and it lasts as long as its program says (core/run/simulated_clock.h)
 *     case.looked      at the file of a case being written   case.closed      its RELEASE came
 *     case.flush       before it is made a case
 *     campaign.found   a finding stored, not in the campaign's journal
 *     portfolio.answered  a case is answered, the trial is not in the store
 *     import.campaign  before a file of an imported campaign is written, and before what makes it whole
 *     campaign.journal before a campaign notes something     campaign.input   between two inputs of a campaign
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic bool fault_wanted;

int fault_meet(const char *place);

/* 0, or what the caller is to fail with, with a sentence. */
static inline int fault_at(const char *place)
{
        return __builtin_expect(atomic_load_explicit(&fault_wanted, memory_order_relaxed), 0) ? fault_meet(place) : 0;
}
