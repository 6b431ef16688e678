#include "server/job/worker/task_files.h"

#include "server/clock.h"
#include "server/solver/certificate.h"
#include "server/store/graph_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* A step of a row's certificate costs so many steps of the solve, and checking the sample may take
 * this share of the solve. */
#define ROW_STEP_COST 100.0
#define SAMPLE_SHARE 0.02
/* Below lie the standard streams, even when they are closed. */
#define DESCRIPTOR_MIN 3

/* ---- Before ---- */

static enum status open_graph(const struct task_folders *folders, struct task *task)
{
    int descriptor = -1;
    if (task->graph != NULL) {
        task->vertex_count = task->graph->vertex_count;
    }
    if (task->graph != NULL && !folders->graph_files) {
        return STATUS_OK;
    }
    enum status status = graph_file_open(folders->graphs, task->graph_id, &descriptor);
    if (status == STATUS_OK && descriptor < DESCRIPTOR_MIN) {
        const int low = descriptor;
        descriptor = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
        status = descriptor < 0 ? draft_file_status(errno) : STATUS_OK;
        close(low);
    }
    if (status != STATUS_OK) {
        return problem_set(&task->problem, status, "The stored graph %s cannot be read.",
                           task->graph_id);
    }
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

void task_files_open(const struct task_folders *folders, struct task *task)
{
    task->status = STATUS_CANCELLED;
    if (!atomic_load(&task->signal->cancelled)) {
        task->status = open_graph(folders, task);
    }
    if (task->status == STATUS_OK) {
        task->status = make_result_file(folders, task);
    }
}

enum status task_files_read_graph(struct task *task)
{
    return task->graph != NULL ? STATUS_OK
                               : graph_file_read_open(task->graph_descriptor, &task->graph);
}

/* ---- After ---- */

uint32_t task_files_sample(uint32_t sample_rows, uint32_t vertex_count, uint64_t edge_count)
{
    const double n = vertex_count;
    const double row_cost = (n + (double)edge_count) * ROW_STEP_COST;
    const double rows = row_cost > 0 ? n * n * n * SAMPLE_SHARE / row_cost : 0;
    if (rows >= sample_rows) {
        return sample_rows;
    }
    return sample_rows > 0 && rows < 1 ? 1 : (uint32_t)rows;
}

/* Evenly spread from a start that is drawn: every row may be among them. Ascending. */
static enum status draw(uint32_t vertex_count, uint32_t row_count, uint32_t *ret_rows)
{
    uint32_t start;
    if (getrandom(&start, sizeof(start), 0) != (ssize_t)sizeof(start)) {
        return STATUS_IO;
    }
    start %= vertex_count;
    for (uint32_t i = 0; i < row_count; i++) {
        ret_rows[i] = (uint32_t)(((uint64_t)i * vertex_count + start) / row_count);
    }
    return STATUS_OK;
}

static enum status check_rows(struct task *task, uint32_t *rows, uint32_t row_count)
{
    const struct matrix matrix = result_file_matrix(task->file);
    const struct observer observer = task_signal_observer(task->signal);
    struct verification verification;
    const enum status status =
        rows == NULL ? STATUS_NO_MEMORY : draw(matrix.vertex_count, row_count, rows);
    if (status != STATUS_OK) {
        return problem_set(&task->problem, status, "The distances cannot be verified now.");
    }
    return certificate_check_rows(task->graph, &matrix, rows, row_count, &observer, &verification,
                                  &task->problem);
}

static enum status check(uint32_t sample_rows, struct task *task)
{
    const uint32_t sample =
        task_files_sample(sample_rows, task->vertex_count, task->graph->edge_count);
    const uint32_t row_count = sample < task->vertex_count ? sample : task->vertex_count;
    if (row_count == 0) {
        return STATUS_OK;
    }
    uint32_t *rows = calloc(row_count, sizeof(*rows));
    const enum status status = check_rows(task, rows, row_count);
    free(rows);
    return status;
}

static enum status seal(struct task *task)
{
    const double began_s = clock_monotonic_s();
    const enum status status = result_file_seal(task->file);
    task->write_s += clock_monotonic_s() - began_s;
    task->is_passing = status == STATUS_NO_MEMORY;
    if (status != STATUS_OK) {
        return problem_set(&task->problem, status, "The result file cannot be sealed.");
    }
    return STATUS_OK;
}

/* Until here nothing but the graph's file was read. */
static void tell_damage(struct task *task)
{
    task->graph_damaged = true;
    problem_set(&task->problem, STATUS_CORRUPT,
                "The stored graph %s is damaged; what is left of its file is in quarantine.",
                task->graph_id);
    problem_hint(&task->problem, "Send the graph again: that heals it.");
}

void task_files_judge(uint32_t sample_rows, struct task *task)
{
    if (task->status == STATUS_CORRUPT) {
        tell_damage(task);
    }
    if (task->status == STATUS_OK) {
        task->status = check(sample_rows, task);
    }
    if (task->status == STATUS_OK) {
        task->status = seal(task);
    }
    if (task->graph != NULL) {
        task->names = task->graph->names;
        task->graph->names = NULL;
    }
}

/* ---- The way home ---- */

void task_files_send_home(struct mailbox *home, void (*finished)(struct message *message),
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
