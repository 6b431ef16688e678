#include "server/store/store.h"

#include "server/store/draft_file.h"
#include "server/store/graph_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Limits of one batch of the publisher: small results share a sync; a large result is alone. */
#define PUBLISH_LIMIT 64
#define PUBLISH_LIMIT_BYTES ((uint64_t)64 << 20)

/* Changes waiting for one thread, oldest first. */
struct queue {
    struct store_change *first;
    struct store_change **end; /* the link that is NULL: first, or next of the last change */
    bool closed;
    pthread_cond_t moved; /* signals a new change or that the queue was closed */
};

/* The lock guards the queues and carried_out, the mailboxes of the two threads.
 *
 * All changes to results/ pass through the publisher, in order, because the checksum and fsync of a
 * large result take seconds, and accepting a job should not wait for them. The publisher has one
 * batch at a time: it waits until the catalogue thread has carried out the batch. */
struct store {
    struct state_dir dir;
    struct graph_cache *graph_cache;
    struct catalogue *catalogue; /* used by the starting thread, then by the catalogue thread */
    pthread_t publisher;
    pthread_t cataloguer;
    struct catalogue_damage *damage; /* found at start-up */
    bool started;
    atomic_bool refusing; /* a commit or fsync failed, so the state of the disk is unknown */
    /* Files were renamed, but their folder is not synced yet. The publisher uses the first flag,
     * the catalogue thread the second. */
    bool has_new_results;
    bool has_new_graphs;

    pthread_mutex_t lock;
    struct queue publishing; /* changes for the publisher, which passes them to `ready` */
    struct queue ready;      /* changes for the catalogue thread */
    /* The publisher's batch after the catalogue thread has carried it out; NULL before. */
    struct store_change *carried_out;
    pthread_cond_t settled;
};

struct store_op *store_add_op(struct store_change *change, enum store_op_kind kind)
{
    CHECK(change->op_count < STORE_OPS_MAX);
    struct store_op *op = &change->ops[change->op_count++];
    *op = (struct store_op){.kind = kind};
    return op;
}

struct store_op *store_find_op(struct store_change *change, enum store_op_kind kind)
{
    for (unsigned i = 0; i < change->op_count; i++) {
        if (change->ops[i].kind == kind) {
            return &change->ops[i];
        }
    }
    return NULL;
}

/* Moves the file before the result's row is deleted. After a crash between the two steps the row
 * has no file, and the result counts as lost. */
static enum status quarantine_result(struct store *store, struct store_op *op)
{
    char name[RESULT_FILE_NAME_SIZE];
    result_file_name(op->result.row.graph_id, op->result.row.kind, name);
    (void)state_dir_quarantine(&store->dir, STORE_RESULTS, name);
    return STATUS_OK;
}

static enum status publish_result(struct store *store, struct store_op *op)
{
    struct result_row *row = &op->result.row;
    char name[RESULT_FILE_NAME_SIZE];
    result_file_name(row->graph_id, row->kind, name);
    STATUS_TRY(result_publish(op->result.result, name, &row->checksum));
    store->has_new_results = true;
    row->bytes = result_file_bytes(result_content(op->result.result));
    return STATUS_OK;
}

static enum status publish_graph(struct store *store, struct store_op *op)
{
    if (op->graph.graph == NULL) {
        return STATUS_OK;
    }
    STATUS_TRY(op->graph.file_status);
    STATUS_TRY(draft_file_rename(&op->graph.file, op->graph.row.id));
    store->has_new_graphs = true;
    return STATUS_OK;
}

/* Publishes coordinates. The rename is the commit: readers find either the old or the new file. */
static enum status publish_coordinates(struct store *store, struct store_op *op)
{
    STATUS_TRY(draft_file_publish(&op->coordinates.file, op->coordinates.graph_id));
    return draft_file_sync_names(store->dir.folders[STORE_COORDINATES]);
}

static enum status delete_coordinates(struct store *store, struct store_op *op)
{
    if (unlinkat(store->dir.folders[STORE_COORDINATES], op->coordinates.graph_id, 0) != 0) {
        return errno == ENOENT ? STATUS_OK : draft_file_status(errno);
    }
    return draft_file_sync_names(store->dir.folders[STORE_COORDINATES]);
}

static void sweep_deleted_result(struct store *store, const struct store_op *op, enum status status)
{
    if (status == STATUS_OK) {
        state_dir_sweep_result(&store->dir, store->catalogue, op->result.row.graph_id,
                               op->result.row.kind);
    }
}

static void sweep_deleted_graph(struct store *store, const struct store_op *op, enum status status)
{
    if (status != STATUS_OK) {
        return;
    }
    unlinkat(store->dir.folders[STORE_COORDINATES], op->id,
             0); /* if this fails, the next start removes the file */
    state_dir_sweep_graph(&store->dir, store->catalogue, op->id);
    graph_cache_forget(store->graph_cache, op->id);
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        state_dir_sweep_result(&store->dir, store->catalogue, op->id, kind);
    }
}

static void sweep_lost_graph(struct store *store, const struct store_op *op, enum status status)
{
    if (status != STATUS_OK && op->graph.graph != NULL) {
        state_dir_sweep_graph(&store->dir, store->catalogue, op->graph.row.id);
    }
}

/* Removes the file of a result whose row could not be written. If only disk space or memory was
 * lacking, the file stays, because the row will be written again. */
static void sweep_lost_result(struct store *store, const struct store_op *op, enum status status)
{
    if (status != STATUS_OK && status != STATUS_DISK_FULL && status != STATUS_NO_MEMORY) {
        state_dir_sweep_result(&store->dir, store->catalogue, op->result.row.graph_id,
                               op->result.row.kind);
    }
}

static void sweep_lost_coordinates(struct store *store, const struct store_op *op,
                                   enum status status)
{
    if (status != STATUS_OK) {
        unlinkat(store->dir.folders[STORE_COORDINATES], op->coordinates.graph_id, 0);
    }
}

enum phase {
    PHASE_RESULTS, /* operations on results, on the publisher's thread */
    PHASE_FILES,   /* operations on files, before the rows are written */
    PHASE_AFTER    /* operations after the rows are committed */
};

enum row_change { ROW_KEPT, ROW_PUT, ROW_DELETED };

/* The steps of each kind of operation; NULL = no step. */
static const struct {
    enum phase phase;
    enum row_change row;
    enum catalogue_table table; /* table of the row; CATALOGUE_TABLES = no row */
    enum status (*step)(struct store *store, struct store_op *op);
    /* Runs between the commit and PHASE_AFTER: removes files of deleted rows, and of rows that were
     * not written. A file left after a failure is an orphan, removed at the next start. */
    void (*sweep)(struct store *store, const struct store_op *op, enum status status);
} steps[STORE_OP_KINDS] = {
    [STORE_DELETE_GRAPH] = {PHASE_RESULTS, ROW_DELETED, CATALOGUE_GRAPH, NULL, sweep_deleted_graph},
    [STORE_DELETE_RESULT] = {PHASE_RESULTS, ROW_DELETED, CATALOGUE_RESULT, NULL,
                             sweep_deleted_result},
    [STORE_QUARANTINE_RESULT] = {PHASE_RESULTS, ROW_DELETED, CATALOGUE_RESULT, quarantine_result,
                                 sweep_deleted_result},
    [STORE_DELETE_JOB] = {PHASE_FILES, ROW_DELETED, CATALOGUE_JOB, NULL, NULL},
    [STORE_PUT_GRAPH] = {PHASE_FILES, ROW_PUT, CATALOGUE_GRAPH, publish_graph, sweep_lost_graph},
    [STORE_PUT_NAME] = {PHASE_FILES, ROW_PUT, CATALOGUE_NAME, NULL, NULL},
    [STORE_PUT_RESULT] = {PHASE_RESULTS, ROW_PUT, CATALOGUE_RESULT, publish_result,
                          sweep_lost_result},
    [STORE_PUT_JOB] = {PHASE_FILES, ROW_PUT, CATALOGUE_JOB, NULL, NULL},
    [STORE_ADD_COORDINATES] = {PHASE_FILES, ROW_KEPT, CATALOGUE_TABLES, publish_coordinates,
                               sweep_lost_coordinates},
    [STORE_PUT_COORDINATES] = {PHASE_AFTER, ROW_KEPT, CATALOGUE_TABLES, publish_coordinates, NULL},
    [STORE_DELETE_COORDINATES] = {PHASE_AFTER, ROW_KEPT, CATALOGUE_TABLES, delete_coordinates,
                                  NULL},
};

static bool touches_results(const struct store_change *change)
{
    bool touches = false;
    for (unsigned i = 0; i < change->op_count; i++) {
        touches |= steps[change->ops[i].kind].phase == PHASE_RESULTS;
    }
    return touches;
}

/* Runs the steps of this phase for all changes that have not failed. */
static void run_steps(struct store *store, struct store_change *batch, enum phase phase)
{
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        for (unsigned i = 0; i < change->op_count; i++) {
            struct store_op *op = &change->ops[i];
            if (steps[op->kind].phase != phase || steps[op->kind].step == NULL ||
                change->status != STATUS_OK) {
                continue;
            }
            change->status = store->refusing ? STATUS_IO : steps[op->kind].step(store, op);
            if (change->status == STATUS_IO) {
                store->refusing = true;
            }
        }
    }
}

/* Syncs the names of all files of the batch at once. After a failure no row is written. */
static void sync_names(struct store *store, enum store_folder folder, bool *has_new)
{
    if (*has_new && draft_file_sync_names(store->dir.folders[folder]) != STATUS_OK) {
        store->refusing = true;
    }
    *has_new = false;
}

/* Writes the rows of all changes that have not failed. */
static enum status write_batch(struct catalogue *catalogue, const void *context)
{
    for (const struct store_change *change = context; change != NULL; change = change->next) {
        for (unsigned i = 0; i < change->op_count && change->status == STATUS_OK; i++) {
            const struct store_op *op = &change->ops[i];
            if (steps[op->kind].row == ROW_PUT) {
                STATUS_TRY(catalogue_put(catalogue, steps[op->kind].table, op->id));
            } else if (steps[op->kind].row == ROW_DELETED) {
                STATUS_TRY(catalogue_delete(catalogue, steps[op->kind].table, op->id));
            }
        }
    }
    return STATUS_OK;
}

/* Commits all rows of the batch. If the disk is full, deletes RESERVE and tries again, so that
 * deletions and final states of jobs can still be written. */
static void write_rows(struct store *store, struct store_change *batch)
{
    enum status status =
        store->refusing ? STATUS_IO : catalogue_transact(store->catalogue, write_batch, batch);
    if (status == STATUS_DISK_FULL && state_dir_drop_reserve(&store->dir)) {
        status = catalogue_transact(store->catalogue, write_batch, batch);
    }
    if (status == STATUS_OK) {
        return;
    }
    if (status == STATUS_IO || status == STATUS_CORRUPT) {
        store->refusing = true;
    }
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        if (change->status == STATUS_OK) {
            change->status = status;
        }
    }
}

static void sweep_files(struct store *store, const struct store_change *batch)
{
    for (const struct store_change *change = batch; change != NULL && !store->refusing;
         change = change->next) {
        for (unsigned i = 0; i < change->op_count; i++) {
            const struct store_op *op = &change->ops[i];
            if (steps[op->kind].sweep != NULL) {
                steps[op->kind].sweep(store, op, change->status);
            }
        }
    }
}

/* Closes the drafts of a change, which deletes those that were not published. */
static void finish_drafts(struct store_change *change)
{
    for (unsigned i = 0; i < change->op_count; i++) {
        struct store_op *op = &change->ops[i];
        if (op->kind == STORE_PUT_GRAPH && op->graph.graph != NULL &&
            op->graph.file_status == STATUS_OK) {
            draft_file_finish(&op->graph.file);
        } else if (op->kind == STORE_ADD_COORDINATES || op->kind == STORE_PUT_COORDINATES) {
            draft_file_finish(&op->coordinates.file);
        }
    }
}

static void carry_out(struct store *store, struct store_change *batch)
{
    struct store_change *of_publisher = NULL;
    struct store_change **last = &of_publisher;
    run_steps(store, batch, PHASE_FILES);
    sync_names(store, STORE_GRAPHS, &store->has_new_graphs);
    write_rows(store, batch);
    sweep_files(store, batch);
    run_steps(store, batch, PHASE_AFTER);
    state_dir_keep_reserve(&store->dir);
    for (struct store_change *change = batch; change != NULL; change = batch) {
        batch = change->next; /* done may free the change */
        finish_drafts(change);
        if (touches_results(change)) {
            change->next = NULL;
            *last = change;
            last = &change->next;
        } else {
            change->done(change);
        }
    }
    if (of_publisher != NULL) {
        pthread_mutex_lock(&store->lock);
        store->carried_out = of_publisher;
        pthread_cond_signal(&store->settled);
        pthread_mutex_unlock(&store->lock);
    }
}

/* Appends a change to a queue. The lock is held. */
static void queue_push(struct queue *queue, struct store_change *change)
{
    change->next = NULL;
    *queue->end = change;
    queue->end = &change->next;
    pthread_cond_signal(&queue->moved);
}

/* Waits for a change, then removes all changes of the queue or, with `limited`, the oldest ones up
 * to the limits of a publisher's batch. Returns NULL once the queue is closed and empty. */
static struct store_change *pop_batch(struct store *store, struct queue *queue, bool limited)
{
    struct store_change **end = &queue->first;
    uint64_t bytes = 0;
    pthread_mutex_lock(&store->lock);
    while (queue->first == NULL && !queue->closed) {
        pthread_cond_wait(&queue->moved, &store->lock);
    }
    struct store_change *batch = queue->first;
    for (uint32_t count = 0; *end != NULL; count++) {
        const struct store_op *put = store_find_op(*end, STORE_PUT_RESULT);
        bytes += put != NULL ? result_file_bytes(result_content(put->result.result)) : 0;
        if (limited && count > 0 && (count == PUBLISH_LIMIT || bytes > PUBLISH_LIMIT_BYTES)) {
            break;
        }
        end = &(*end)->next;
    }
    queue->first = *end;
    *end = NULL;
    queue->end = queue->first == NULL ? &queue->first : queue->end;
    pthread_mutex_unlock(&store->lock);
    return batch;
}

static void *publish_all(void *context)
{
    struct store *store = context;
    struct store_change *batch;
    while ((batch = pop_batch(store, &store->publishing, true)) != NULL) {
        run_steps(store, batch, PHASE_RESULTS);
        sync_names(store, STORE_RESULTS, &store->has_new_results);
        /* The lock covers the whole loop, so that the catalogue thread gets the whole batch. */
        pthread_mutex_lock(&store->lock);
        for (struct store_change *change = batch; change != NULL; change = batch) {
            batch = change->next;
            queue_push(&store->ready, change);
        }
        while (store->carried_out == NULL) {
            pthread_cond_wait(&store->settled, &store->lock);
        }
        batch = store->carried_out;
        store->carried_out = NULL;
        pthread_mutex_unlock(&store->lock);
        for (struct store_change *change = batch; change != NULL; change = batch) {
            batch = change->next;
            for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
                result_unref(change->retired[kind]);
                change->retired[kind] = NULL;
            }
            change->done(change);
        }
    }
    return NULL;
}

static void *carry_out_all(void *context)
{
    struct store *store = context;
    struct store_change *batch;
    while ((batch = pop_batch(store, &store->ready, false)) != NULL) {
        carry_out(store, batch);
    }
    return NULL;
}

void store_write_graph(const struct store *store, struct store_change *change)
{
    struct store_op *op = store_find_op(change, STORE_PUT_GRAPH);
    struct draft_file *file = &op->graph.file;
    enum status status = graph_file_write(store->dir.folders[STORE_GRAPHS], op->graph.row.id,
                                          op->graph.graph, file, &op->graph.row.file_bytes);
    /* Syncs here, where several threads work at once, and not in the single catalogue thread. */
    if (status == STATUS_OK) {
        status = draft_file_sync(file);
        if (status != STATUS_OK) {
            draft_file_finish(file);
        }
    }
    op->graph.file_status = status;
}

void store_apply(struct store *store, struct store_change *change)
{
    change->status = STATUS_OK;
    pthread_mutex_lock(&store->lock);
    queue_push(touches_results(change) ? &store->publishing : &store->ready, change);
    pthread_mutex_unlock(&store->lock);
}

static void close_queue(struct store *store, struct queue *queue)
{
    pthread_mutex_lock(&store->lock);
    queue->closed = true;
    pthread_cond_signal(&queue->moved);
    pthread_mutex_unlock(&store->lock);
}

static enum status open_parts(const char *path, uint64_t cache_bytes, struct store *store,
                              struct problem *reterr)
{
    struct state_dir *dir = &store->dir;
    STATUS_TRY(state_dir_open(path, dir, reterr));
    STATUS_TRY(catalogue_open(dir->catalogue_path, dir->store_id, &store->catalogue, reterr));
    /* SQLite ignores a failed fsync of the folder in which it created its files. */
    if (fsync(dir->root) != 0) {
        return problem_set(reterr, STATUS_IO, "%s cannot be synced to disk", dir->catalogue_path);
    }
    STATUS_TRY(problem_explain(reterr,
                               graph_cache_create(dir->folders[STORE_GRAPHS],
                                                  dir->folders[STORE_COORDINATES], cache_bytes,
                                                  &store->graph_cache),
                               "out of memory"));
    return state_dir_repair(dir, store->catalogue, &store->damage, reterr);
}

enum status store_open(const char *path, uint64_t cache_bytes, struct store **ret_store,
                       struct problem *reterr)
{
    struct store *store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "out of memory");
    }
    store->publishing.end = &store->publishing.first;
    store->ready.end = &store->ready.first;
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->publishing.moved, NULL);
    pthread_cond_init(&store->ready.moved, NULL);
    pthread_cond_init(&store->settled, NULL);
    const enum status status = open_parts(path, cache_bytes, store, reterr);
    if (status != STATUS_OK) {
        store_close(store);
        return status;
    }
    *ret_store = store;
    return STATUS_OK;
}

enum status store_visit(struct store *store, const struct catalogue_visitor *visitor)
{
    enum status status = catalogue_visit(store->catalogue, visitor);
    for (const struct catalogue_damage *at = store->damage;
         at != NULL && visitor->damaged != NULL && status == STATUS_OK; at = at->next) {
        status = at->what[0] != '\0' ? visitor->damaged(visitor->context, at) : STATUS_OK;
    }
    return status;
}

enum status store_start(struct store *store)
{
    if (pthread_create(&store->cataloguer, NULL, carry_out_all, store) != 0) {
        return STATUS_NO_MEMORY;
    }
    if (pthread_create(&store->publisher, NULL, publish_all, store) != 0) {
        close_queue(store, &store->ready);
        pthread_join(store->cataloguer, NULL);
        return STATUS_NO_MEMORY;
    }
    store->started = true;
    return STATUS_OK;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    if (store->started) {
        /* The publisher stops first, because it passes changes to the catalogue thread. */
        close_queue(store, &store->publishing);
        pthread_join(store->publisher, NULL);
        close_queue(store, &store->ready);
        pthread_join(store->cataloguer, NULL);
    }
    graph_cache_destroy(store->graph_cache);
    catalogue_close(store->catalogue);
    state_dir_close(&store->dir);
    state_dir_forget_damage(store->damage);
    pthread_cond_destroy(&store->settled);
    pthread_cond_destroy(&store->ready.moved);
    pthread_cond_destroy(&store->publishing.moved);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

const char *store_secret(const struct store *store)
{
    return store->dir.store_id;
}

struct graph_cache *store_graph_cache(const struct store *store)
{
    return store->graph_cache;
}

int store_folder(const struct store *store, enum store_folder folder)
{
    return store->dir.folders[folder];
}

uint64_t store_free_bytes(const struct store *store)
{
    struct statvfs info;
    return fstatvfs(store->dir.root, &info) == 0 ? (uint64_t)info.f_bavail * info.f_frsize : 0;
}

uint64_t store_disk_bytes(const struct store *store)
{
    struct statvfs info;
    return fstatvfs(store->dir.root, &info) == 0 ? (uint64_t)info.f_blocks * info.f_frsize : 0;
}
