#include "server/store/store.h"

#include "server/store/draft_file.h"
#include "server/store/graph_file.h"
#include "server/store/omission.h"
#include "server/store/state_folder.h"
#include "server/store/store_repair.h"
#include "server/store/store_rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What the publisher takes at once: small results share the sync of their names and their commit, a
 * large one goes alone. */
#define PUBLISH_LIMIT 64
#define PUBLISH_LIMIT_BYTES ((uint64_t)64 << 20)

/* Graph files that are written before the first of them is synced: the file system then carries out
 * in one go what each sync by itself would wait for. */
#define DRAFT_LIMIT 64

/* Changes that wait for one of the threads, oldest first. */
struct line {
    struct store_change *first;
    struct store_change *last;
    bool closed;
    pthread_cond_t moved; /* something came, or the line was closed */
};

/* The lock guards the lines and result_in_hand: they are the threads' mailboxes, of whole changes.
 *
 * Everything that touches results/ passes through the publisher, in order: checksum and fsync of a
 * large result take seconds, which no acceptance should wait for. One batch at a time: the
 * publisher does not begin with the next file before the catalogue thread has committed or swept
 * away these, in one transaction. */
struct store {
    struct state_folder folder;
    struct catalogue *catalogue; /* the starting thread's, then the catalogue thread's */
    pthread_t publisher;
    pthread_t cataloguer;
    bool started;
    atomic_bool refusing; /* a commit or fsync failed: what is on the disk is not known any more */

    pthread_mutex_t lock;
    struct line publishing; /* to the publisher, which hands them on to */
    struct line ready;      /* the catalogue thread, where all others go at once */
    bool result_in_hand;    /* the publisher's latest are not carried out yet */
    pthread_cond_t settled;
};

void store_result_name(const char *graph_id, enum kind kind, char ret_name[RESULT_NAME_SIZE])
{
    snprintf(ret_name, RESULT_NAME_SIZE, "%s.%s.npy", graph_id, kind_name(kind));
}

static bool touches_results(const struct store_change *change)
{
    return change->result != NULL || change->delete_result != NULL ||
           change->delete_graph_id != NULL;
}

static enum status publish_result(struct store *store, struct store_change *change)
{
    if (change->result == NULL) {
        return STATUS_OK;
    }
    if (omission_is("result-file")) {
        return STATUS_OK;
    }
    if (store->refusing) {
        return STATUS_IO;
    }
    char name[RESULT_NAME_SIZE];
    store_result_name(change->result_row->graph_id, change->result_row->kind, name);
    enum status status =
        result_file_checksum(result_matrix_file(change->result), &change->result_checksum);
    if (status == STATUS_OK) {
        status = result_publish(change->result, store->folder.results, name);
    }
    return status;
}

/* A new file of any change that is sound so far needs its name synced. */
static bool needs_names(const struct store_change *batch, bool of_results)
{
    for (const struct store_change *change = batch; change != NULL; change = change->next) {
        const bool names = of_results ? change->result != NULL : change->graph != NULL;
        if (names && change->status == STATUS_OK) {
            return true;
        }
    }
    return false;
}

/* The names of all files that the batch made, with one sync; without it none of them is. */
static void sync_names(struct store *store, struct store_change *batch, bool of_results)
{
    if (!needs_names(batch, of_results)) {
        return;
    }
    enum status status =
        draft_file_sync_names(of_results ? store->folder.results : store->folder.graphs);
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        const bool names = of_results ? change->result != NULL : change->graph != NULL;
        if (names && change->status == STATUS_OK) {
            change->status = status;
        }
    }
    if (status == STATUS_IO) {
        store->refusing = true;
    }
}

static void note_status(struct store *store, struct store_change *change, enum status status)
{
    change->status = status;
    if (status == STATUS_IO) {
        store->refusing = true;
    }
}

/* Before the row goes: at the start after a crash between the two it is as if the file were lost.
 */
static void quarantine_result(const struct store *store, const struct store_change *change)
{
    if (change->delete_result == NULL || !change->quarantine) {
        return;
    }
    char name[RESULT_NAME_SIZE];
    store_result_name(change->delete_result->graph_id, change->delete_result->kind, name);
    (void)renameat(store->folder.results, name, store->folder.quarantine, name);
}

/* Phase 1, for what touches results/ on the publisher's thread. */
static void publish(struct store *store, struct store_change *batch)
{
    for (struct store_change *change = batch; change != NULL; change = change->next) {
        quarantine_result(store, change);
        note_status(store, change, publish_result(store, change));
    }
    sync_names(store, batch, true);
}

/* Looked at again, as it may have been healed since; before files of later changes get names. */
static void quarantine_graph(const struct store *store, const struct store_change *change)
{
    const char *id = change->quarantine_graph_id;
    struct graph *graph = NULL;
    if (id == NULL) {
        return;
    }
    if (graph_file_read(store->folder.graphs, id, &graph) == STATUS_CORRUPT) {
        (void)renameat(store->folder.graphs, id, store->folder.quarantine, id);
    }
    graph_destroy(graph);
}

/* Writes the graph files of the first changes; the ones it leaves are returned. */
static struct store_change *draft_graphs(struct store *store, struct store_change *batch)
{
    struct store_change *change = batch;
    for (int drafts = 0; change != NULL && drafts < DRAFT_LIMIT; change = change->next) {
        quarantine_graph(store, change);
        if (!touches_results(change)) {
            change->status = STATUS_OK;
        }
        if (change->status == STATUS_OK && store->refusing) {
            note_status(store, change, STATUS_IO);
        } else if (change->status == STATUS_OK && change->graph != NULL) {
            note_status(store, change,
                        graph_file_draft(store->folder.graphs, change->graph_row->id, change->graph,
                                         &change->draft));
            change->graph_file_bytes = change->draft.bytes;
            drafts++;
        }
    }
    return change;
}

static void publish_graphs(struct store *store, struct store_change *batch,
                           const struct store_change *end)
{
    for (struct store_change *change = batch; change != end; change = change->next) {
        if (change->draft.begun && change->status == STATUS_OK) {
            note_status(store, change,
                        store->refusing
                            ? STATUS_IO
                            : draft_file_publish(&change->draft.file, store->folder.graphs,
                                                 change->graph_row->id));
        }
        graph_file_drop(&change->draft);
    }
}

/* Phase 2: a change whose files cannot be written is left out of what follows. */
static void write_graphs(struct store *store, struct store_change *batch)
{
    struct store_change *rest = batch;
    while (rest != NULL) {
        struct store_change *first = rest;
        rest = draft_graphs(store, first);
        publish_graphs(store, first, rest);
    }
    sync_names(store, batch, false);
}

/* What is kept back for the moment when the disk is full goes first: then deletions and the ends of
 * jobs still have room. */
static enum status commit_rows(struct store *store, const struct store_change *batch)
{
    if (omission_is("commit")) {
        return STATUS_OK;
    }
    if (store->refusing) {
        return STATUS_IO;
    }
    enum status status = store_rows_commit(store->catalogue, batch);
    if (status == STATUS_DISK_FULL && state_folder_drop_reserve(&store->folder)) {
        status = store_rows_commit(store->catalogue, batch);
    }
    return status;
}

/* Phase 3: all rows of the batch in one transaction. */
static void write_rows(struct store *store, struct store_change *batch)
{
    enum status status = commit_rows(store, batch);
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

/* A file goes only when no row names it: what a later change of the batch wrote again stays. */
static void sweep_graph(struct store *store, const char *graph_id)
{
    bool named;
    if (catalogue_has_graph(store->catalogue, graph_id, &named) == STATUS_OK && !named) {
        unlinkat(store->folder.graphs, graph_id, 0);
    }
}

static void sweep_result(struct store *store, const char *graph_id, enum kind kind)
{
    bool named;
    char name[RESULT_NAME_SIZE];
    store_result_name(graph_id, kind, name);
    if (catalogue_has_result(store->catalogue, graph_id, kind, &named) == STATUS_OK && !named) {
        unlinkat(store->folder.results, name, 0);
    }
}

/* A result whose row found no room, or no memory, keeps its file: only the row is tried again. */
static bool is_for_good(enum status status)
{
    return status != STATUS_OK && status != STATUS_DISK_FULL && status != STATUS_NO_MEMORY;
}

/* Phase 4: files of deleted rows, and of rows that could not be written. One that stays for a
 * failure here is an orphan, removed at the next start. */
static void sweep_files(struct store *store, const struct store_change *batch)
{
    if (store->refusing) {
        return;
    }
    for (const struct store_change *change = batch; change != NULL; change = change->next) {
        bool written = change->status == STATUS_OK;
        if (written && change->delete_graph_id != NULL) {
            sweep_graph(store, change->delete_graph_id);
            for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
                sweep_result(store, change->delete_graph_id, kind);
            }
        }
        if (written && change->delete_result != NULL) {
            sweep_result(store, change->delete_result->graph_id, change->delete_result->kind);
        }
        if (!written && change->graph != NULL) {
            sweep_graph(store, change->graph_row->id);
        }
        if (is_for_good(change->status) && change->result != NULL) {
            sweep_result(store, change->result_row->graph_id, change->result_row->kind);
        }
    }
}

/* done may free the change, so its successor is read before. */
static void report(struct store_change *batch)
{
    while (batch != NULL) {
        struct store_change *change = batch;
        batch = change->next;
        change->done(change);
    }
}

/* The publisher may go on: the batch holds its latest changes, and results/ is not touched again.
 */
static void settle(struct store *store, const struct store_change *batch)
{
    bool settled = false;
    for (const struct store_change *change = batch; change != NULL; change = change->next) {
        settled |= touches_results(change);
    }
    if (settled) {
        pthread_mutex_lock(&store->lock);
        store->result_in_hand = false;
        pthread_cond_signal(&store->settled);
        pthread_mutex_unlock(&store->lock);
    }
}

static void carry_out(struct store *store, struct store_change *batch)
{
    if (!omission_is("graph-file")) {
        write_graphs(store, batch);
    }
    write_rows(store, batch);
    sweep_files(store, batch);
    state_folder_keep_reserve(&store->folder);
    settle(store, batch);
    report(batch);
}

/* ---- The threads and their lines ---- */

/* The lock is held. */
static void push(struct line *line, struct store_change *change)
{
    change->next = NULL;
    if (line->last != NULL) {
        line->last->next = change;
    } else {
        line->first = change;
    }
    line->last = change;
    pthread_cond_signal(&line->moved);
}

/* The lock is held. Blocks until there is something or the line is closed. */
static void wait_for_line(struct store *store, struct line *line)
{
    while (line->first == NULL && !line->closed) {
        pthread_cond_wait(&line->moved, &store->lock);
    }
}

/* All that waits for the catalogue thread; NULL once the line is closed and empty. */
static struct store_change *take_ready(struct store *store)
{
    struct line *line = &store->ready;
    pthread_mutex_lock(&store->lock);
    wait_for_line(store, line);
    struct store_change *batch = line->first;
    line->first = NULL;
    line->last = NULL;
    pthread_mutex_unlock(&store->lock);
    return batch;
}

static uint64_t bytes_to_publish(const struct store_change *change)
{
    return change->result == NULL ? 0 : result_file_bytes(result_matrix_file(change->result));
}

/* The last of those changes, from the first of the line on, that the publisher takes at once. The
 * lock is held; the line is not empty. */
static struct store_change *last_to_publish(const struct line *line)
{
    struct store_change *last = line->first;
    uint64_t bytes = bytes_to_publish(last);
    for (uint32_t count = 1; last->next != NULL && count < PUBLISH_LIMIT; ++count) {
        bytes += bytes_to_publish(last->next);
        if (bytes > PUBLISH_LIMIT_BYTES) {
            break;
        }
        last = last->next;
    }
    return last;
}

/* The oldest changes for the publisher; NULL once the line is closed and empty. */
static struct store_change *take_publishing(struct store *store)
{
    struct line *line = &store->publishing;
    pthread_mutex_lock(&store->lock);
    wait_for_line(store, line);
    struct store_change *batch = line->first;
    if (batch != NULL) {
        struct store_change *last = last_to_publish(line);
        line->first = last->next;
        line->last = line->first != NULL ? line->last : NULL;
        last->next = NULL;
    }
    pthread_mutex_unlock(&store->lock);
    return batch;
}

/* All under one lock, so that the catalogue thread takes them together. */
static void hand_on(struct store *store, struct store_change *batch)
{
    pthread_mutex_lock(&store->lock);
    store->result_in_hand = true;
    while (batch != NULL) {
        struct store_change *change = batch;
        batch = change->next;
        push(&store->ready, change);
    }
    while (store->result_in_hand && store->started) {
        pthread_cond_wait(&store->settled, &store->lock);
    }
    pthread_mutex_unlock(&store->lock);
}

static void *publish_all(void *context)
{
    struct store *store = context;
    struct store_change *batch;
    while ((batch = take_publishing(store)) != NULL) {
        publish(store, batch);
        hand_on(store, batch);
    }
    return NULL;
}

static void *carry_out_all(void *context)
{
    struct store *store = context;
    struct store_change *batch;
    while ((batch = take_ready(store)) != NULL) {
        carry_out(store, batch);
    }
    return NULL;
}

void store_apply(struct store *store, struct store_change *change)
{
    pthread_mutex_lock(&store->lock);
    push(touches_results(change) ? &store->publishing : &store->ready, change);
    pthread_mutex_unlock(&store->lock);
}

static void close_line(struct store *store, struct line *line)
{
    pthread_mutex_lock(&store->lock);
    line->closed = true;
    pthread_cond_signal(&line->moved);
    pthread_mutex_unlock(&store->lock);
}

/* ---- Life and death ---- */

/* SQLite makes its files but lets a failed fsync of their folder pass. */
static enum status open_catalogue(struct store *store, struct problem *reterr)
{
    const struct state_folder *folder = &store->folder;
    enum status status =
        catalogue_open(folder->catalogue_path, folder->store_id, &store->catalogue, reterr);
    if (status == STATUS_OK && !omission_is("root-sync") && fsync(folder->root) != 0) {
        status =
            problem_set(reterr, STATUS_IO, "%s cannot be made durable", folder->catalogue_path);
    }
    return status;
}

static enum status open_parts(struct store *store, const char *path, struct problem *reterr)
{
    enum status status = state_folder_open(path, &store->folder, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    status = open_catalogue(store, reterr);
    if (status == STATUS_OK) {
        status = store_repair(&store->folder, store->catalogue, reterr);
    }
    if (status != STATUS_OK) {
        catalogue_close(store->catalogue);
        state_folder_close(&store->folder);
    }
    return status;
}

enum status store_open(const char *path, struct store **ret_store, struct problem *reterr)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = open_parts(store, path, reterr);
    if (status != STATUS_OK) {
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
    return catalogue_visit(store->catalogue, visitor);
}

enum status store_start(struct store *store)
{
    store->started = true; /* before the threads, which read it */
    if (pthread_create(&store->cataloguer, NULL, carry_out_all, store) != 0) {
        store->started = false;
        return STATUS_NO_MEMORY;
    }
    if (pthread_create(&store->publisher, NULL, publish_all, store) != 0) {
        close_line(store, &store->ready);
        pthread_join(store->cataloguer, NULL);
        store->started = false;
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

/* The publisher first: it hands on to the other. A store that was never started carries out here
 * what waits. */
static void end_threads(struct store *store)
{
    close_line(store, &store->publishing);
    if (store->started) {
        pthread_join(store->publisher, NULL);
    } else {
        publish_all(store);
    }
    close_line(store, &store->ready);
    if (store->started) {
        pthread_join(store->cataloguer, NULL);
    } else {
        carry_out_all(store);
    }
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    end_threads(store);
    catalogue_close(store->catalogue);
    state_folder_close(&store->folder);
    pthread_cond_destroy(&store->settled);
    pthread_cond_destroy(&store->ready.moved);
    pthread_cond_destroy(&store->publishing.moved);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

const char *store_secret(const struct store *store)
{
    return store->folder.store_id;
}

int store_graph_folder(const struct store *store)
{
    return store->folder.graphs;
}

int store_result_folder(const struct store *store)
{
    return store->folder.results;
}

/* Of the file system; zeroed when it does not say. */
static struct statvfs file_system(const struct store *store)
{
    struct statvfs info;
    return fstatvfs(store->folder.root, &info) == 0 ? info : (struct statvfs){0};
}

uint64_t store_free_bytes(const struct store *store)
{
    const struct statvfs info = file_system(store);
    return (uint64_t)info.f_bavail * info.f_frsize;
}

uint64_t store_disk_bytes(const struct store *store)
{
    const struct statvfs info = file_system(store);
    return (uint64_t)info.f_blocks * info.f_frsize;
}
