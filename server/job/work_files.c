#include "server/job/work_files.h"

#include "server/clock.h"
#include "server/solver/certificate.h"
#include "server/store/graph_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* What the steps of a row's certificate cost beside a solve's, and the part of the solve that the
 * sample may take. */
#define ROW_STEP_COST 100.0
#define SAMPLE_SHARE 0.02
/* Below lie the standard streams, even when they are closed. */
#define DESCRIPTOR_MIN 3

/* ---- Before ---- */

static enum status open_graph(const struct work_folders *folders, struct work *work)
{
    int descriptor = -1;
    if (work->graph != NULL) {
        work->vertex_count = work->graph->vertex_count;
    }
    if (work->graph != NULL && !folders->graph_files) {
        return STATUS_OK;
    }
    enum status status = graph_file_open(folders->graphs, work->graph_id, &descriptor);
    if (status == STATUS_OK && descriptor < DESCRIPTOR_MIN) {
        const int low = descriptor;
        descriptor = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
        status = descriptor < 0 ? draft_file_status(errno) : STATUS_OK;
        close(low);
    }
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "The stored graph %s cannot be read.",
                           work->graph_id);
    }
    work->graph_descriptor = descriptor;
    return STATUS_OK;
}

static enum status make_result_file(const struct work_folders *folders, struct work *work)
{
    const double began_s = clock_monotonic_s();
    const enum status status =
        result_file_create(folders->results, work->vertex_count, work->kind, &work->file);
    work->write_s += clock_monotonic_s() - began_s;
    atomic_store(&work->signal->placed, status == STATUS_OK);
    work->is_passing =
        status == STATUS_DISK_FULL || status == STATUS_NO_MEMORY || status == STATUS_IO;
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "%s the result of %u vertices.",
                           status == STATUS_DISK_FULL ? "There is no room on the disk for"
                                                      : "No file can be made for",
                           work->vertex_count);
    }
    return STATUS_OK;
}

void work_files_open(const struct work_folders *folders, struct work *work)
{
    work->status = STATUS_CANCELLED;
    if (!atomic_load(&work->signal->cancelled)) {
        work->status = open_graph(folders, work);
    }
    if (work->status == STATUS_OK) {
        work->status = make_result_file(folders, work);
    }
}

enum status work_files_read_graph(struct work *work)
{
    return work->graph != NULL ? STATUS_OK
                               : graph_file_read_open(work->graph_descriptor, &work->graph);
}

/* ---- After ---- */

bool work_files_reclaim(struct work *work)
{
    const enum status status = result_file_reclaim(work->file);
    if (status == STATUS_NOT_READY || status == STATUS_CORRUPT) {
        return false;
    }
    if (status != STATUS_OK) {
        work->is_passing = true;
        work->status =
            problem_set(&work->problem, status, "The result file cannot be opened again now.");
    }
    return true;
}

uint32_t work_files_sample(uint32_t sample_rows, uint32_t vertex_count, uint64_t edge_count)
{
    const double n = vertex_count;
    const double row_cost = (n + (double)edge_count) * ROW_STEP_COST;
    const double rows = row_cost > 0 ? n * n * n * SAMPLE_SHARE / row_cost : 0;
    if (rows >= sample_rows) {
        return sample_rows;
    }
    return sample_rows > 0 && rows < 1 ? 1 : (uint32_t)rows;
}

/* Drawn now, when the solve has ended: who solves falsely cannot spare the rows that are looked at.
 */
static enum status draw(uint32_t vertex_count, uint32_t row_count, uint32_t *ret_rows)
{
    for (uint32_t i = 0; i < row_count; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
            return STATUS_IO;
        }
        ret_rows[i] = verification_drawn_row(vertex_count, row_count, i, random);
    }
    return STATUS_OK;
}

static enum status check_rows(struct work *work, uint32_t *rows, uint32_t row_count)
{
    const struct matrix matrix = result_file_matrix(work->file);
    const struct observer observer = work_signal_observer(work->signal);
    struct verification verification;
    const enum status status =
        rows == NULL ? STATUS_NO_MEMORY : draw(matrix.vertex_count, row_count, rows);
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "The distances cannot be verified now.");
    }
    return certificate_check_rows(work->graph, &matrix, rows, row_count, &observer, &verification,
                                  &work->problem);
}

static enum status check(uint32_t sample_rows, struct work *work)
{
    const uint32_t sample =
        work_files_sample(sample_rows, work->vertex_count, work->graph->edge_count);
    const uint32_t row_count = sample < work->vertex_count ? sample : work->vertex_count;
    if (row_count == 0) {
        return STATUS_OK;
    }
    uint32_t *rows = calloc(row_count, sizeof(*rows));
    const enum status status = check_rows(work, rows, row_count);
    free(rows);
    return status;
}

static enum status seal(struct work *work)
{
    const double began_s = clock_monotonic_s();
    const enum status status = result_file_seal(work->file);
    work->write_s += clock_monotonic_s() - began_s;
    work->is_passing = status == STATUS_NO_MEMORY;
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "The result file cannot be sealed.");
    }
    return STATUS_OK;
}

/* Until here nothing but the graph's file was read. */
static void tell_damage(struct work *work)
{
    work->graph_damaged = true;
    problem_set(&work->problem, STATUS_CORRUPT,
                "The stored graph %s is damaged; what is left of its file is in quarantine.",
                work->graph_id);
    problem_hint(&work->problem, "Send the graph again: that heals it.");
}

void work_files_judge(uint32_t sample_rows, struct work *work)
{
    if (work->status == STATUS_CORRUPT) {
        tell_damage(work);
    }
    if (work->status == STATUS_OK) {
        work->status = check(sample_rows, work);
    }
    if (work->status == STATUS_OK) {
        work->status = seal(work);
    }
    if (work->graph != NULL) {
        work->names = work->graph->names;
        work->graph->names = NULL;
    }
}

/* ---- The way home ---- */

/* What a work no longer needs. */
struct leaving {
    struct graph *graph;
    struct result_file *spoilt;
};

static struct leaving leave(struct work *work)
{
    const bool spoilt = work->status != STATUS_OK;
    struct leaving leaving = {work->graph, spoilt ? work->file : NULL};
    if (work->graph_descriptor > 0) {
        close(work->graph_descriptor);
    }
    work->graph_descriptor = 0;
    work->graph = NULL;
    work->file = spoilt ? NULL : work->file;
    return leaving;
}

static void free_leaving(const struct leaving *leaving)
{
    graph_destroy(leaving->graph);
    result_file_destroy(leaving->spoilt);
}

/* Of many small ones there may be no memory to note it; it is freed first then. */
void work_files_send_home(struct mailbox *home, void (*finished)(struct message *message),
                          struct work_load *load)
{
    struct leaving alone;
    const uint32_t count = load->count;
    struct leaving *leavings = count == 1 ? &alone : calloc(count, sizeof(*leavings));
    for (uint32_t i = 0; i < count; i++) {
        struct leaving leaving = leave(&load->works[i]);
        if (leavings != NULL) {
            leavings[i] = leaving;
        } else {
            free_leaving(&leaving);
        }
    }
    load->message.deliver = finished;
    mailbox_post(home, &load->message);
    for (uint32_t i = 0; i < count && leavings != NULL; i++) {
        free_leaving(&leavings[i]);
    }
    if (leavings != &alone) {
        free(leavings);
    }
}
