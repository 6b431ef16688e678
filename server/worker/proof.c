#include "server/worker/proof.h"

#include "server/clock.h"
#include "server/solver/certificate.h"
#include "server/store/result.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

/* One step of a row's certificate costs as much as ROW_STEP_COST steps of the solve. Checking the
 * sample may take SAMPLE_SHARE of the time of the solve. */
#define ROW_STEP_COST 100.0
#define SAMPLE_SHARE 0.02
/* Maximum number of rows of a matrix that are proven without verify=true. */
#define SAMPLE_ROWS 16
/* Maximum number of rows of a hierarchy that are proven: with verify=true, and in a sample. */
#define HIERARCHY_VERIFY_ROWS 64
#define HIERARCHY_SAMPLE_ROWS 4
#define HIERARCHY_ROWS_BYTES ((size_t)256 << 20)
/* A pool of threads is used if rows x edges exceed this number, which takes one thread 10 ms. */
#define SHARED_EDGES (UINT64_C(1) << 24)

/* Returns the number of rows of a matrix to prove, from 1 to SAMPLE_ROWS: as many as cost little
 * compared to the solve. */
static uint32_t count_matrix_rows(uint32_t vertex_count, uint64_t edge_count)
{
    const double n = vertex_count;
    const double row_cost = (n + (double)edge_count) * ROW_STEP_COST;
    return (uint32_t)fmin(fmax(n * n * n * SAMPLE_SHARE / row_cost, 1), SAMPLE_ROWS);
}

/* Returns the number of rows of a hierarchy to prove. The rows, at most about 256 MiB, stay in
 * memory until they are proven. After an update of only the affected arcs one row is proven,
 * because one row already takes longer than the update. */
static uint32_t count_hierarchy_rows(bool verify, bool is_followed, size_t row_bytes)
{
    const uint32_t sample = verify        ? HIERARCHY_VERIFY_ROWS
                            : is_followed ? 1
                                          : HIERARCHY_SAMPLE_ROWS;
    const size_t most = row_bytes > 0 ? HIERARCHY_ROWS_BYTES / row_bytes + 1 : sample;
    return sample < most ? sample : (uint32_t)most;
}

/* Opens the task's hierarchy, which may share the shape of its base, and computes these rows. */
static enum status compute_rows(struct task *task, const uint32_t *rows, uint32_t row_count,
                                unsigned char *elements)
{
    const size_t row_bytes = task->vertex_count * kind_size(task->kind);
    const struct hierarchy *base = NULL;
    const struct hierarchy *hierarchy;
    struct hierarchy_search *search = NULL;
    STATUS_TRY(search_pool_create(task->file, &task->searches));
    if (task->is_followed) {
        STATUS_TRY(result_open_hierarchy(task->base, &base));
    }
    STATUS_TRY(search_pool_open(task->searches, base, &hierarchy));
    enum status status = hierarchy_search_create(hierarchy, false, &search);
    for (uint32_t first = 0; status == STATUS_OK && first < row_count; first += HIERARCHY_LANES) {
        const uint32_t left = row_count - first;
        hierarchy_rows_begin(search, rows + first, left < HIERARCHY_LANES ? left : HIERARCHY_LANES,
                             elements + first * row_bytes);
        while (!hierarchy_rows_step(search)) {
        }
    }
    hierarchy_search_destroy(search);
    return status;
}

static enum status check_computed_rows(const struct certificate_request *request, struct task *task,
                                       struct verification *ret_verification)
{
    unsigned char *elements =
        malloc(request->row_count * (size_t)task->vertex_count * kind_size(task->kind));
    enum status status = elements != NULL
                             ? compute_rows(task, request->rows, request->row_count, elements)
                             : STATUS_NO_MEMORY;
    if (status != STATUS_OK) {
        problem_set(&task->problem, status, "The distances cannot be verified at the moment.");
    } else {
        const struct matrix matrix = {task->vertex_count, task->kind, elements};
        struct certificate_request packed = *request;
        packed.matrix = &matrix;
        packed.packed = true;
        status = certificate_check(&packed, ret_verification, &task->problem);
    }
    if (status != STATUS_OK) {
        search_pool_destroy(task->searches);
        task->searches = NULL;
    }
    free(elements);
    return status;
}

/* Proves rows that are evenly spaced from a random start, so that any row may be proven. */
static enum status check_rows(uint32_t threads, struct cpu_pool **pool, struct task *task)
{
    struct observer observer = task_signal_observer(task->signal);
    const bool is_matrix = task->form != RESULT_FORM_HIERARCHY;
    const uint32_t n = task->vertex_count;
    const uint32_t sample = is_matrix ? count_matrix_rows(n, task->graph->edge_count)
                                      : count_hierarchy_rows(task->verify, task->is_followed,
                                                             n * kind_size(task->kind));
    const uint32_t row_count = sample < n ? sample : n;
    struct verification verification;
    uint32_t start;
    if (row_count == 0) {
        return STATUS_OK;
    }
    uint32_t *rows = calloc(row_count, sizeof(*rows));
    if (rows == NULL || getrandom(&start, sizeof(start), 0) != (ssize_t)sizeof(start)) {
        free(rows);
        return problem_set(&task->problem, STATUS_NO_MEMORY,
                           "The distances cannot be verified at the moment.");
    }
    for (uint32_t i = 0; i < row_count; i++) {
        rows[i] = (uint32_t)(((uint64_t)i * n + start % n) / row_count);
    }
    observer.tell = NULL; /* no progress reports in the last phase */
    threads = threads > 0 ? threads : cpu_pool_cores();
    const bool is_shared = row_count * task->graph->edge_count >= SHARED_EDGES &&
                           (*pool != NULL || cpu_pool_create(threads, pool) == STATUS_OK);
    const struct matrix matrix = result_file_matrix(task->file);
    struct solve_subject subject;
    enum status status = solve_subject_init(task->graph, task->kind, false, &subject);
    const struct certificate_request request = {.graph = subject.graph,
                                                .matrix = &matrix,
                                                .decimals = subject.scaling.decimals,
                                                .rows = rows,
                                                .row_count = row_count,
                                                .pool = is_shared ? *pool : NULL,
                                                .observer = &observer};
    STATUS_THEN(status, is_matrix ? certificate_check(&request, &verification, &task->problem)
                                  : check_computed_rows(&request, task, &verification));
    status = solve_judge(task->graph, &subject, &observer, status, &task->outcome, &task->problem);
    solve_subject_finish(&subject);
    if (status == STATUS_OK && !is_matrix && task->verify) {
        task->outcome.account.verification = verification;
    }
    free(rows);
    return status;
}

void proof_check(uint32_t threads, struct cpu_pool **pool, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    /* The file is sealed before any row is read, because sealing refuses a truncated file. */
    if (task->status == STATUS_OK) {
        const double began_s = clock_monotonic_s();
        task->status = task_check_result(task, result_file_seal(task->file));
        task->write_s += clock_monotonic_s() - began_s;
    }
    if (task->status == STATUS_OK) {
        task->status = check_rows(threads, pool, task);
    } else if (task->status == STATUS_NEGATIVE_CYCLE && task->outcome.cycle == NULL) {
        task->status = solve_confirm_cycle(task->graph, &observer, &task->outcome, &task->problem);
    }
    if (task->graph != NULL) {
        task->names = task->graph->names;
        task->graph->names = NULL;
    }
}
