/* Computes the weights of the arcs, supernode by supernode. The front of a supernode is the matrix
 * of its columns and rows. It collects the edges and the entries passed on by its children; then
 * its columns are eliminated, and the remaining entries between its rows are passed to its parent.
 * Threads process independent subtrees; the supernodes above them follow in order. */

#include "server/solver/hierarchy/customize.h"

#include "server/solver/host_memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Number of subtrees per thread: enough that all threads finish at about the same time. */
#define SUBTREES_PER_THREAD 16

/* Number of pivots of a front between two checks for a cancel. */
#define PIVOTS_AT_ONCE 64
/* Number of vertices whose edges one task sets. */
#define VERTICES_PER_TASK 8192
/* Free memory must be this multiple of the fronts, because children's remains need memory too. */
#define FRONT_COPIES 3
/* Number of progress reports of a customization. */
#define ROUNDS 1000

struct front {
    void *elements;
    uint32_t columns;
    uint32_t size; /* number of columns and rows */
    bool symmetric;
    struct customization *run;
    const struct hand *hand;
};

struct front_operations {
    void (*clear)(void *weights, uint64_t count);
    void (*load)(const struct front *front, const void *up, const void *down);
    void (*assemble)(const struct front *front, const void *remains, uint32_t count,
                     const uint32_t *place);
    bool (*eliminate)(const struct front *front, int32_t above);
    void (*keep)(const struct front *front, int32_t above, void *up, void *down, void *remains);
};

/* State of one thread. */
struct hand {
    void *front;
    uint32_t *place;
};

struct customization {
    struct hierarchy hierarchy;
    const struct front_operations *operations;
    const struct observer *observer;
    size_t element_bytes;
    int32_t above;  /* limit for CANONICAL of front_body.h */
    void **remains; /* per supernode: entries between its rows, until the parent has merged them */
    uint32_t *lowest;       /* per supernode: first supernode of its subtree */
    uint32_t *subtree_last; /* root of each subtree that is a task */
    uint32_t subtree_count;
    struct hand *hands;
    const struct graph *graph;
    uint32_t *supernode_of; /* supernode of each position */
    atomic_ullong pivots_done;
    uint64_t rounds_told; /* rounds of the last progress report */
    atomic_int status;
};

/* Reports progress. Returns false after a cancel or a failure. Only the calling thread, which uses
 * run->hands[0], calls the observer. pivots: pivots already eliminated in this thread's front. */
static bool goes_on(struct customization *run, const struct hand *hand, uint32_t pivots)
{
    const struct observer *observer = run->observer;
    const uint64_t n = run->hierarchy.summary.vertex_count;
    if (hand == run->hands && observer != NULL) {
        const uint64_t done = (atomic_load(&run->pivots_done) + pivots) * ROUNDS / n;
        if (done != run->rounds_told) {
            observer_tell_rounds(observer, (uint32_t)done, ROUNDS);
            run->rounds_told = done;
        }
        if (observer->cancelled(observer->context)) {
            atomic_store(&run->status, STATUS_CANCELLED);
        }
    }
    return atomic_load_explicit(&run->status, memory_order_relaxed) == STATUS_OK;
}

#define ELEMENT int32_t
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define CANONICAL(x, above) ((x) > (above) ? UNREACHABLE_I4 : (x))
#include "server/solver/hierarchy/front_body.h"

#define ELEMENT float
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define CANONICAL(x, above) (x)
#include "server/solver/hierarchy/front_body.h"

#define ELEMENT double
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define CANONICAL(x, above) (x)
#include "server/solver/hierarchy/front_body.h"

/* Finds the index of each row of the child in the parent's front. */
static void place_rows(const struct hierarchy_shape *shape, uint32_t child, uint32_t s,
                       uint32_t *ret_place)
{
    const uint32_t *row = shape->row + shape->row_begin[child];
    const uint32_t *own = shape->row + shape->row_begin[s];
    const uint32_t count = hierarchy_rows_below(shape, child);
    const uint32_t columns = hierarchy_columns(shape, s);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (row[i] < shape->first[s + 1]) {
            ret_place[i] = row[i] - shape->first[s];
        } else {
            while (own[at] != row[i]) {
                at++;
            }
            ret_place[i] = columns + at;
        }
    }
}

/* Merges the remains of all children. In a postorder, each child directly precedes the subtree of
 * the next child; the last child precedes the parent. */
static void assemble_children(struct customization *run, uint32_t s, struct hand *hand,
                              const struct front *front)
{
    const struct hierarchy_shape *shape = &run->hierarchy.shape;
    for (uint32_t end = s; end > run->lowest[s]; end = run->lowest[end - 1]) {
        const uint32_t child = end - 1;
        place_rows(shape, child, s, hand->place);
        run->operations->assemble(front, run->remains[child], hierarchy_rows_below(shape, child),
                                  hand->place);
        free(run->remains[child]);
        run->remains[child] = NULL;
    }
}

static void run_supernode(struct customization *run, uint32_t s, struct hand *hand)
{
    const struct hierarchy *hierarchy = &run->hierarchy;
    const struct hierarchy_shape *shape = &hierarchy->shape;
    const size_t offset = shape->weight_begin[s] * run->element_bytes;
    const size_t rows = hierarchy_rows_below(shape, s);
    const size_t bytes = rows * rows * run->element_bytes;
    unsigned char *up = (unsigned char *)hierarchy->up + offset;
    unsigned char *down = (unsigned char *)hierarchy->down + offset;
    const struct front front = {.elements = hand->front,
                                .columns = hierarchy_columns(shape, s),
                                .size = hierarchy_columns(shape, s) + (uint32_t)rows,
                                .symmetric = !hierarchy->summary.directed,
                                .run = run,
                                .hand = hand};
    run->operations->load(&front, up, down);
    assemble_children(run, s, hand, &front);
    if (!run->operations->eliminate(&front, run->above)) {
        atomic_store(&run->status, STATUS_NEGATIVE_CYCLE);
        return;
    }
    atomic_fetch_add_explicit(&run->pivots_done, front.columns, memory_order_relaxed);
    run->remains[s] = malloc(bytes + 1);
    if (run->remains[s] == NULL) {
        atomic_store(&run->status, STATUS_NO_MEMORY);
        return;
    }
    run->operations->keep(&front, run->above, up, down, run->remains[s]);
}

static double work_of(const struct hierarchy_shape *shape, uint32_t s)
{
    const double columns = hierarchy_columns(shape, s);
    const double size = columns + hierarchy_rows_below(shape, s);
    return columns * size * size;
}

/* Finds the largest subtrees whose work is at most a small share of the total. In a postorder, a
 * subtree ends with its root. */
static enum status find_subtrees(struct customization *run, uint32_t threads)
{
    const struct hierarchy_shape *shape = &run->hierarchy.shape;
    const uint32_t count = shape->supernode_count;
    double *work = calloc((size_t)count + 1, sizeof(*work));
    uint32_t *lowest = run->lowest;
    double total = 0;
    if (work == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t s = 0; s < count; s++) {
        lowest[s] = s;
    }
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t parent = shape->parent[s];
        work[s] += work_of(shape, s);
        total += work_of(shape, s);
        if (parent != NO_SUPERNODE) {
            work[parent] += work[s];
            lowest[parent] = lowest[s] < lowest[parent] ? lowest[s] : lowest[parent];
        }
    }
    const double most = total / (SUBTREES_PER_THREAD * threads);
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t parent = shape->parent[s];
        if (work[s] <= most && (parent == NO_SUPERNODE || work[parent] > most)) {
            run->subtree_last[run->subtree_count++] = s;
        }
    }
    free(work);
    return STATUS_OK;
}

static void run_subtree(void *context, uint32_t thread, uint64_t task)
{
    struct customization *run = context;
    struct hand *hand = &run->hands[thread];
    const uint32_t last = run->subtree_last[task];
    for (uint32_t s = run->lowest[last]; s <= last && goes_on(run, hand, 0); s++) {
        run_supernode(run, s, hand);
    }
}

static enum status run_all(struct customization *run, struct cpu_pool *pool)
{
    const uint32_t count = run->hierarchy.shape.supernode_count;
    uint32_t subtree = 0;
    cpu_pool_run(pool, run->subtree_count, run_subtree, run);
    for (uint32_t s = 0; s < count && goes_on(run, run->hands, 0); s++) {
        if (subtree < run->subtree_count && s == run->lowest[run->subtree_last[subtree]]) {
            s = run->subtree_last[subtree++];
        } else {
            run_supernode(run, s, run->hands);
        }
    }
    return (enum status)atomic_load(&run->status);
}

/* Sets the edges of a range of vertices; tasks share no slot, because each edge has its own. */
static void set_edges(void *context, uint32_t thread, uint64_t task)
{
    struct customization *run = context;
    const struct hierarchy_shape *shape = &run->hierarchy.shape;
    const struct graph *graph = run->graph;
    const uint64_t end = (task + 1) * VERTICES_PER_TASK;
    const uint32_t n = graph->vertex_count;
    (void)thread;
    for (uint32_t vertex = (uint32_t)(task * VERTICES_PER_TASK);
         vertex < n && vertex < end && atomic_load(&run->status) == STATUS_OK; vertex++) {
        const uint32_t from = shape->position_of[vertex];
        for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
            const uint32_t to = shape->position_of[graph->target[e]];
            const uint32_t low = from < to ? from : to;
            const uint64_t slot =
                hierarchy_slot(shape, run->supernode_of[low], low, from ^ to ^ low);
            if (slot == NO_SLOT) {
                atomic_store(&run->status, STATUS_NOT_VERIFIED);
                return;
            }
            kind_put_element(run->hierarchy.summary.kind,
                             from < to ? run->hierarchy.up : run->hierarchy.down, slot,
                             graph_weight(graph, e));
        }
    }
}

static uint32_t largest_front(const struct hierarchy_shape *shape, uint32_t first, uint32_t end)
{
    uint32_t largest = 1;
    for (uint32_t s = first; s < end; s++) {
        const uint32_t size = hierarchy_columns(shape, s) + hierarchy_rows_below(shape, s);
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* Allocates the fronts. Only the first thread's buffers fit fronts outside the subtrees. */
static enum status make_fronts(struct customization *run, uint32_t threads)
{
    const struct hierarchy_shape *shape = &run->hierarchy.shape;
    size_t size[] = {largest_front(shape, 0, shape->supernode_count), 1};
    for (uint32_t i = 0; i < run->subtree_count; i++) {
        const uint32_t last = run->subtree_last[i];
        const size_t of = largest_front(shape, run->lowest[last], last + 1);
        size[1] = of > size[1] ? of : size[1];
    }
    /* The remains of the children may take as much memory as the front. */
    const double entries =
        (double)size[0] * (double)size[0] + (double)size[1] * (double)size[1] * (threads - 1);
    const uint64_t available = host_memory_available();
    if (available > 0 && FRONT_COPIES * entries * (double)run->element_bytes > (double)available) {
        return STATUS_TOO_LARGE;
    }
    for (uint32_t thread = 0; thread < threads; thread++) {
        struct hand *hand = &run->hands[thread];
        const size_t own = size[thread > 0];
        hand->front = malloc(own * own * run->element_bytes);
        hand->place = malloc(own * sizeof(*hand->place));
        if (hand->front == NULL || hand->place == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

static enum status open_run(struct customization *run, uint32_t threads)
{
    const struct hierarchy_shape *shape = &run->hierarchy.shape;
    const size_t count = (size_t)shape->supernode_count + 1;
    run->remains = calloc(count, sizeof(*run->remains));
    run->lowest = malloc((2 * count + shape->vertex_count) * sizeof(*run->lowest));
    run->hands = calloc(threads, sizeof(*run->hands));
    if (run->remains == NULL || run->lowest == NULL || run->hands == NULL) {
        return STATUS_NO_MEMORY;
    }
    run->subtree_last = run->lowest + count;
    run->supernode_of = run->subtree_last + count;
    for (uint32_t s = 0; s < shape->supernode_count; s++) {
        for (uint32_t at = shape->first[s]; at < shape->first[s + 1]; at++) {
            run->supernode_of[at] = s;
        }
    }
    STATUS_TRY(find_subtrees(run, threads));
    return make_fronts(run, threads);
}

static void close_run(struct customization *run, uint32_t threads)
{
    for (uint32_t s = 0; run->remains != NULL && s < run->hierarchy.shape.supernode_count; s++) {
        free(run->remains[s]);
    }
    for (uint32_t thread = 0; run->hands != NULL && thread < threads; thread++) {
        free(run->hands[thread].front);
        free(run->hands[thread].place);
    }
    free(run->remains);
    free(run->lowest);
    free(run->hands);
}

enum status hierarchy_customize(const struct hierarchy_shape *shape, const struct graph *graph,
                                struct cpu_pool *pool, const struct hierarchy_options *options,
                                void *bytes)
{
    const uint32_t threads = cpu_pool_threads(pool);
    const uint64_t entries = shape->weight_begin[shape->supernode_count];
    const enum kind kind = options->kind;
    const bool negative = graph->summary.negative;
    const struct hierarchy_summary summary = {.vertex_count = graph->vertex_count,
                                              .kind = kind,
                                              .decimals = options->decimals,
                                              .directed = graph->directed,
                                              .negative = negative,
                                              .arc_count = shape->arc_count};
    struct customization run = {
        .operations = kind == KIND_I4   ? &operations_i4
                      : kind == KIND_F4 ? &operations_f4
                                        : &operations_f8,
        .graph = graph,
        .observer = options->observer,
        .element_bytes = kind_size(kind),
        .above = negative ? UNREACHABLE_I4_DRIFT : UNREACHABLE_I4 - 1,
    };
    hierarchy_lay_out(shape, &summary, bytes, &run.hierarchy);
    run.operations->clear(run.hierarchy.up, entries);
    if (graph->directed) {
        run.operations->clear(run.hierarchy.down, entries);
    }
    enum status status = open_run(&run, threads);
    if (status == STATUS_OK) {
        const uint64_t tasks =
            (graph->vertex_count + (uint64_t)VERTICES_PER_TASK - 1) / VERTICES_PER_TASK;
        cpu_pool_run(pool, tasks, set_edges, &run);
        status = run_all(&run, pool);
    }
    close_run(&run, threads);
    return status;
}
