#!/bin/bash
# Takes each limit and each wall of the sandbox out of the code, one at a time, and sees whether a test fails.
#
#     tests/mutants.sh FOLDER [NUMBER…]       in FOLDER (made; it may stay for the next time); takes an hour
#     tests/mutants.sh --check                only says which expressions change nothing any more; takes a second
#
# Some of them let a fork bomb go. As root that would be the end of the machine for minutes, so all is done in a cgroup that may have 3000
# processes; another user sets a limit by 'ulimit -u'.
#
# Prints a line for each: its number, "killed by SUITE", "SURVIVED" or "too slow in SUITE", and what was taken out. BEFORE is put before each suite's
# command. First all suites run on the code as it is: one that fails there would kill every mutant, so nothing is done then.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: tests/mutants.sh FOLDER [NUMBER…] | --check}
shift
# FILE | PERL EXPRESSION (s…) ; must change the file
table() {
        cat <<'TABLE'
core/sandbox/sandbox.c | s/strings_add\(&a, "--die-with-parent"\);/;/
core/sandbox/sandbox.c | s/"--unshare-net", //
core/sandbox/sandbox.c | s/"--unshare-ipc", //
core/sandbox/sandbox.c | s/"--unshare-uts",\s+"--hostname", "solverfs",//
core/sandbox/sandbox.c | s/"--ro-bind", "\/usr", "\/usr"/"--bind", "\/usr", "\/usr"/
core/sandbox/sandbox.c | s/"--ro-bind", "\/etc", "\/etc"/"--bind", "\/etc", "\/etc"/
core/sandbox/sandbox.c | s/"--proc", "\/proc"/"--ro-bind", "\/proc", "\/proc"/
core/sandbox/sandbox.c | s/"--dev", "\/dev"/"--dev-bind", "\/dev", "\/dev"/
core/sandbox/sandbox.c | s/"--remount-ro", "\/dev", //
core/sandbox/sandbox.c | s/"--remount-ro", "\/", //
core/sandbox/sandbox.c | s/if \(most > 0\)\s+ADD\(a, "--size", size\);//
core/sandbox/sandbox.c | s/b->writable \|\| b->shared \? "--bind" : "--ro-bind"/"--bind"/
core/sandbox/sandbox.c | s/ADD\(&a, "--ro-bind", helper/ADD(&a, "--bind", helper/
core/sandbox/sandbox.c | s/"--symlink", "scratch", "\/tmp"/"--tmpfs", "\/tmp"/
core/sandbox/sandbox.c | s/geteuid\(\) == 0 && fscanf/geteuid() == 1 && fscanf/
core/sandbox/sandbox.c | s/kill\(pid, SIGKILL\);/;/
core/sandbox/sandbox.c | s/if \(r == 0\)\s+return 0;\s+if \(r == -EAGAIN\)/return 0;\n if (r == -EAGAIN)/
core/sandbox/exec_stub.c | s/prctl\(PR_SET_DUMPABLE, 0\);//
core/sandbox/exec_stub.c | s/prctl\(PR_SET_CHILD_SUBREAPER, 1\);//
core/sandbox/exec_stub.c | s/prctl\(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0\);//
core/sandbox/exec_stub.c | s/fcntl\(EXEC_CONTROL, F_SETFD, FD_CLOEXEC\);//
core/sandbox/exec_stub.c | s/fcntl\(EXEC_REQUEST, F_SETFD, FD_CLOEXEC\);/;/
core/sandbox/exec_stub.c | s/setsid\(\);//
core/sandbox/surroundings.c | s/\[RLIMIT_CORE\] = both\(0\)/[RLIMIT_CORE] = both(RLIM_INFINITY)/
core/sandbox/surroundings.c | s/\.rlim_cur = OPEN_FILES, \.rlim_max = OPEN_FILES_TOP/.rlim_cur = 1 << 16, .rlim_max = 1 << 16/
core/sandbox/surroundings.c | s/\[RLIMIT_CPU\] = cpu_limit\(q->cpu_ns\)/[RLIMIT_CPU] = both(RLIM_INFINITY)/
core/sandbox/surroundings.c | s/\[RLIMIT_AS\] = both\(memory\)/[RLIMIT_AS] = both(RLIM_INFINITY)/
core/sandbox/surroundings.c | s/\[RLIMIT_FSIZE\] = both\(or_none\(q->file_size\)\)/[RLIMIT_FSIZE] = both(RLIM_INFINITY)/
core/sandbox/surroundings.c | s/\[RLIMIT_NPROC\] = both\(or_none\(q->processes\)\)/[RLIMIT_NPROC] = both(RLIM_INFINITY)/
core/sandbox/exec_stub.c | s/syscall\(SYS_setgroups, 0, NULL\) == 0 &&//
core/sandbox/exec_stub.c | s/syscall\(SYS_setresgid, r->gid, r->gid, r->gid\) == 0 &&//
core/sandbox/exec_stub.c | s/syscall\(SYS_setresuid, r->uid, r->uid, r->uid\) == 0/true/
core/sandbox/exec_stub.c | s/\(!r->keep_files \|\| keep_files\(\)\)/true/
core/sandbox/exec_surroundings.c | s/umask\(\(mode_t\)s->mask\);//
core/sandbox/exec_stub.c | s/set_oom_score\(oom_score, "800"\);//
core/sandbox/exec_stub.c | s/setpgid\(0, 0\);//
core/sandbox/exec_stub.c | s/r->has_cpus && sched_setaffinity/false && sched_setaffinity/
core/sandbox/exec_surroundings.c | s/        reset_signals\(\);//
core/sandbox/exec_surroundings.c | s/        forget_habits\(\);//
core/sandbox/exec_surroundings.c | s/if \(personality\(PER_LINUX\) == -1\)/if (false)/
core/sandbox/exec_surroundings.c | s/setpriority\(PRIO_PROCESS, 0, 0\) == 0/true/
core/sandbox/exec_surroundings.c | s/sched_setscheduler\(0, SCHED_OTHER, &none\) < 0/false/
core/sandbox/exec_stub.c | s/if \(!r->namespace && \(prctl\(PR_SET_PDEATHSIG/if (false \&\& (prctl(PR_SET_PDEATHSIG/
core/sandbox/exec_stub.c | s/if \(is_over\(memory, r->memory\)\)\s+end_for\(run, END_MEMORY\);\s+else if/if/
core/sandbox/exec_stub.c | s/else if \(is_over\(reaped_cpu\(run\) \+ t.cpu_ns, r->cpu_ns\)\)\s+end_for\(run, END_TIMEOUT\);//
core/sandbox/exec_stub.c | s/else if \(is_over\(t.threads, r->processes\)\)[^\n]*\s+end_for\(run, END_PROCESSES\);//
core/sandbox/exec_stub.c | s/if \(r->wall_ns != 0 && wall_at\(run, clock_now\(\)\) >= r->wall_ns\)\s+end_for\(run, END_TIMEOUT\);//
core/sandbox/exec_stub.c | s/look_at_folder_if_due\(run\);//
core/sandbox/exec_stub.c | s/if \(is_over\(a->wall_ns, r->wall_ns\) \|\| /if (/
core/sandbox/exec_stub.c | s/ \|\| is_over\(reaped_cpu\(run\), r->cpu_ns\)//
core/sandbox/exec_stub.c | s/else if \(is_over\(memory, r->memory\)\)/else if (false)/
core/sandbox/exec_stub.c | s/if \(failed && !is_sent && r->memory != 0 &&/if (false \&\&/
core/sandbox/exec_stub.c | s/if \(failed && !is_sent && \(run->processes_hit \|\| \(is_lonely && \(exited \|\| sig == SIGABRT\)\)\)\)/if (false)/
core/sandbox/exec_stub.c | s/if \(sig == SIGXFSZ \|\|/if (/
core/sandbox/exec_stub.c | s/sig == SIGXFSZ \|\| is_folder_over\(run\)/sig == SIGXFSZ/
core/sandbox/exec_tree.c | s/memory = MIN\(memory, fair\);//
core/sandbox/exec_stub.c | s/tree_kill\(run->order->head->namespace\);/;/
core/sandbox/exec_stub.c | s/r->killed\+\+;//
core/sandbox/exec_stub.c | s/r->user_ns \+= nanoseconds/r->user_ns = nanoseconds/
core/sandbox/exec_tree.c | s/signal_all\(SIGSTOP\)/false/
core/sandbox/exec_tree.c | s/field\[14\] \+ field\[15\] \+ field\[16\] \+ field\[17\]/field[14] + field[15]/
core/sandbox/exec_tree.c | s/pages \+= p->resident - shared;/pages = p->resident;/
core/sandbox/exec_tree.c | s/if \(fd < 0 && errno == EACCES && fchmodat/if (false \&\& fchmodat/
core/sandbox/exec_tree.c | s/: most;/: 0;/
core/sandbox/execution.c | s/command\(x, COMMAND_TOO_MUCH, 0\);//
core/sandbox/execution.c | s/if \(\(r.end == END_EXIT \|\| r.guessed\) && \(prints_too_much/if (false \&\& (prints_too_much/
core/sandbox/execution.c | s/x->cancelled = true;\s+shutdown\(x->control, SHUT_WR\);/x->cancelled = true;/
core/sandbox/execution.c | s/x->deadline = now_ns\(\) \+ END_GRACE;\n\}/}/
core/sandbox/execution.c | s/sandbox_sweep\(\);\s+read_streams/read_streams/
cache/base/spawn.c | s/r = posix_spawn_file_actions_addclosefrom_np\(a, \(int\)n\);/;/
cache/base/spawn.c | s/q->environment \?: nothing\)/environ)/
core/run/runner.c | s/\.wall_ns = l->wall_ns,/.wall_ns = 0,/
core/run/runner.c | s/\.cpu_ns = l->cpu_ns,/.cpu_ns = 0,/
core/run/runner.c | s/\.memory = l->memory,/.memory = 0,/
core/run/runner.c | s/\.file_size = r->options\.scratch,/.file_size = 0,/
core/run/runner.c | s/\.processes = l->processes,/.processes = 0,/
core/run/runner.c | s/\.out = output,/.out = {.keep = 1 << 20},/
core/run/runner_files.c | s/r = remove_tree\(f->scratch\);/r = 0;/
core/run/runner_files.c | s/if \(f->has_scratch && was_touched\(f\)\)/if (false)/
core/sandbox/exec_world.c | s/CLONE_NEWPID \| //
core/sandbox/exec_world.c | s/CLONE_NEWIPC \| //
core/sandbox/exec_world.c | s/mount\("tmpfs", "\/dev\/shm"[^\n]*\n/false ||\n/
core/sandbox/exec_world.c | s/"size=4k,mode=0555"\) < 0 \? -errno : 0/"size=4k,mode=0555") < 0 ? 0 : 0/
core/sandbox/exec_world.c | s/SYS_keyctl, 5, 0/SYS_keyctl, 0, 0/
core/sandbox/exec_keeper.c | s/world_network\(\) == k->network/true/
core/sandbox/exec_keeper.c | s/end_orphans\(\);\s+lost/lost/
core/sandbox/exec_stub.c | s/tree_stop\(namespace\);//
core/sandbox/exec_stub.c | s/run->stood_still \+= [^;]*;//
core/sandbox/keeper.c | s/execution_kill_marked\(x\);/;/
core/run/verdict.c | s/questions > 0 && v->n > questions/false/
core/run/verdict.c | s/v->n < questions && r->out_cut == 0/false/
core/build/attempt_command.c | s/\.wall_ns = limits->wall_ns > .*,/.wall_ns = 0,/
core/build/attempt_command.c | s/\.memory = limits->memory,/.memory = 0,/
core/build/attempt_command.c | s/\.processes = limits->processes,/.processes = 0,/
core/build/attempt_command.c | s/\.file_size = FILE_MAX,/.file_size = 0,/
core/build/attempt_command.c | s/\.out = \{\.keep = MAX[^}]*\}/.out = {.keep = SIZE_MAX}/
core/query/build_commit.c | s/"%s\/work\/ccache\/%s", workspace_dir\(w\), s->repository/"%s\/work\/ccache", workspace_dir(w)/
core/build/worktree.c | s/r = remove_tree\(w->scratch\); \/\*[^\n]*//
core/build/worktree.c | s/lock_drop\(w->lock\);/;/
TABLE
}

# The file as the expression of a row leaves it.
mutate() { perl -0pe "${2//, s\//; s/}" "$source/$1"; }

if [ "$folder" = --check ]; then
        number=0 stale=0
        while IFS='|' read -r file expression; do
                number=$((number + 1))
                file=${file% }
                if [ -f "$source/$file" ]; then
                        mutate "$file" "${expression# }" | cmp -s - "$source/$file" || continue
                fi
                echo "$number NOT APPLIED: $file:$expression"
                stale=1
        done < <(table)
        exit $stale
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export TMPDIR="$folder/tmp"
export CCACHE_DISABLE=1 # it was seen to give back the object of the mutant before
mkdir -p "$TMPDIR"

fence=
fence() {
        local group
        if [ "$(id -u)" -ne 0 ]; then
                ulimit -u 3000
                return
        fi
        for group in /sys/fs/cgroup/pids /sys/fs/cgroup; do
                mkdir -p "$group/solverfs-mutants" && echo 3000 >"$group/solverfs-mutants/pids.max" &&
                        echo $$ >"$group/solverfs-mutants/cgroup.procs" && fence="$group/solverfs-mutants/cgroup.procs" && return
        done 2>/dev/null
        echo "no cgroup with a limit on processes can be made: refused" >&2
        exit 1
}
fence

git -C "$source" ls-files | rsync -a --files-from=- --checksum "$source/" "$folder/tree/"
[ -d "$folder/build" ] || meson setup "$folder/build" "$folder/tree" >/dev/null || exit 1
all="execute keeper runner build mount_hostile"
targets="tools/solverfs core/sandbox/solverfs-exec core/build/solverfs-shim core/solverfs-fetch tests/support/attacker tests/support/tiny"
program() { case $1 in mount_*) echo "tests/mount/test_$1" ;; *) echo "tests/test_$1" ;; esac; }
for suite in $all; do targets+=" $(program $suite)"; done
ninja -C "$folder/build" $targets >/dev/null || exit 1

export SOLVERFS_COMMAND="$folder/build/tools/solverfs" SOLVERFS_TINY="$folder/build/tests/support/tiny" SOLVERFS_SOURCE="$folder/tree" \
        SOLVERFS_ATTACKER="$folder/build/tests/support/attacker"
run_suite() { ${BEFORE:-} timeout 170 "$folder/build/$(program "$1")" >"$2" 2>&1; } # SUITE LOG; 124: it was ended
for suite in $all; do
        run_suite $suite "$folder/log" || { echo "$suite ends with $? although nothing was taken out: refused; see $folder/log" >&2; exit 1; }
done
number=0
while IFS='|' read -r file expression; do
        number=$((number + 1))
        [ $# -eq 0 ] || case " $* " in *" $number "*) ;; *) continue ;; esac
        file=${file% }
        expression=${expression# }
        cp "$source/$file" "$folder/original"
        mutate "$file" "$expression" >"$folder/tree/$file"
        if cmp -s "$folder/original" "$folder/tree/$file"; then
                echo "$number NOT APPLIED: $file: $expression"
                continue
        fi
        verdict=SURVIVED
        if ! ninja -C "$folder/build" $targets >"$folder/log" 2>&1; then
                verdict="does not compile"
        else
                case $file in
                core/run/runner*.c | core/sandbox/keeper.c) suites="runner keeper mount_hostile" ;;
                core/build/* | core/query/build_commit.c) suites="mount_hostile build" ;;
                *) suites="execute runner keeper mount_hostile" ;;
                esac
                for suite in $suites; do
                        run_suite $suite "$folder/log.$number"
                        case $? in
                        0) ;;
                        124) verdict="too slow in $suite" ;;
                        *)
                                verdict="killed by $suite: $(grep -aoE ':[FE]:test_[a-z_]*' "$folder/log.$number" | cut -d: -f3 | sort -u | tr '\n' ' ')"
                                break
                                ;;
                        esac
                done
        fi
        cp -p "$folder/original" "$folder/tree/$file"
        touch "$folder/tree/$file"
        echo "$number $verdict: $file: $expression"
        # What got away: it would count against the next one's limits.
        [ -z "$fence" ] || while read -r pid; do [ "$pid" = $$ ] || kill -9 "$pid"; done <"$fence" 2>/dev/null
        # What a test left that was ended: a daemon ends with its mount, and a run with its daemon.
        findmnt -rno TARGET | grep -F "$TMPDIR" | while read -r mount; do umount -l "$(printf '%b' "$mount")"; done
        find "$TMPDIR" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
done < <(table)
