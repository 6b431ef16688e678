#include "server/scheduler/coordinates.h"

#include "server/scheduler/answer.h"
#include "server/scheduler/results.h"

#include "proto/read/coordinates_reader.h"
#include "proto/read/decoder.h"
#include "proto/text.h"
#include "server/store/graph_file.h"
#include "server/store/identity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An upload of coordinates on its way to the disk threads. Owned by the loop thread; a pool thread
 * uses it while it reads and writes the coordinates. */
struct upload {
    struct pool_work work; /* must be the first member */
    struct call *call;
    char graph_id[GRAPH_ID_SIZE];
    struct coordinates_info info;
    struct draft_file file;
};

/* Checks whether If-Match allows changing the current coordinates. Compares only the start of each
 * tag, because all representations of the coordinates have the same start. */
static enum status check_condition(struct call *call, const struct graph_entry *entry)
{
    char tag[24];
    snprintf(tag, sizeof(tag), "\"%016" PRIx64 "-", entry->coordinates.tag);
    if (call->if_match[0] == '\0' ||
        (entry->coordinates.bytes > 0 && text_lists_tag(call->if_match, tag, false))) {
        return STATUS_OK;
    }
    return problem_refuse(&call->problem, STATUS_PRECONDITION_FAILED,
                          "GET the coordinates, and send If-Match with the ETag of that response.",
                          "If-Match does not match the current coordinates.");
}

/* Returns the call's graph if its coordinates may be changed; else answers and returns NULL. */
static struct graph_entry *find_changeable(struct scheduler *scheduler, struct call *call)
{
    struct graph_entry *entry = answer_find_graph(scheduler, call);
    if (entry == NULL) {
        answer_no_such(call);
    } else if (check_condition(call, entry) != STATUS_OK) {
        answer_problem(call);
        entry = NULL;
    }
    return entry;
}

/* Handles the returned commit. The entry already has the new coordinates, because the next If-Match
 * is compared with them. A failure restores the old ones, unless a later change has followed. */
static void coordinates_changed(struct commit *commit)
{
    struct graph_entry *entry = commit->entry;
    if (commit->change.status != STATUS_OK) {
        if (entry->coordinates.tag == commit->coordinates.tag) {
            graph_entry_set_coordinates(entry, &entry->stored_coordinates);
        }
        answer_not_stored(commit->call, commit->change.status);
        return;
    }
    const bool is_new = entry->stored_coordinates.bytes == 0;
    entry->stored_coordinates = commit->coordinates;
    if (commit->coordinates.bytes > 0) {
        answer_graph(commit->call, entry, is_new ? 201 : 200);
    } else {
        answer_empty(commit->call, 204);
    }
}

/* Creates a commit for the graph's coordinates. If memory runs out, answers and returns NULL. */
static struct commit *create_commit(struct scheduler *scheduler, struct graph_entry *entry,
                                    struct call *call, enum store_op_kind as)
{
    struct commit *commit;
    if (commit_create(scheduler, coordinates_changed, &commit) != STATUS_OK) {
        answer_not_stored(call, STATUS_NO_MEMORY);
        return NULL;
    }
    memcpy(store_add_op(&commit->change, as)->coordinates.graph_id, entry->row.id,
           sizeof(entry->row.id));
    commit->entry = entry;
    commit->call = call;
    return commit;
}

static void send_commit(struct commit *commit)
{
    graph_entry_set_coordinates(commit->entry, &commit->coordinates);
    commit_send(commit);
}

void coordinates_delete(struct scheduler *scheduler, struct call *call)
{
    struct graph_entry *entry = find_changeable(scheduler, call);
    if (entry == NULL) {
        return;
    }
    if (entry->coordinates.bytes == 0) {
        answer_status(call, STATUS_NO_COORDINATES, "The graph has no coordinates.");
        return;
    }
    struct commit *commit = create_commit(scheduler, entry, call, STORE_DELETE_COORDINATES);
    if (commit != NULL) {
        send_commit(commit);
    }
}

static enum status feed_reader(void *context, const char *bytes, size_t size,
                               struct problem *reterr)
{
    return coordinates_reader_feed(context, bytes, size, reterr);
}

static enum status decode_document(const struct upload *upload, struct coordinates_reader *reader,
                                   struct problem *reterr)
{
    const struct config *config = upload->work.scheduler->config;
    const struct text *document = &upload->call->coordinates.document;
    const struct decoder_rules rules = {.limit_bytes = config->decoded_limit_bytes,
                                        .ratio = config->decoded_ratio,
                                        .take = feed_reader,
                                        .context = reader};
    struct decoder *decoder = NULL;
    STATUS_TRY(decoder_create(&rules, &decoder));
    enum status status = decoder_feed(decoder, document->bytes, document->size, reterr);
    STATUS_THEN(status, decoder_end(decoder, reterr));
    decoder_destroy(decoder);
    if (status == STATUS_BAD_GRAPH || status == STATUS_TRUNCATED) {
        reterr->status = status = STATUS_BAD_COORDINATES; /* replaces the decoder's status */
    }
    return status;
}

static enum status read_document(const struct upload *upload, const struct vertex_names *names,
                                 struct coordinates **ret_coordinates, struct problem *reterr)
{
    struct coordinates_reader *reader = NULL;
    STATUS_TRY(coordinates_reader_create(names, &reader));
    enum status status = decode_document(upload, reader, reterr);
    STATUS_THEN(status, coordinates_reader_end(reader, ret_coordinates, reterr));
    coordinates_reader_destroy(reader);
    return status;
}

/* Reads the upload and writes the draft. Pool thread. */
static void read_and_write(struct pool_work *work)
{
    struct upload *upload = (struct upload *)work;
    const struct store *store = upload->work.scheduler->store;
    struct problem *problem = &upload->call->problem;
    struct coordinates *coordinates = NULL;
    struct vertex_names *names = NULL;
    enum status status =
        graph_file_read_names(store_folder(store, STORE_GRAPHS), upload->graph_id, &names);
    problem_explain(problem, status, "The stored graph cannot be read.");
    STATUS_THEN(status, read_document(upload, names, &coordinates, problem));
    if (status == STATUS_OK) {
        status = coordinates_file_write(store_folder(store, STORE_COORDINATES), upload->graph_id,
                                        coordinates, &upload->file, &upload->info);
        problem_explain(problem, status, "The coordinates cannot be written.");
    }
    coordinates_destroy(coordinates);
    vertex_names_destroy(names);
    problem->status = status;
}

/* Checks If-Match again, because the coordinates may have changed, and sends the commit. */
static enum status send_upload(struct upload *upload, struct graph_entry *entry)
{
    struct scheduler *scheduler = upload->work.scheduler;
    struct call *call = upload->call;
    STATUS_TRY(check_condition(call, entry));
    const uint64_t old_bytes = entry->coordinates.bytes;
    const uint64_t more_bytes = upload->info.bytes > old_bytes ? upload->info.bytes - old_bytes : 0;
    STATUS_TRY(tenant_check_bytes(call->tenant, &call->quota, more_bytes, &call->problem));
    struct commit *commit = create_commit(scheduler, entry, call, STORE_PUT_COORDINATES);
    if (commit == NULL) {
        return STATUS_OK; /* the call has been answered */
    }
    store_find_op(&commit->change, STORE_PUT_COORDINATES)->coordinates.file = upload->file;
    upload->file = (struct draft_file){.descriptor = -1};
    commit->coordinates = upload->info;
    send_commit(commit);
    return STATUS_OK;
}

static void upload_read(struct pool_work *work)
{
    struct upload *upload = (struct upload *)work;
    struct call *call = upload->call;
    struct graph_entry *entry =
        graph_table_find(&work->scheduler->graphs, call->tenant, upload->graph_id);
    const bool has_file = call->problem.status == STATUS_OK;
    if (entry == NULL) {
        answer_no_such(call); /* the graph was deleted during the read */
    } else if (!has_file || send_upload(upload, entry) != STATUS_OK) {
        answer_problem(call);
    }
    if (has_file) {
        draft_file_finish(&upload->file);
    }
    free(upload);
}

void coordinates_put(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = find_changeable(scheduler, call);
    if (entry == NULL) {
        return;
    }
    if (!pool_is_free(scheduler, call->tenant, POOL_STORED)) {
        answer_status(call, STATUS_QUEUE_FULL,
                      "The service is busy reading other stored graphs. Retry the request.");
        return;
    }
    struct upload *upload = calloc(1, sizeof(*upload));
    if (upload == NULL || scheduler->ledger.is_full) {
        answer_not_stored(call, upload == NULL ? STATUS_NO_MEMORY : STATUS_DISK_FULL);
        free(upload);
        return;
    }
    upload->call = call;
    memcpy(upload->graph_id, entry->row.id, sizeof(upload->graph_id));
    upload->work.run = read_and_write;
    upload->work.then = upload_read;
    pool_queue(scheduler, call->tenant, POOL_STORED, &upload->work);
}

/* Returns whether a submission's graph and a stored graph have the same vertices in the same
 * order. */
static bool has_same_names(const struct submission *submission, const char *graph_id)
{
    const int folder = store_folder(submission->scheduler->store, STORE_GRAPHS);
    unsigned char digests[2][IDENTITY_DIGEST_SIZE];
    struct vertex_names *names = NULL;
    const bool is_same = graph_file_read_names(folder, graph_id, &names) == STATUS_OK &&
                         identity_of_names(names, digests[0]) == STATUS_OK &&
                         identity_of_names(submission->graph->names, digests[1]) == STATUS_OK &&
                         memcmp(digests[0], digests[1], sizeof(digests[0])) == 0;
    vertex_names_destroy(names);
    return is_same;
}

/* Copies nothing if the coordinates are damaged or have been deleted meanwhile. */
enum status coordinates_copy(struct submission *submission)
{
    const int folder = store_folder(submission->scheduler->store, STORE_COORDINATES);
    const char *placed_id = submission->placed_id;
    struct coordinates *coordinates = NULL;
    struct coordinates_info info;
    struct draft_file file;
    if (strcmp(placed_id, submission->graph_id) == 0) {
        return STATUS_OK; /* the parent is the same graph and already has the coordinates */
    }
    enum status status = coordinates_file_read(folder, placed_id, &coordinates, &info);
    if (status == STATUS_NO_COORDINATES || status == STATUS_CORRUPT ||
        (status == STATUS_OK && !has_same_names(submission, placed_id))) {
        coordinates_destroy(coordinates);
        return STATUS_OK;
    }
    STATUS_THEN(status,
                coordinates_file_write(folder, submission->graph_id, coordinates, &file, &info));
    coordinates_destroy(coordinates);
    STATUS_TRY(problem_explain(&submission->problem, status, "The coordinates cannot be copied."));
    submission->coordinates_file = file;
    submission->coordinates = info;
    return STATUS_OK;
}
