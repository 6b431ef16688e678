#include "server/job/worker/task.h"

#include "server/clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void task_finish(struct task *task)
{
    if (task->graph_descriptor > 0) {
        close(task->graph_descriptor);
    }
    graph_destroy(task->graph);
    result_file_destroy(task->file);
    vertex_names_destroy(task->names);
    solve_outcome_finish(&task->outcome);
    task->graph_descriptor = 0;
    task->graph = NULL;
    task->file = NULL;
    task->names = NULL;
}

void task_signal_reset(struct task_signal *signal)
{
    static const struct task_signal nothing;
    task_signal_copy(&nothing, signal);
}

void task_signal_copy(const struct task_signal *from, struct task_signal *to)
{
    atomic_store(&to->cancelled, atomic_load(&from->cancelled));
    atomic_store(&to->placed, atomic_load(&from->placed));
    atomic_store(&to->rounds_done, atomic_load(&from->rounds_done));
    atomic_store(&to->rounds_total, atomic_load(&from->rounds_total));
    atomic_store(&to->first_round, atomic_load(&from->first_round));
    atomic_store(&to->first_round_at_s, atomic_load(&from->first_round_at_s));
    atomic_store(&to->round_at_s, atomic_load(&from->round_at_s));
    atomic_store(&to->begun_at_s, atomic_load(&from->begun_at_s));
    atomic_store(&to->expected_s, atomic_load(&from->expected_s));
    atomic_store(&to->finish_s, atomic_load(&from->finish_s));
}

/* A solver that begins anew, on rounding, begins a new pace. */
static void report_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct task_signal *signal = context;
    const double now_s = clock_monotonic_s();
    if (atomic_load(&signal->rounds_done) == 0 || rounds_done < atomic_load(&signal->rounds_done)) {
        atomic_store(&signal->first_round, rounds_done);
        atomic_store(&signal->first_round_at_s, now_s);
    }
    atomic_store(&signal->round_at_s, now_s);
    atomic_store(&signal->rounds_total, rounds_total);
    atomic_store(&signal->rounds_done, rounds_done);
}

static bool is_cancelled(void *context)
{
    struct task_signal *signal = context;
    return atomic_load(&signal->cancelled);
}

struct observer task_signal_observer(struct task_signal *signal)
{
    return (struct observer){signal, report_progress, is_cancelled};
}

void task_loss_describe(enum task_loss loss, int code, char ret_text[TASK_LOSS_TEXT_SIZE])
{
    const size_t size = TASK_LOSS_TEXT_SIZE;
    const char *name = NULL;
    switch (loss) {
    case TASK_LOSS_NONE:
        snprintf(ret_text, size, "none");
        return;
    case TASK_LOSS_EXIT:
        snprintf(ret_text, size, "it left with code %d", code);
        return;
    case TASK_LOSS_SIGNAL:
        name = sigabbrev_np(code);
        snprintf(ret_text, size, "it was ended by signal %d (%s)", code,
                 name != NULL ? name : "unknown");
        return;
    case TASK_LOSS_STALLED:
        snprintf(ret_text, size, "it made no progress and was ended");
        return;
    case TASK_LOSS_SILENT:
        snprintf(ret_text, size, "it gave no sign of life and was ended");
        return;
    case TASK_LOSS_BABBLE:
        snprintf(ret_text, size, "it said what makes no sense and was ended");
        return;
    }
}
