#include "server/job/desk_internal.h"

#include <math.h>

/* A full disk tells nobody when it has room again. */
#define LOOK_MS 1000
/* With less than this free the catalogue itself could not go on. */
#define LEAST_FREE_BYTES (UINT64_C(1) << 20)

static uint64_t bytes_of_result(uint32_t vertex_count, enum kind kind)
{
    size_t bytes;
    return result_file_size(vertex_count, kind, &bytes) == STATUS_OK ? bytes : UINT64_MAX / 4;
}

/* ---- Promises ---- */

void desk_room_promise(struct desk *desk, struct job *job, uint32_t vertex_count)
{
    desk_room_release(desk, job);
    job->promised_bytes = bytes_of_result(vertex_count, job->kind);
    desk->promised_bytes += job->promised_bytes;
    if (job->promised_bytes > desk->promised_most) {
        desk->promised_most = job->promised_bytes;
    }
}

void desk_room_release(struct desk *desk, struct job *job)
{
    desk->promised_bytes -= job->promised_bytes;
    job->promised_bytes = 0;
    if (desk->promised_bytes == 0) {
        desk->promised_most = 0;
    }
}

/* What running jobs have taken already is no longer free, and no longer to come. begun: of all that
 * run, as if each had its file. */
static uint64_t taken_bytes(const struct desk *desk, bool begun)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < desk->worker_count; i++) {
        const struct desk_worker *seat = desk->workers[i];
        for (uint32_t j = 0; j < seat->load.count; j++) {
            const struct job *job = seat->jobs[j];
            if (job != NULL && (begun || atomic_load(&job->signal->placed))) {
                bytes += job->promised_bytes;
            }
        }
    }
    return bytes;
}

/* Of what was promised, what will be taken at once at most: under a budget older results make room
 * as newer ones come. */
static uint64_t bytes_to_come(const struct desk *desk, bool begun)
{
    const uint64_t budget_bytes = desk->config->result_budget_bytes;
    const uint64_t promised = desk->promised_bytes - taken_bytes(desk, begun);
    if (budget_bytes == 0) {
        return promised;
    }
    const uint64_t left = budget_bytes > desk->result_bytes ? budget_bytes - desk->result_bytes : 0;
    const uint64_t most = left + desk->promised_most;
    return promised < most ? promised : most;
}

/* For what is not promised yet. */
static uint64_t room_bytes(const struct desk *desk)
{
    const uint64_t free_bytes = store_free_bytes(desk->store);
    const uint64_t kept = desk->config->disk_reserve_bytes + bytes_to_come(desk, false) +
                          graph_stream_bytes_to_come();
    return free_bytes > kept ? free_bytes - kept : 0;
}

/* By this the header line of an upload is judged, some time later: what fails here has to fail at
 * the desk too, which looks again. */
void desk_room_count(struct desk *desk)
{
    atomic_store(&desk->admission.promised_bytes,
                 desk->config->disk_reserve_bytes + bytes_to_come(desk, true));
    atomic_store(&desk->admission.kept_bytes,
                 desk->config->disk_reserve_bytes + bytes_to_come(desk, false));
}

enum status desk_room_check(struct desk *desk, uint32_t vertex_count, enum kind kind,
                            uint64_t graph_bytes, struct problem *reterr)
{
    const uint64_t room = room_bytes(desk);
    const uint64_t bytes = bytes_of_result(vertex_count, kind) + graph_bytes;
    if (!desk->full && bytes <= room) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_DISK_FULL,
                "There is no room on the disk for the result of %u vertices; nothing was kept.",
                vertex_count);
    problem_limit(reterr, (double)room, (double)bytes);
    problem_hint(reterr, "Delete graphs, or ask again when there is room.");
    return STATUS_DISK_FULL;
}

/* ---- A full disk ---- */

void desk_room_pause(struct desk *desk)
{
    if (!desk->paused && !desk->drained_told) {
        desk->paused = true;
        uv_timer_start(&desk->room_tick, desk_room_ticked, LOOK_MS, LOOK_MS);
    }
}

void desk_room_note_full(struct desk *desk)
{
    if (!desk->full) {
        desk->full = true;
        atomic_store(&desk->admission.full, true);
        log_write(LOG_ERROR, "disk_full",
                  LOG_NUMBER("free_bytes", (double)store_free_bytes(desk->store)));
    }
    desk_room_pause(desk);
}

/* The next job must find its room, or it would come back at once. */
static bool has_room(const struct desk *desk)
{
    const uint64_t free_bytes = store_free_bytes(desk->store);
    const uint64_t least = desk->config->disk_reserve_bytes > LEAST_FREE_BYTES
                               ? desk->config->disk_reserve_bytes
                               : LEAST_FREE_BYTES;
    const struct job *first = job_queue_first(&desk->queue);
    return free_bytes >= least && (first == NULL || first->promised_bytes <= free_bytes);
}

static void leave_full(struct desk *desk)
{
    desk->full = false;
    atomic_store(&desk->admission.full, false);
    log_write(LOG_INFO, "disk_has_room",
              LOG_NUMBER("free_bytes", (double)store_free_bytes(desk->store)));
}

void desk_room_ticked(uv_timer_t *tick)
{
    struct desk *desk = tick->data;
    if (desk->full && !has_room(desk)) {
        return;
    }
    if (desk->full) {
        leave_full(desk);
    }
    uv_timer_stop(tick);
    desk->paused = false;
    desk_finish_store_ends(desk);
    desk_dispatch(desk);
}
