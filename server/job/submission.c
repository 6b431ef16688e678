#include "server/job/submission.h"

#include "proto/check.h"
#include "server/job/desk_internal.h"

#include <stdlib.h>
#include <string.h>

struct submission *submission_begin(struct desk *desk, struct ask *ask)
{
    struct submission *submission = calloc(1, sizeof(*submission));
    if (submission == NULL) {
        desk_answer_status(ask, STATUS_NO_MEMORY, "There is not enough memory for the request.");
        return NULL;
    }
    submission->desk = desk;
    submission->ask = ask;
    submission->tenant = ask->tenant;
    desk->submissions++;
    return submission;
}

static void drop_draft(uv_work_t *request)
{
    struct submission *submission = request->data;
    graph_file_drop(&submission->draft);
}

static void draft_dropped(uv_work_t *request, int error)
{
    CHECK(error == 0); /* nothing cancels it */
    submission_end(request->data);
}

void submission_end(struct submission *submission)
{
    struct desk *desk = submission->desk;
    /* What was written for nothing: the loop does not wait for the disk. */
    if (submission->draft.begun) {
        CHECK(uv_queue_work(desk->loop, &submission->request, drop_draft, draft_dropped) == 0);
        return;
    }
    if (submission->reserved) {
        desk->reserved--;
        atomic_fetch_sub(&submission->tenant->reserved, 1);
    }
    desk->submissions--;
    upload_share_give_back(&submission->share);
    reader_destroy(submission->reader);
    graph_stream_drop(submission->stream);
    graph_destroy(submission->graph);
    free(submission);
    desk_count(desk);
    desk_drain_check(desk);
}

/* Answers with the problem and ends. */
void submission_refuse(struct submission *submission, const struct problem *problem)
{
    desk_answer_problem(submission->ask, problem);
    submission_end(submission);
}

void submission_refuse_for_memory(struct submission *submission)
{
    problem_set(&submission->problem, STATUS_NO_MEMORY,
                "There is not enough memory for the request.");
    submission_refuse(submission, &submission->problem);
}

static enum status find_place(struct submission *submission)
{
    const struct desk *desk = submission->desk;
    const uint32_t limit = desk->config->queue_limit;
    if (desk->queue.count + desk->reserved >= limit) {
        problem_set(&submission->problem, STATUS_QUEUE_FULL, "The queue is full.");
        problem_limit(&submission->problem, limit, limit);
        return STATUS_QUEUE_FULL;
    }
    return tenant_check_jobs(submission->tenant, &submission->ask->quota, &submission->problem);
}

enum status submission_reserve(struct submission *submission)
{
    struct desk *desk = submission->desk;
    if (submission->reserved) {
        return STATUS_OK;
    }
    enum status status = find_place(submission);
    if (status == STATUS_OK) {
        submission->reserved = true;
        desk->reserved++;
        atomic_fetch_add(&submission->tenant->reserved, 1);
        desk_count(desk);
    }
    return status;
}

/* FNV-1a, 64 bits: tells a repeated request from another one under the same key. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

void submission_print_fingerprint(const struct submission *submission, char *text, size_t size)
{
    const struct job_parameters *parameters = &submission->ask->parameters;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = hash_bytes(hash, submission->graph_id, strlen(submission->graph_id));
    hash = hash_bytes(hash, &parameters->kind, sizeof(parameters->kind));
    hash = hash_bytes(hash, &parameters->priority, sizeof(parameters->priority));
    hash = hash_bytes(hash, &parameters->deadline_s, sizeof(parameters->deadline_s));
    hash = hash_bytes(hash, &parameters->verify, sizeof(parameters->verify));
    hash = hash_bytes(hash, parameters->name, strlen(parameters->name));
    snprintf(text, size, "%016llx", (unsigned long long)hash);
}
