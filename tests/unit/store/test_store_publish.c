/* Tests that the store syncs a folder once for all files of a batch, but never skips a sync that a
 * file needs. */
#include "server/store/store.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <stdatomic.h>

/* More files than the store handles at once. */
#define FILES 150

static atomic_uint folder_syncs;
static atomic_bool folder_fails;

/* Replaces fsync of the C library for the store and for SQLite, and counts the syncs of folders. */
int fsync(int descriptor)
{
    struct stat info;
    if (fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
        atomic_fetch_add(&folder_syncs, 1);
        if (atomic_load(&folder_fails)) {
            errno = EIO;
            return -1;
        }
    }
    return 0;
}

struct delivery {
    struct store_change change;
    struct graph *graph;
    struct result *result;
};

static void note_nothing(struct store_change *change)
{
    (void)change;
}

static void give(struct store *store, struct delivery *delivery)
{
    delivery->change.done = note_nothing;
    store_apply(store, &delivery->change);
}

static void give_graph(struct store *store, struct delivery *delivery, int number)
{
    *delivery = (struct delivery){.graph = fixture_path_graph(4, WEIGHT_INTEGER, number)};
    struct store_op *op = store_add_op(&delivery->change, STORE_PUT_GRAPH);
    op->graph.row = (struct graph_row){.vertex_count = 4, .created_s = 1};
    snprintf(op->graph.row.id, sizeof op->graph.row.id, "g_%d", number);
    op->graph.graph = delivery->graph;
    store_write_graph(store, &delivery->change);
    give(store, delivery);
}

static void make_result(struct store *store, struct delivery *delivery, enum store_op_kind kind,
                        int number, uint32_t vertex_count)
{
    *delivery = (struct delivery){0};
    struct store_op *op = store_add_op(&delivery->change, kind);
    struct result_row *row = &op->result.row;
    *row = (struct result_row){.kind = KIND_I4, .created_s = 1};
    snprintf(row->graph_id, sizeof row->graph_id, "g_%d", number);
    snprintf(row->etag, sizeof row->etag, "e%d", number);
    delivery->result = fixture_make_result(store, row->graph_id, row->etag, vertex_count);
    op->result.result = kind == STORE_PUT_RESULT ? delivery->result : NULL;
}

static void give_result(struct store *store, struct delivery *delivery, int number)
{
    make_result(store, delivery, STORE_PUT_RESULT, number, 4);
    give(store, delivery);
}

static void expect_all(struct delivery *deliveries, enum status status)
{
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(deliveries[i].change.status, status);
        graph_destroy(deliveries[i].graph);
        if (deliveries[i].result != NULL) {
            result_unref(deliveries[i].result);
        }
    }
}

static void carry_out(struct store *store)
{
    atomic_store(&folder_syncs, 0);
    assert_int_equal(store_start(store), STATUS_OK);
    store_close(store);
}

FIXTURE_TEST(waiting_graphs_share_one_folder_sync)
{
    struct delivery deliveries[FILES];
    struct store *store = fixture_open_store(fixture);
    for (int i = 0; i < FILES; i++) {
        give_graph(store, &deliveries[i], i);
    }
    carry_out(store);
    expect_all(deliveries, STATUS_OK);
    assert_int_equal(folder_syncs, 1);
    assert_int_equal(fixture_count_files(fixture, "state/graphs"), FILES);
}

FIXTURE_TEST(waiting_results_share_one_folder_sync)
{
    struct delivery deliveries[FILES];
    struct store *store = fixture_open_store(fixture);
    for (int i = 0; i < FILES; i++) {
        give_result(store, &deliveries[i], i);
    }
    carry_out(store);
    expect_all(deliveries, STATUS_OK);
    assert_in_range(folder_syncs, 1, FILES / 50);
    assert_int_equal(fixture_count_files(fixture, "state/results"), FILES);
}

FIXTURE_TEST(a_failed_folder_sync_fails_the_whole_batch)
{
    struct delivery graphs[FILES];
    struct delivery results[FILES];
    struct store *store = fixture_open_store(fixture);
    for (int i = 0; i < FILES; i++) {
        give_graph(store, &graphs[i], i);
        give_result(store, &results[i], i);
    }
    atomic_store(&folder_fails, true);
    carry_out(store);
    atomic_store(&folder_fails, false);
    expect_all(graphs, STATUS_IO);
    expect_all(results, STATUS_IO);
}

#define EVICTED 5
static struct store_change *told[EVICTED];
static atomic_uint told_count;

static void note_order(struct store_change *change)
{
    told[atomic_fetch_add(&told_count, 1)] = change;
}

/* Two of the results are larger, so freeing them takes longer, but all changes must be reported in
 * order. */
FIXTURE_TEST(evictions_of_one_batch_are_reported_in_order)
{
    struct delivery deliveries[EVICTED];
    struct store *store = fixture_open_store(fixture);
    for (int i = 0; i < EVICTED; i++) {
        make_result(store, &deliveries[i], STORE_DELETE_RESULT, i, i == 1 || i == 2 ? 4200 : 4);
        deliveries[i].change.retired[KIND_I4] = deliveries[i].result;
        deliveries[i].change.done = note_order;
        store_apply(store, &deliveries[i].change);
    }
    carry_out(store);
    for (int i = 0; i < EVICTED; i++) {
        assert_ptr_equal(told[i], &deliveries[i].change);
        assert_int_equal(told[i]->status, STATUS_OK);
        assert_null(told[i]->retired[KIND_I4]);
    }
}

/* If a file cannot be written, only its change fails, and other changes of the batch are stored. */
FIXTURE_TEST(a_change_without_its_file_does_not_block_the_batch)
{
    struct delivery deliveries[2];
    struct store *store = fixture_open_store(fixture);
    give_graph(store, &deliveries[0], 0);
    draft_file_finish(&deliveries[0].change.ops[0].graph.file);
    deliveries[0].change.ops[0].graph.file_status = STATUS_DISK_FULL;
    give_graph(store, &deliveries[1], 1);
    carry_out(store);
    assert_int_equal(deliveries[0].change.status, STATUS_DISK_FULL);
    assert_int_equal(deliveries[1].change.status, STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "state/graphs"), 1);
    graph_destroy(deliveries[0].graph);
    graph_destroy(deliveries[1].graph);
}
