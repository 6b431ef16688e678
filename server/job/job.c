#include "server/job/job.h"

#include "proto/check.h"
#include "server/job/tenant.h"
#include "server/store/identity.h"

#include <math.h>
#include <string.h>

enum status job_create(const char *graph_id, enum kind kind, double wall_s, struct job **ret_job)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = identity_new("j_", wall_s, job->id);
    if (status != STATUS_OK) {
        free(job);
        return status;
    }
    memcpy(job->graph_id, graph_id, strnlen(graph_id, GRAPH_ID_SIZE - 1));
    job->kind = kind;
    job->created_s = wall_s;
    job->signal = &job->own_signal;
    *ret_job = job;
    return STATUS_OK;
}

enum status job_restore(const struct job_row *row, struct job **ret_job)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (row->report != NULL) {
        enum status status = job_report_decode(row->report, &job->report);
        if (status != STATUS_OK) {
            free(job);
            return status;
        }
    }
    job->signal = &job->own_signal;
    memcpy(job->id, row->id, sizeof(job->id));
    memcpy(job->graph_id, row->graph_id, sizeof(job->graph_id));
    memcpy(job->idempotency_key, row->idempotency_key, sizeof(job->idempotency_key));
    memcpy(job->fingerprint, row->fingerprint, sizeof(job->fingerprint));
    job->state = row->state;
    job->kind = row->kind;
    job->priority = row->priority;
    job->verify = row->verify;
    job->deadline_s = row->deadline_s;
    job->created_s = row->created_s;
    job->started_s = row->started_s;
    job->finished_s = row->finished_s;
    job->accepted = true;
    job->committed = job_state_is_final(row->state);
    *ret_job = job;
    return STATUS_OK;
}

void job_destroy(struct job *job)
{
    if (job == NULL) {
        return;
    }
    CHECK(job->waiters == NULL && job->acceptors == NULL);
    graph_destroy(job->graph);
    job_report_finish(&job->report);
    free(job);
}

void job_fill_row(const struct job *job, const char *report, struct job_row *ret_row)
{
    *ret_row = (struct job_row){
        .state = job->state,
        .kind = job->kind,
        .priority = job->priority,
        .verify = job->verify,
        .deadline_s = job->deadline_s,
        .created_s = job->created_s,
        .started_s = job->started_s,
        .finished_s = job->finished_s,
        .report = report,
    };
    if (job->tenant != NULL) {
        memcpy(ret_row->tenant, job->tenant->name, sizeof(ret_row->tenant));
    }
    memcpy(ret_row->id, job->id, sizeof(job->id));
    memcpy(ret_row->graph_id, job->graph_id, sizeof(job->graph_id));
    memcpy(ret_row->idempotency_key, job->idempotency_key, sizeof(job->idempotency_key));
    memcpy(ret_row->fingerprint, job->fingerprint, sizeof(job->fingerprint));
}

/* What the rounds are of the whole. */
static double rounds_share(const struct work_signal *signal)
{
    const double expected_s = atomic_load(&signal->expected_s);
    const double share = 1 - atomic_load(&signal->finish_s) / expected_s;
    return expected_s > 0 && share >= 0 && share <= 1 ? share : 1;
}

double job_progress(const struct job *job)
{
    if (job->state == JOB_DONE) {
        return 1;
    }
    unsigned total = atomic_load(&job->signal->rounds_total);
    unsigned done = atomic_load(&job->signal->rounds_done);
    if (job->state == JOB_QUEUED || total == 0) {
        return 0;
    }
    return rounds_share(job->signal) * (done < total ? (double)done / (double)total : 1);
}

/* And no more than a number in a document can be, whatever the solver's process said. */
static double at_least_0(double seconds)
{
    return seconds > 0 && isfinite(seconds) ? seconds : 0;
}

/* Before the rounds tell. */
static double expect_s(const struct work_signal *signal, double monotonic_s)
{
    double begun_at_s = atomic_load(&signal->begun_at_s);
    double expected_s = atomic_load(&signal->expected_s);
    if (begun_at_s <= 0 || expected_s <= 0) {
        return -1;
    }
    return at_least_0(expected_s - (monotonic_s - begun_at_s));
}

double job_eta_s(const struct job *job, double monotonic_s)
{
    const struct work_signal *signal = job->signal;
    unsigned total = atomic_load(&signal->rounds_total);
    unsigned done = atomic_load(&signal->rounds_done);
    unsigned first = atomic_load(&signal->first_round);
    if (job->state != JOB_RUNNING) {
        return -1;
    }
    if (done > total || (done <= first && (total == 0 || done < total))) {
        return expect_s(signal, monotonic_s);
    }
    double round_at_s = atomic_load(&signal->round_at_s);
    double passed_s = round_at_s - atomic_load(&signal->first_round_at_s);
    double rounds_s = done > first ? passed_s * (total - done) / (done - first) : 0;
    return at_least_0(rounds_s + atomic_load(&signal->finish_s) - (monotonic_s - round_at_s));
}

void job_trace_id_of(const char *traceparent, char ret_id[TRACE_ID_SIZE])
{
    /* Behind the version and its dash. */
    const char *id = traceparent[0] != '\0' ? traceparent + 3 : "";
    memset(ret_id, 0, TRACE_ID_SIZE);
    memcpy(ret_id, id, strnlen(id, TRACE_ID_SIZE - 1));
}

void job_trace_id(const struct job *job, char ret_id[TRACE_ID_SIZE])
{
    job_trace_id_of(job->report.traceparent, ret_id);
}

double job_expected_s(const struct job *job, const double pace_s[KIND_COUNT])
{
    double n = job->vertex_count;
    return n * n * n * pace_s[job->kind];
}

size_t job_graph_bytes(const struct job *job)
{
    const struct graph *graph = job->graph;
    if (graph == NULL) {
        return 0;
    }
    size_t weight_bytes =
        graph->weight_type == WEIGHT_REAL ? sizeof(*graph->weight_f8) : sizeof(*graph->weight_i4);
    return graph->edge_count * (sizeof(*graph->target) + weight_bytes) +
           ((size_t)graph->vertex_count + 1) * sizeof(*graph->row_offset);
}
