#include "server/store/store.h"

#include "server/store/draft_file.h"
#include "server/store/graph_file.h"
#include "server/store/state_dir.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The limits of one batch of the publisher: small results share the sync of their names and their
 * commit, a large one goes alone. */
#define PUBLISH_LIMIT 64
#define PUBLISH_LIMIT_BYTES ((uint64_t)64 << 20)

/* Changes that wait for one of the threads, oldest first. */
struct queue {
    struct store_change *first;
    struct store_change *last;
    bool closed;
    pthread_cond_t moved; /* something came, or the queue was closed */
};

/* The lock guards the queues and result_in_hand: they are the threads' mailboxes, of whole changes.
 *
 * Everything that touches results/ passes through the publisher, in order: checksum and fsync of a
 * large result take seconds, which no acceptance should wait for. One batch at a time: the
 * publisher does not begin with the next file before the catalogue thread has committed or swept
 * away these, in one transaction. */
struct store {
    struct state_dir dir;
    struct catalogue *catalogue; /* the starting thread's, then the catalogue thread's */
    pthread_t publisher;
    pthread_t cataloguer;
    struct catalogue_damage *damage; /* found by the start */
    bool started;
    atomic_bool refusing; /* a commit or fsync failed: what is on the disk is not known any more */

    pthread_mutex_t lock;
    struct queue publishing; /* to the publisher, which hands them on to */
    struct queue ready;      /* the catalogue thread, where all others go at once */
    bool result_in_hand;     /* the publisher's latest are not carried out yet */
    pthread_cond_t settled;
};

static bool touches_results(const struct store_change *change)
{
    return change->result != NULL || change->delete_result != NULL ||
           change->delete_graph_id != NULL;
}

static void note_status(struct store *store, struct store_change *change, enum status status)
{
    change->status = status;
    if (status == STATUS_IO) {
        store->refusing = true;
    }
}

/* The names of all files that the batch made, with one sync; without it none of them is. */
static void sync_names(struct store *store, struct store_change *batch, bool of_results)
{
    bool synced = false;
    enum status status = STATUS_OK;
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        const bool names = of_results ? change->result != NULL : change->graph != NULL;
        if (!names || change->status != STATUS_OK) {
            continue;
        }
        if (!synced) {
            status = draft_file_sync_names(of_results ? store->dir.results : store->dir.graphs);
            synced = true;
        }
        note_status(store, change, status);
    }
}

static uint64_t bytes_of(const struct result *result)
{
    return result != NULL ? result_file_bytes(result_content(result)) : 0;
}

/* Whether larger ones are left. */
static bool drop_retired(struct store_change *change, uint64_t bytes_most)
{
    bool has_larger = false;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        if (bytes_of(change->retired[kind]) <= bytes_most) {
            result_unref(change->retired[kind]);
            change->retired[kind] = NULL;
        }
        has_larger |= change->retired[kind] != NULL;
    }
    return has_larger;
}

/* Phase 1, for what touches results/ on the publisher's thread. Whether some file is freed last. */
static bool publish_results(struct store *store, struct store_change *batch)
{
    bool has_large = false;
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        enum status status = STATUS_OK;
        char name[RESULT_FILE_NAME_SIZE];
        has_large |= drop_retired(change, store->started ? PUBLISH_LIMIT_BYTES : UINT64_MAX);
        if (change->delete_result != NULL && change->quarantine) {
            /* Before its row goes: after a crash between the two it is as if the file were lost. */
            result_file_name(change->delete_result->graph_id, change->delete_result->kind, name);
            (void)renameat(store->dir.results, name, store->dir.quarantine, name);
        }
        if (change->result != NULL) {
            /* Large results take seconds here: checksum and fsync. */
            result_file_name(change->result_row->graph_id, change->result_row->kind, name);
            status = store->refusing
                         ? STATUS_IO
                         : result_publish(change->result, name, &change->result_checksum);
        }
        note_status(store, change, status);
    }
    sync_names(store, batch, true);
    return has_large;
}

/* Phase 2: a change whose file cannot be made durable is left out of what follows. */
static void publish_graphs(struct store *store, struct store_change *batch)
{
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        const char *damaged_id = change->quarantine_graph_id;
        if (damaged_id != NULL) {
            /* Read again, as it may have been healed since; before later changes name files. */
            struct graph *graph = NULL;
            if (graph_file_read(store->dir.graphs, damaged_id, &graph) == STATUS_CORRUPT) {
                (void)renameat(store->dir.graphs, damaged_id, store->dir.quarantine, damaged_id);
            }
            graph_destroy(graph);
        }
        if (!touches_results(change)) {
            change->status = STATUS_OK;
        }
        if (change->graph == NULL) {
            continue;
        }
        if (change->status == STATUS_OK) {
            enum status status = change->file_status;
            if (status == STATUS_OK) {
                status = store->refusing
                             ? STATUS_IO
                             : draft_file_rename(&change->graph_file, change->graph_row->id);
            }
            note_status(store, change, status);
        }
        if (change->file_status == STATUS_OK) {
            draft_file_finish(&change->graph_file);
        }
    }
    sync_names(store, batch, false);
}

/* ---- Rows ---- */

static enum status put_rows(struct catalogue *catalogue, const struct store_change *change)
{
    enum status status = STATUS_OK;
    if (change->delete_graph_id != NULL) {
        status = catalogue_delete_graph(catalogue, change->delete_graph_id);
    }
    if (status == STATUS_OK && change->delete_result != NULL) {
        status = catalogue_delete_result(catalogue, change->delete_result->graph_id,
                                         change->delete_result->kind);
    }
    if (status == STATUS_OK && change->delete_job_id != NULL) {
        status = catalogue_delete_job(catalogue, change->delete_job_id);
    }
    if (status == STATUS_OK && change->graph_row != NULL) {
        struct graph_row row = *change->graph_row;
        if (change->graph != NULL) {
            row.file_bytes = change->graph_file_bytes;
        }
        status = catalogue_put_graph(catalogue, &row);
    }
    if (status == STATUS_OK && change->name_row != NULL) {
        status = catalogue_put_name(catalogue, change->name_row);
    }
    if (status == STATUS_OK && change->result_row != NULL) {
        struct result_row row = *change->result_row;
        if (change->result != NULL) {
            row.bytes = result_file_bytes(result_content(change->result));
            row.checksum = change->result_checksum;
        }
        status = catalogue_put_result(catalogue, &row);
    }
    if (status == STATUS_OK && change->job_row != NULL) {
        status = catalogue_put_job(catalogue, change->job_row);
    }
    return status;
}

/* The rows of all changes that are sound so far, in one transaction. */
static enum status commit_rows(struct catalogue *catalogue, const struct store_change *batch)
{
    enum status status = catalogue_begin(catalogue);
    for (const struct store_change *change = batch; change != NULL && status == STATUS_OK;
         change = change->next) {
        if (change->status == STATUS_OK) {
            status = put_rows(catalogue, change);
        }
    }
    if (status == STATUS_OK) {
        status = catalogue_commit(catalogue);
    }
    catalogue_rollback(catalogue);
    return status;
}

/* Phase 3: all rows of the batch. When the disk is full its reserve goes first: then deletions and
 * the ends of jobs still have room. */
static void write_rows(struct store *store, struct store_change *batch)
{
    enum status status = store->refusing ? STATUS_IO : commit_rows(store->catalogue, batch);
    if (status == STATUS_DISK_FULL && state_dir_drop_reserve(&store->dir)) {
        status = commit_rows(store->catalogue, batch);
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

/* ---- Sweeping ---- */

/* Phase 4: files of deleted rows, and of rows that could not be written. One that stays for a
 * failure here is an orphan, removed at the next start. */
static void sweep_files(struct store *store, const struct store_change *batch)
{
    if (store->refusing) {
        return;
    }
    for (const struct store_change *change = batch; change != NULL; change = change->next) {
        const bool written = change->status == STATUS_OK;
        /* A result whose row found no room, or no memory, keeps its file: its row is tried again.
         */
        const bool is_lost =
            !written && change->status != STATUS_DISK_FULL && change->status != STATUS_NO_MEMORY;
        if (written && change->delete_graph_id != NULL) {
            state_dir_sweep_graph(&store->dir, store->catalogue, change->delete_graph_id);
            for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
                state_dir_sweep_result(&store->dir, store->catalogue, change->delete_graph_id,
                                       kind);
            }
        }
        if (written && change->delete_result != NULL) {
            state_dir_sweep_result(&store->dir, store->catalogue, change->delete_result->graph_id,
                                   change->delete_result->kind);
        }
        if (!written && change->graph != NULL) {
            state_dir_sweep_graph(&store->dir, store->catalogue, change->graph_row->id);
        }
        if (!written && change->job_row != NULL && change->put_coordinates_id != NULL) {
            unlinkat(store->dir.coordinates, change->put_coordinates_id, 0);
        }
        if (is_lost && change->result != NULL) {
            state_dir_sweep_result(&store->dir, store->catalogue, change->result_row->graph_id,
                                   change->result_row->kind);
        }
    }
}

/* Coordinates of jobs come before their rows, so that a row which is there has them; all others in
 * phase 5. The name of the file alone decides, so that whoever looks finds the old ones or the new
 * ones; those of a graph go after its row, without which a start removes them. */
static void change_coordinates(struct store *store, struct store_change *batch, bool of_jobs)
{
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        if ((change->job_row != NULL) != of_jobs) {
            continue;
        }
        const char *deleted_id = change->delete_coordinates_id;
        enum status status = change->status;
        bool has_changed = false;
        if (status == STATUS_OK && change->put_coordinates_id != NULL) {
            status = store->refusing ? STATUS_IO
                                     : draft_file_publish(&change->coordinates_file,
                                                          change->put_coordinates_id);
            has_changed = status == STATUS_OK;
        } else if (status == STATUS_OK && deleted_id != NULL) {
            has_changed = unlinkat(store->dir.coordinates, deleted_id, 0) == 0;
            status = has_changed || errno == ENOENT ? STATUS_OK : draft_file_status(errno);
        }
        if (has_changed) {
            status = draft_file_sync_names(store->dir.coordinates);
        }
        if (change->put_coordinates_id != NULL) {
            draft_file_finish(&change->coordinates_file);
        }
        note_status(store, change, status);
        if (change->status == STATUS_OK && change->delete_graph_id != NULL) {
            unlinkat(store->dir.coordinates, change->delete_graph_id, 0);
        }
    }
}

static void carry_out(struct store *store, struct store_change *batch)
{
    bool has_results = false;
    publish_graphs(store, batch);
    change_coordinates(store, batch, true);
    write_rows(store, batch);
    sweep_files(store, batch);
    change_coordinates(store, batch, false);
    state_dir_keep_reserve(&store->dir);
    for (struct store_change *change = batch; change != NULL; change = batch) {
        batch = change->next; /* done may free the change */
        has_results |= touches_results(change);
        if (!change->is_told_last) {
            change->done(change);
        }
    }
    if (has_results) {
        /* The publisher may go on: results/ is not touched again. */
        pthread_mutex_lock(&store->lock);
        store->result_in_hand = false;
        pthread_cond_signal(&store->settled);
        pthread_mutex_unlock(&store->lock);
    }
}

/* ---- The threads and their queues ---- */

/* The lock is held. */
static void queue_push(struct queue *queue, struct store_change *change)
{
    change->next = NULL;
    if (queue->last != NULL) {
        queue->last->next = change;
    } else {
        queue->first = change;
    }
    queue->last = change;
    pthread_cond_signal(&queue->moved);
}

/* The oldest changes of a queue, of which it waits for the first; NULL once the queue is closed and
 * empty. Without limits it takes all, else up to the limits of a batch of the publisher. */
static struct store_change *take_batch(struct store *store, struct queue *queue, bool limited)
{
    struct store_change *last = NULL;
    uint64_t bytes = 0;
    pthread_mutex_lock(&store->lock);
    while (queue->first == NULL && !queue->closed) {
        pthread_cond_wait(&queue->moved, &store->lock);
    }
    struct store_change *batch = queue->first;
    for (uint32_t count = 0; queue->first != NULL; count++) {
        bytes += bytes_of(queue->first->result);
        if (limited && count > 0 && (count == PUBLISH_LIMIT || bytes > PUBLISH_LIMIT_BYTES)) {
            break;
        }
        last = queue->first;
        queue->first = last->next;
    }
    if (last != NULL) {
        last->next = NULL;
    }
    if (queue->first == NULL) {
        queue->last = NULL;
    }
    pthread_mutex_unlock(&store->lock);
    return batch;
}

static void *publish_all(void *context)
{
    struct store *store = context;
    struct store_change *batch;
    while ((batch = take_batch(store, &store->publishing, true)) != NULL) {
        struct store_change *told = NULL; /* here: all of the batch, in order */
        struct store_change **last = &told;
        const bool has_large = publish_results(store, batch);
        /* All under one lock, so that the catalogue thread takes them together. */
        pthread_mutex_lock(&store->lock);
        store->result_in_hand = true;
        for (struct store_change *change = batch; change != NULL; change = batch) {
            batch = change->next;
            change->is_told_last = has_large;
            *last = change;
            last = &change->next_told;
            queue_push(&store->ready, change);
        }
        *last = NULL;
        while (store->result_in_hand && store->started) {
            pthread_cond_wait(&store->settled, &store->lock);
        }
        pthread_mutex_unlock(&store->lock);
        for (struct store_change *change = has_large ? told : NULL; change != NULL; change = told) {
            told = change->next_told;
            (void)drop_retired(change, UINT64_MAX);
            change->done(change);
        }
    }
    return NULL;
}

static void *carry_out_all(void *context)
{
    struct store *store = context;
    struct store_change *batch;
    while ((batch = take_batch(store, &store->ready, false)) != NULL) {
        carry_out(store, batch);
    }
    return NULL;
}

void store_write_graph(const struct store *store, struct store_change *change)
{
    const struct graph_row *row = change->graph_row;
    change->file_status = graph_file_write(store->dir.graphs, row->id, change->graph,
                                           &change->graph_file, &change->graph_file_bytes);
    /* Here, as several threads do this at once, and the catalogue thread is one. */
    if (change->file_status == STATUS_OK) {
        change->file_status = draft_file_sync(&change->graph_file);
        if (change->file_status != STATUS_OK) {
            draft_file_finish(&change->graph_file);
        }
    }
}

void store_apply(struct store *store, struct store_change *change)
{
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

/* ---- Life and death ---- */

enum status store_open(const char *path, struct store **ret_store, struct problem *reterr)
{
    struct store *store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "out of memory");
    }
    const struct state_dir *folder = &store->dir;
    enum status status = state_dir_open(path, &store->dir, reterr);
    if (status != STATUS_OK) {
        free(store);
        return status;
    }
    status = catalogue_open(folder->catalogue_path, folder->store_id, &store->catalogue, reterr);
    /* SQLite makes its files but lets a failed fsync of their folder pass. */
    if (status == STATUS_OK && fsync(folder->root) != 0) {
        status =
            problem_set(reterr, STATUS_IO, "%s cannot be made durable", folder->catalogue_path);
    }
    if (status == STATUS_OK) {
        status = state_dir_repair(folder, store->catalogue, &store->damage, reterr);
    }
    if (status != STATUS_OK) {
        catalogue_close(store->catalogue);
        state_dir_close(&store->dir);
        free(store);
        return status;
    }
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->publishing.moved, NULL);
    pthread_cond_init(&store->ready.moved, NULL);
    pthread_cond_init(&store->settled, NULL);
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
    store->started = true; /* before the threads, which read it */
    if (pthread_create(&store->cataloguer, NULL, carry_out_all, store) != 0) {
        store->started = false;
        return STATUS_NO_MEMORY;
    }
    if (pthread_create(&store->publisher, NULL, publish_all, store) != 0) {
        close_queue(store, &store->ready);
        pthread_join(store->cataloguer, NULL);
        store->started = false;
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    /* The publisher first: it hands on to the other. A store that was never started carries out
     * here what waits. */
    close_queue(store, &store->publishing);
    if (store->started) {
        pthread_join(store->publisher, NULL);
    } else {
        publish_all(store);
    }
    close_queue(store, &store->ready);
    if (store->started) {
        pthread_join(store->cataloguer, NULL);
    } else {
        carry_out_all(store);
    }
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

int store_graph_folder(const struct store *store)
{
    return store->dir.graphs;
}

int store_result_folder(const struct store *store)
{
    return store->dir.results;
}

int store_order_folder(const struct store *store)
{
    return store->dir.orders;
}

int store_coordinates_folder(const struct store *store)
{
    return store->dir.coordinates;
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
