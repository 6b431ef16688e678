#include "server/job/worker/task.h"

#include "server/clock.h"
#include "server/solver/certificate.h"
#include "server/store/graph_file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A step of a row's certificate costs so many steps of the solve, and checking the sample may take
 * this share of the solve. */
#define ROW_STEP_COST 100.0
#define SAMPLE_SHARE 0.02

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

/* ---- Its files, before ---- */

static enum status open_graph(const struct task_folders *folders, struct task *task)
{
    if (task->graph != NULL) {
        task->vertex_count = task->graph->vertex_count;
    }
    if (task->graph != NULL && !folders->graph_files) {
        return STATUS_OK;
    }
    int descriptor;
    const enum status status = graph_file_open(folders->graphs, task->graph_id, &descriptor);
    if (status != STATUS_OK) {
        return problem_set(&task->problem, status, "The stored graph %s cannot be read.",
                           task->graph_id);
    }
    /* The folders are open, so even where the standard streams are closed 0 is taken. */
    CHECK(descriptor > 0);
    task->graph_descriptor = descriptor;
    return STATUS_OK;
}

static enum status make_result_file(const struct task_folders *folders, struct task *task)
{
    const double began_s = clock_monotonic_s();
    const enum status status =
        result_file_create(folders->results, task->vertex_count, task->kind, &task->file);
    task->write_s += clock_monotonic_s() - began_s;
    atomic_store(&task->signal->placed, status == STATUS_OK);
    task->is_passing =
        status == STATUS_DISK_FULL || status == STATUS_NO_MEMORY || status == STATUS_IO;
    if (status != STATUS_OK) {
        return problem_set(&task->problem, status, "%s the result of %u vertices.",
                           status == STATUS_DISK_FULL ? "There is no room on the disk for"
                                                      : "No file can be made for",
                           task->vertex_count);
    }
    return STATUS_OK;
}

void task_open_files(const struct task_folders *folders, struct task *task)
{
    task->status = STATUS_CANCELLED;
    if (!atomic_load(&task->signal->cancelled)) {
        task->status = open_graph(folders, task);
    }
    if (task->status == STATUS_OK) {
        task->status = make_result_file(folders, task);
    }
}

/* ---- Its files, after ---- */

uint32_t task_sample_rows(uint32_t sample_rows, uint32_t vertex_count, uint64_t edge_count)
{
    const double n = vertex_count;
    const double row_cost = (n + (double)edge_count) * ROW_STEP_COST;
    const double rows = row_cost > 0 ? n * n * n * SAMPLE_SHARE / row_cost : 0;
    if (rows >= sample_rows) {
        return sample_rows;
    }
    return sample_rows > 0 && rows < 1 ? 1 : (uint32_t)rows;
}

/* Proves rows that are evenly spread from a start that is drawn: any row may be among them. */
static enum status check_rows(uint32_t sample_rows, struct task *task)
{
    const struct matrix matrix = result_file_matrix(task->file);
    const struct observer observer = task_signal_observer(task->signal);
    const uint32_t n = task->vertex_count;
    const uint32_t sample = task_sample_rows(sample_rows, n, task->graph->edge_count);
    const uint32_t row_count = sample < n ? sample : n;
    struct verification verification;
    uint32_t start;
    if (row_count == 0) {
        return STATUS_OK;
    }
    if (getrandom(&start, sizeof(start), 0) != (ssize_t)sizeof(start)) {
        return problem_set(&task->problem, STATUS_IO, "The distances cannot be verified now.");
    }
    uint32_t *rows = calloc(row_count, sizeof(*rows));
    if (rows == NULL) {
        return problem_set(&task->problem, STATUS_NO_MEMORY,
                           "The distances cannot be verified now.");
    }
    for (uint32_t i = 0; i < row_count; i++) {
        rows[i] = (uint32_t)(((uint64_t)i * n + start % n) / row_count);
    }
    const enum status status = certificate_check_rows(task->graph, &matrix, rows, row_count,
                                                      &observer, &verification, &task->problem);
    free(rows);
    return status;
}

void task_judge(uint32_t sample_rows, struct task *task)
{
    if (task->status == STATUS_CORRUPT) {
        /* Until here nothing but the graph's file was read. */
        task->graph_damaged = true;
        problem_set(&task->problem, STATUS_CORRUPT,
                    "The stored graph %s is damaged; what is left of its file is in quarantine.",
                    task->graph_id);
        problem_hint(&task->problem, "Send the graph again: that heals it.");
    }
    if (task->status == STATUS_OK) {
        task->status = check_rows(sample_rows, task);
    }
    if (task->status == STATUS_OK) {
        const double began_s = clock_monotonic_s();
        task->status = result_file_seal(task->file);
        task->write_s += clock_monotonic_s() - began_s;
        task->is_passing = task->status == STATUS_NO_MEMORY;
        if (task->status != STATUS_OK) {
            problem_set(&task->problem, task->status, "The result file cannot be sealed.");
        }
    }
    if (task->graph != NULL) {
        task->names = task->graph->names;
        task->graph->names = NULL;
    }
}

void task_send_home(struct mailbox *home, void (*finished)(struct message *message),
                    struct task *task)
{
    struct graph *graph = task->graph;
    struct result_file *spoilt = task->status != STATUS_OK ? task->file : NULL;
    if (task->graph_descriptor > 0) {
        close(task->graph_descriptor);
    }
    task->graph_descriptor = 0;
    task->graph = NULL;
    task->file = spoilt != NULL ? NULL : task->file;
    task->message.deliver = finished;
    mailbox_post(home, &task->message);
    graph_destroy(graph);
    result_file_destroy(spoilt);
}

/* ---- Its signal ---- */

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

/* ---- Its loss ---- */

void task_loss_describe(enum task_loss loss, int code, char ret_text[TASK_LOSS_TEXT_SIZE])
{
    static const char *const texts[] = {
        [TASK_LOSS_NONE] = "none",
        [TASK_LOSS_STALLED] = "it made no progress and was ended",
        [TASK_LOSS_SILENT] = "it gave no sign of life and was ended",
        [TASK_LOSS_PROTOCOL] = "it said what makes no sense and was ended",
    };
    if (loss == TASK_LOSS_EXIT) {
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "it left with code %d", code);
    } else if (loss == TASK_LOSS_SIGNAL) {
        const char *name = sigabbrev_np(code);
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "it was ended by signal %d (%s)", code,
                 name != NULL ? name : "unknown");
    } else {
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "%s", texts[loss]);
    }
}
