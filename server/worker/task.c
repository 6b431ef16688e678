#include "server/worker/task.h"

#include "server/clock.h"
#include "server/store/graph_file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Graphs with more edges have no cached order: hashing them takes longer than planning. */
#define KEPT_EDGES_MAX (UINT64_C(1) << 26)

void task_finish(struct task *task)
{
    if (task->graph_descriptor > 0) {
        close(task->graph_descriptor);
    }
    graph_destroy(task->graph);
    hierarchy_destroy_shape(task->shape);
    search_pool_destroy(task->searches);
    result_file_destroy(task->file);
    order_file_finish(&task->order_file);
    result_unref(task->base);
    vertex_names_destroy(task->names);
    solve_outcome_finish(&task->outcome);
}

/* Returns whether a failure may be temporary: lack of space, memory or files, or an I/O error. */
static bool may_pass(enum status status)
{
    return status == STATUS_DISK_FULL || status == STATUS_NO_MEMORY || status == STATUS_IO;
}

static enum status check_graph(struct task *task, enum status status)
{
    task->is_passing = may_pass(status);
    task->graph_damaged = status == STATUS_CORRUPT;
    return status == STATUS_CORRUPT
               ? problem_refuse(&task->problem, status, "Upload the graph again to repair it.",
                                "The stored graph %s is damaged.", task->graph_id)
               : problem_explain(&task->problem, status, "The stored graph %s cannot be read.",
                                 task->graph_id);
}

enum status task_check_result(struct task *task, enum status status)
{
    task->is_passing = may_pass(status);
    return problem_explain(&task->problem, status, "%s the result of a graph with %u vertices.",
                           status == STATUS_DISK_FULL ? "There is not enough disk space for"
                           : status == STATUS_CORRUPT
                               ? "The solver changed the size or the headers of"
                               : "No file can be created for",
                           task->vertex_count);
}

static enum status open_graph(const struct task_folders *folders, struct task *task)
{
    int descriptor;
    STATUS_TRY(check_graph(task, graph_file_open(folders->graphs, task->graph_id, &descriptor)));
    /* Never 0: if standard input is closed, one of the open folders has descriptor 0. */
    CHECK(descriptor > 0);
    task->graph_descriptor = descriptor;
    return task->graph != NULL ? STATUS_OK : task_read_graph(task);
}

static enum status make_result_file(const struct task_folders *folders, struct task *task)
{
    const double began_s = clock_monotonic_s();
    const enum status status = result_file_create(folders->results, task->vertex_count, task->kind,
                                                  task->form, &task->file);
    task->write_s += clock_monotonic_s() - began_s;
    atomic_store(&task->signal->is_allocated,
                 status == STATUS_OK && task->form == RESULT_FORM_MATRIX);
    return task_check_result(task, status);
}

enum status task_read_graph(struct task *task)
{
    const double began_s = clock_monotonic_s();
    enum status status = graph_file_read_open(task->graph_descriptor, task->graph_id, &task->graph);
    task->parse_s += clock_monotonic_s() - began_s;
    if (status == STATUS_OK && task->graph->vertex_count != task->vertex_count) {
        status = STATUS_CORRUPT;
    }
    return check_graph(task, status);
}

enum status task_write_result(struct task *task, const void *hierarchy, uint64_t size)
{
    const double began_s = clock_monotonic_s();
    const enum status status = hierarchy != NULL
                                   ? result_file_write_hierarchy(task->file, hierarchy, size)
                                   : result_file_write_matrix(task->file);
    task->write_s += clock_monotonic_s() - began_s;
    return task_check_result(task, status);
}

void task_open_order_file(const struct task_folders *folders, struct task *task)
{
    if (task->status != STATUS_OK || task->is_updated || task->shape != NULL ||
        folders->plan_budget_bytes == 0 || task->vertex_count < TASK_KEPT_VERTICES_MIN ||
        task->edge_count > KEPT_EDGES_MAX) {
        return;
    }
    order_file_open(folders->orders, folders->plan_budget_bytes, task->graph, task->order_seed,
                    &task->order_file);
}

void task_read_record(const struct order_file *file, const struct graph *graph,
                      struct order_record *record)
{
    if (file->descriptor > 0) {
        record->words = order_file_read(file->descriptor, order_record_limit(graph->vertex_count),
                                        &record->count);
    }
}

void task_keep_record(const struct order_file *file, const struct order_record *record)
{
    if (record->fresh && file->descriptor > 0) {
        order_file_write(file->descriptor, record->words, record->count);
    }
    free(record->words);
}

void task_open_files(const struct task_folders *folders, struct task *task)
{
    task->status = STATUS_CANCELLED;
    if (!atomic_load(&task->signal->cancelled)) {
        task->status = open_graph(folders, task);
    }
    STATUS_THEN(task->status, make_result_file(folders, task));
}

void task_send_home(struct mailbox *home, void (*finished)(struct message *message),
                    struct task *task)
{
    struct graph *graph = task->graph;
    struct hierarchy_shape *shape = task->shape;
    struct order_file order_file = task->order_file;
    struct result_file *spoilt = task->status != STATUS_OK ? task->file : NULL;
    if (task->graph_descriptor > 0) {
        close(task->graph_descriptor);
    }
    task->graph_descriptor = 0;
    task->graph = NULL;
    task->shape = NULL;
    task->order_file = (struct order_file){0};
    task->file = spoilt != NULL ? NULL : task->file;
    task->message.deliver = finished;
    mailbox_post(home, &task->message);
    graph_destroy(graph);
    hierarchy_destroy_shape(shape);
    result_file_destroy(spoilt);
    order_file_finish(&order_file);
}

static void report_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct task_signal *signal = context;
    atomic_store(&signal->rounds_total, rounds_total);
    atomic_store(&signal->rounds_done, rounds_done);
}

static bool is_cancelled(void *context)
{
    struct task_signal *signal = context;
    return atomic_load(&signal->cancelled);
}

static void tell_share(void *context, enum solve_phase phase, double share)
{
    progress_tell(&((struct task_signal *)context)->progress, phase, share, clock_monotonic_s());
}

static void expect_phases(void *context, const double seconds[PHASE_COUNT])
{
    progress_expect(&((struct task_signal *)context)->progress, seconds, clock_monotonic_s());
}

struct observer task_signal_observer(struct task_signal *signal)
{
    return (struct observer){signal, report_progress, is_cancelled, tell_share, expect_phases};
}

void task_loss_describe(enum task_loss loss, int code, char ret_text[TASK_LOSS_TEXT_SIZE])
{
    static const char *const texts[] = {
        [TASK_LOSS_NONE] = "the solver was lost before it received the job",
        [TASK_LOSS_STALLED] = "the solver made no progress and was killed",
        [TASK_LOSS_SILENT] = "the solver sent no heartbeat and was killed",
        [TASK_LOSS_PROTOCOL] = "the solver sent an invalid message and was killed",
        [TASK_LOSS_DEVICE] = "the device failed",
    };
    if (loss == TASK_LOSS_EXIT) {
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "the solver exited with code %d", code);
    } else if (loss == TASK_LOSS_SIGNAL) {
        const char *name = sigabbrev_np(code);
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "the solver was killed by signal %d (%s)", code,
                 name != NULL ? name : "unknown");
    } else {
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "%s", texts[loss]);
    }
}
