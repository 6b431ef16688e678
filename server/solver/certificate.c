/* Floats: a distance is a sum of at most h rounded weights, every partial sum at most the sum of
 * their magnitudes M (path magnitude), so it is off by at most h epsilon M (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., section 4.2). h and M are taken from the tight path
 * that the search finds; as another path may have been summed up, no tolerance is below
 * that of proto/verification.h, and no magnitude below the least that is rounded like others.
 * Integers are compared exactly.
 *
 * Integers of 0 and more have a quicker way, many rows in one pass over the edges: with every
 * weight above 0 a row is right exactly when its own entry is 0 and every other entry is the least
 * of (distance of u + weight) over the edges from u into it (Bellman's equation): a finite entry
 * then has a tight edge from a smaller one, and so on down to the source, which leaves no cycle
 * that could vouch for itself. Edges of weight 0 carry on what the others say, never what the
 * matrix says, so that a cycle of them has no entry of its own either.
 *
 * A row alone is looked at in the same way, by ranges of vertices, which threads share: an edge
 * that shortens an entry is wrong, and each finite entry needs a tight edge of a weight above 0, or
 * one of 0 from an entry that has what it needs. */
#include "server/solver/certificate.h"

#include "proto/adjacency.h"
#include "server/solver/steps.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Rows that travel together: one cache line of int32 per vertex; fewer than the least take longer
 * so than one by one, and so do all where several threads share a row. */
#define BATCH_ROWS 16
#define BATCH_ROWS_MIN 8
#define SHARING_THREADS 3
/* So many passes over the edges of weight 0 at most: one for each edge of a path of them. */
#define BATCH_ZERO_PASSES 64
/* A weight below this added to any entry that is looked at stays within an int32. */
#define BATCH_WEIGHT_BELOW (1 << 29)

#define BATCH_ALIGNMENT 64
/* The part of a row that one thread looks at, or several side by side: its edges stay in the cache
 * until those of weight 0 are looked for. */
#define PART_VERTICES (UINT32_C(1) << 13)
/* So far apart is what the threads write at the same time. */
#define THREAD_BYTES 128

/* State of a vertex in the check of one row: how it is reached from the row's source. */
struct reach {
    double distance;
    double magnitude; /* sum of |weight| along the tight path to it */
    uint32_t hops;
    bool reached;
};

struct certificate {
    const struct graph *graph;
    const struct matrix *matrix;
    struct problem *reterr;
    double floor;                /* relative tolerance, 0 for integers */
    double epsilon;              /* relative error of one addition */
    double least;                /* magnitude that has these */
    struct adjacency *adjacency; /* both ways of undirected edges, once a row is searched */
    struct reach *reach;
    uint32_t *queue; /* of the search: each vertex enters once; or see zero_ends */
    size_t queue_length;
    /* Entries of the row that say reachable: when all are reached, the search ends. */
    size_t finite;
    uint32_t source;
    bool searching; /* for a tight path, else for an edge that shortens an entry */
    uint32_t wrong; /* target of such an edge */
    /* By vertex, then row, where rows go together, else NULL: */
    int32_t *distance; /* as the matrix says, */
    int32_t *shortest; /* and as the edges say */
    /* Where each goes alone, and not by the search, else NULL: */
    _Atomic uint8_t *proven; /* by vertex: an edge says so; then what nobody reads, by thread */
    const void *row;
    atomic_bool is_wrong;
    atomic_uint_fast64_t zero_ends; /* in the queue, of tight edges of weight 0 */
    struct cpu_pool *pool;          /* borrowed; NULL: this thread alone */
    uint32_t part_vertices;
};

/* together: rows go so. */
static enum status init(struct certificate *certificate, bool together)
{
    const struct graph *graph = certificate->graph;
    const enum kind kind = certificate->matrix->kind;
    const size_t vertices = graph->vertex_count;
    certificate->floor = verification_tolerance(kind);
    certificate->epsilon = verification_epsilon(kind);
    certificate->least = verification_least(kind);
    certificate->reach = malloc(vertices * sizeof(*certificate->reach));
    certificate->queue = malloc(vertices * sizeof(*certificate->queue));
    if (certificate->reach == NULL || certificate->queue == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (!kind_is_float(kind) && graph->weight_type == WEIGHT_INTEGER && graph->edge_count > 0 &&
        graph->summary.min_weight >= 0 && graph->summary.max_weight < BATCH_WEIGHT_BELOW &&
        graph->summary.negative_loop == NO_VERTEX) {
        const size_t bytes = vertices * BATCH_ROWS * sizeof(int32_t);
        if (together) {
            certificate->distance = aligned_alloc(BATCH_ALIGNMENT, bytes);
            certificate->shortest = aligned_alloc(BATCH_ALIGNMENT, bytes);
        } else {
            const size_t threads = cpu_pool_threads(certificate->pool);
            certificate->proven = malloc(vertices + (threads + 1) * THREAD_BYTES);
        }
        if (together ? certificate->distance == NULL || certificate->shortest == NULL
                     : certificate->proven == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

/* ---- One row ---- */

static double tolerance(const struct certificate *certificate, uint32_t hops, double magnitude)
{
    const double relative = fmax(certificate->floor, certificate->epsilon * hops);
    return relative > 0 ? relative * (magnitude + certificate->least) : 0;
}

/* Takes one edge. The search enters its target when the edge is tight, and is over (false) once
 * nothing is left to be found. Afterwards false says that the edge is a way to its target shorter
 * than the matrix has; written so that a NaN is an objection too. */
static bool take_edge(struct certificate *certificate, uint32_t from_vertex, uint32_t to_vertex,
                      double weight)
{
    const struct reach *from = &certificate->reach[from_vertex];
    struct reach *to = &certificate->reach[to_vertex];
    if (certificate->searching && to->reached) {
        return true;
    }
    const uint32_t hops = from->hops + 1;
    const double magnitude = from->magnitude + fabs(weight);
    const double along = from->distance + weight;
    const double slack = tolerance(certificate, hops, magnitude);
    if (!certificate->searching) {
        certificate->wrong = to_vertex;
        return to->distance <= along + slack;
    }
    if (fabs(along - to->distance) <= slack) {
        to->reached = true;
        to->hops = hops;
        to->magnitude = magnitude;
        certificate->queue[certificate->queue_length++] = to_vertex;
    }
    return certificate->queue_length < certificate->finite;
}

/* Takes each edge out of a vertex; false as soon as take_edge says so. */
static bool take_edges(struct certificate *certificate, uint32_t from)
{
    const struct graph *graph = certificate->graph;
    const struct adjacency *adjacency = certificate->adjacency;
    const uint64_t *offset = adjacency != NULL ? adjacency->offset : graph->row_offset;
    const uint32_t *target = adjacency != NULL ? adjacency->source : graph->target;
    for (uint64_t edge = offset[from]; edge < offset[from + 1]; edge++) {
        const double weight =
            adjacency != NULL ? adjacency_weight(adjacency, edge) : graph_weight(graph, edge);
        if (!take_edge(certificate, from, target[edge], weight)) {
            return false;
        }
    }
    return true;
}

struct name {
    char text[64];
};

/* As much of a vertex's name as a message needs, never half a UTF-8 character. */
static struct name name_of(const struct graph *graph, uint32_t vertex)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size = 0;
    const char *bytes = vertex_names_get(graph->names, vertex, buffer, &size);
    struct name name = {{0}};
    if (size >= sizeof(name.text)) {
        size = sizeof(name.text) - 1;
        while (size > 0 && ((unsigned char)bytes[size] & 0xC0) == 0x80) {
            size--;
        }
    }
    memcpy(name.text, bytes, size);
    return name;
}

/* why: what is wrong with the entry. */
static enum status refuse(const struct certificate *certificate, uint32_t target, const char *why)
{
    const struct name from = name_of(certificate->graph, certificate->source);
    const struct name to = name_of(certificate->graph, target);
    const double distance = certificate->reach[target].distance;
    if (distance == INFINITY) {
        return problem_set(certificate->reterr, STATUS_NOT_VERIFIED,
                           "The matrix says that %s is unreachable from %s, but %s.", to.text,
                           from.text, why);
    }
    return problem_set(certificate->reterr, STATUS_NOT_VERIFIED,
                       "The matrix has the distance %.17g from %s to %s, but %s.", distance,
                       from.text, to.text, why);
}

/* row: of the matrix. */
static enum status check_row(struct certificate *certificate, uint32_t source, uint32_t row)
{
    const uint32_t vertices = certificate->graph->vertex_count;
    struct reach *const reach = certificate->reach;
    if (!certificate->graph->directed && certificate->adjacency == NULL) {
        const enum status status = adjacency_create(certificate->graph, &certificate->adjacency);
        if (status != STATUS_OK) {
            return status;
        }
    }
    certificate->source = source;
    certificate->finite = 0;
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        reach[vertex] = (struct reach){0};
        if (!matrix_distance(certificate->matrix, row, vertex, &reach[vertex].distance)) {
            reach[vertex].distance = INFINITY;
        }
        certificate->finite += reach[vertex].distance != INFINITY;
    }
    if (!(reach[source].distance == 0)) {
        return refuse(certificate, source, "a vertex is at distance 0 from itself");
    }
    reach[source].reached = true;
    certificate->queue[0] = source;
    certificate->queue_length = 1;
    certificate->searching = true;
    for (size_t next = 0; next < certificate->queue_length; next++) {
        if (!take_edges(certificate, certificate->queue[next])) {
            break;
        }
    }
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        if (!reach[vertex].reached && reach[vertex].distance != INFINITY) {
            return refuse(certificate, vertex, "no path has this length");
        }
    }
    certificate->searching = false;
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        if (reach[vertex].reached && !take_edges(certificate, vertex)) {
            return refuse(certificate, certificate->wrong, "there is a shorter path");
        }
    }
    return STATUS_OK;
}

/* ---- Many rows ---- */

static inline void relax(int32_t *restrict to, const int32_t *restrict from, int32_t weight)
{
    for (uint32_t lane = 0; lane < BATCH_ROWS; lane++) {
        const int32_t distance = from[lane] + weight;
        to[lane] = distance < to[lane] ? distance : to[lane];
    }
}

/* Calls `carry` along the edges of weight 0 in the rows from begin to before end, which says
 * whether it has changed anything. */
static bool carry_along_zeros(struct certificate *certificate, uint32_t begin, uint32_t end,
                              bool (*carry)(struct certificate *, uint32_t from, uint32_t to))
{
    const struct graph *graph = certificate->graph;
    const int32_t *weight = graph->weight_i4;
    const uint64_t end_edge = graph->row_offset[end];
    bool changed = false;
    for (uint64_t edge = graph->row_offset[begin]; edge < end_edge; edge++) {
        if (weight[edge] != 0) {
            continue;
        }
        while (graph->row_offset[begin + 1] <= edge) {
            begin++;
        }
        changed |= carry(certificate, begin, graph->target[edge]);
        changed |= !graph->directed && carry(certificate, graph->target[edge], begin);
    }
    return changed;
}

static bool carry_shortest(struct certificate *certificate, uint32_t from, uint32_t to)
{
    const int32_t *by = certificate->shortest + (size_t)from * BATCH_ROWS;
    int32_t *own = certificate->shortest + (size_t)to * BATCH_ROWS;
    int32_t changed = 0;
    for (uint32_t lane = 0; lane < BATCH_ROWS; lane++) {
        changed |= by[lane] < own[lane];
        own[lane] = by[lane] < own[lane] ? by[lane] : own[lane];
    }
    return changed != 0;
}

/* Bellman's equation: the entries by way of the last edge, from those that the matrix has. */
static void relax_edges(const struct certificate *certificate)
{
    const struct graph *graph = certificate->graph;
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        const size_t own = (size_t)row * BATCH_ROWS;
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const size_t other = (size_t)graph->target[edge] * BATCH_ROWS;
            const int32_t weight = graph->weight_i4[edge];
            if (weight == 0) {
                continue;
            }
            relax(certificate->shortest + other, certificate->distance + own, weight);
            if (!graph->directed) {
                relax(certificate->shortest + own, certificate->distance + other, weight);
            }
        }
    }
}

/* Unreachable is more than any distance, with a weight or without. */
static inline int32_t entry_of(const void *row, bool is_narrow, uint32_t vertex)
{
    if (is_narrow) {
        const uint16_t narrow = ((const uint16_t *)row)[vertex];
        return narrow == UNREACHABLE_U2 ? UNREACHABLE_I4 : narrow;
    }
    return ((const int32_t *)row)[vertex];
}

static inline int32_t entry_at(const struct certificate *certificate, uint32_t vertex)
{
    return entry_of(certificate->row, certificate->matrix->kind == KIND_U2, vertex);
}

static const void *row_of(const struct matrix *matrix, uint32_t row)
{
    return (const char *)matrix->elements +
           (size_t)row * matrix->vertex_count * kind_size(matrix->kind);
}

/* True when all of these rows are right. */
static bool check_batch(struct certificate *certificate, const uint32_t *sources,
                        const uint32_t *rows)
{
    const uint32_t n = certificate->graph->vertex_count;
    int32_t *const distance = certificate->distance;
    int32_t *const shortest = certificate->shortest;
    for (uint32_t lane = 0; lane < BATCH_ROWS; lane++) {
        bool is_sound = true;
        certificate->row = row_of(certificate->matrix, rows[lane]);
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            const int32_t entry = entry_at(certificate, vertex);
            distance[(size_t)vertex * BATCH_ROWS + lane] = entry;
            is_sound &= entry >= 0 && entry <= UNREACHABLE_I4;
        }
        if (!is_sound || entry_at(certificate, sources[lane]) != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < (size_t)n * BATCH_ROWS; i++) {
        shortest[i] = UNREACHABLE_I4;
    }
    relax_edges(certificate);
    for (uint32_t lane = 0; lane < BATCH_ROWS; lane++) {
        /* The equation does not hold for a source. */
        shortest[(size_t)sources[lane] * BATCH_ROWS + lane] = 0;
    }
    bool changes = certificate->graph->summary.min_weight <= 0;
    for (int pass = 0; changes && pass < BATCH_ZERO_PASSES; pass++) {
        changes = carry_along_zeros(certificate, 0, n, carry_shortest);
    }
    if (changes) {
        return false;
    }
    /* Without a branch, so that all lanes are compared at once. */
    int32_t differing = 0;
    for (size_t i = 0; i < (size_t)n * BATCH_ROWS; i++) {
        differing |= distance[i] ^ shortest[i];
    }
    return differing == 0;
}

/* ---- A row alone ---- */

static uint32_t part_end(const struct certificate *certificate, uint64_t part)
{
    const uint64_t end = (part + 1) * certificate->part_vertices;
    const uint32_t n = certificate->graph->vertex_count;
    return end < n ? (uint32_t)end : n;
}

/* An edge proves its target where it is tight. Which ones are cannot be foreseen, so there is no
 * branch, which compilers make of a choice: the others prove what nobody reads. False where it
 * shortens the entry. A sum that overflows has an end that is refused by itself. */
static inline bool take_step(_Atomic uint8_t *proven, size_t nobody, int32_t from, int32_t weight,
                             int32_t to, uint32_t target)
{
    const int32_t along = (int32_t)((uint32_t)from + (uint32_t)weight);
    const size_t mask = (size_t)0 - ((along == to) & (weight > 0));
    atomic_store_explicit(&proven[nobody ^ ((nobody ^ target) & mask)], 1, memory_order_relaxed);
    return along >= to;
}

/* Keeps an edge of weight 0 that is tight, by its ends, unless there are too many. */
static bool keep_zero(struct certificate *certificate, uint32_t from, uint32_t to)
{
    const int32_t entry = entry_at(certificate, from);
    if (entry == entry_at(certificate, to) && entry != UNREACHABLE_I4) {
        const uint64_t at = atomic_fetch_add(&certificate->zero_ends, 2);
        if (at + 2 <= certificate->graph->vertex_count) {
            certificate->queue[at] = from;
            certificate->queue[at + 1] = to;
        }
    }
    return false;
}

/* The edges in the rows of some vertices. Nothing is read again for each, as the marks might have
 * changed it. */
static void check_part(void *context, uint32_t thread, uint64_t part)
{
    struct certificate *certificate = context;
    const struct graph graph = *certificate->graph;
    const void *const entries = certificate->row;
    const bool is_narrow = certificate->matrix->kind == KIND_U2;
    const size_t nobody = graph.vertex_count + (size_t)(thread + 1) * THREAD_BYTES;
    const uint32_t end = part_end(certificate, part);
    _Atomic uint8_t *const proven = certificate->proven;
    bool is_right = true;
    for (uint32_t row = (uint32_t)part * certificate->part_vertices; row < end; row++) {
        const int32_t own = entry_of(entries, is_narrow, row);
        const uint64_t end_edge = graph.row_offset[row + 1];
        is_right &= own >= 0 && own <= UNREACHABLE_I4;
        for (uint64_t edge = graph.row_offset[row]; edge < end_edge; edge++) {
            const uint32_t target = graph.target[edge];
            const int32_t weight = graph.weight_i4[edge];
            const int32_t other = entry_of(entries, is_narrow, target);
            is_right &= take_step(proven, nobody, own, weight, other, target);
            is_right &= graph.directed || take_step(proven, nobody, other, weight, own, row);
        }
    }
    if (graph.summary.min_weight <= 0) {
        (void)carry_along_zeros(certificate, (uint32_t)part * certificate->part_vertices, end,
                                keep_zero);
    }
    if (!is_right) {
        atomic_store(&certificate->is_wrong, true);
    }
}

/* False where that takes too many passes. */
static bool carry_proofs(struct certificate *certificate)
{
    const uint64_t ends = certificate->zero_ends;
    bool changes = ends > 0;
    for (int pass = 0; changes && pass < BATCH_ZERO_PASSES; pass++) {
        changes = false;
        for (uint64_t i = 0; i < ends; i += 2) {
            _Atomic uint8_t *to = &certificate->proven[certificate->queue[i + 1]];
            if (certificate->proven[certificate->queue[i]] && !*to) {
                *to = 1;
                changes = true;
            }
        }
    }
    return !changes;
}

static void look_for_unproven(void *context, uint32_t thread, uint64_t part)
{
    (void)thread;
    struct certificate *certificate = context;
    const uint32_t end = part_end(certificate, part);
    bool is_right = true;
    for (uint32_t vertex = (uint32_t)part * certificate->part_vertices; vertex < end; vertex++) {
        is_right &= atomic_load_explicit(&certificate->proven[vertex], memory_order_relaxed) != 0 ||
                    entry_at(certificate, vertex) == UNREACHABLE_I4;
    }
    if (!is_right) {
        atomic_store(&certificate->is_wrong, true);
    }
}

/* True when the row is right. */
static bool check_alone(struct certificate *certificate, uint32_t source, uint32_t row)
{
    const uint32_t n = certificate->graph->vertex_count;
    const uint64_t parts = (uint64_t)n / certificate->part_vertices + 1;
    certificate->row = row_of(certificate->matrix, row);
    atomic_store(&certificate->is_wrong, false);
    atomic_store(&certificate->zero_ends, 0);
    memset((void *)certificate->proven, 0, n);
    cpu_pool_run(certificate->pool, parts, check_part, certificate);
    certificate->proven[source] = 1;
    if (certificate->zero_ends > n || !carry_proofs(certificate)) {
        return false;
    }
    cpu_pool_run(certificate->pool, parts, look_for_unproven, certificate);
    return !certificate->is_wrong && entry_at(certificate, source) == 0;
}

/* The rows that are checked: those listed, or `rows` spread evenly, verification_row; of these the
 * ones from first to before end. */
struct row_choice {
    const uint32_t *list; /* NULL: none */
    bool packed;          /* the matrix has the listed rows alone, one behind the other */
    uint32_t rows;
    uint32_t first;
    uint32_t end;
};

/* Rows go together where that is possible and they are right, else one by one, which also says what
 * is wrong. */
static enum status check(const struct graph *graph, const struct matrix *matrix,
                         const struct row_choice *choice, struct cpu_pool *pool,
                         const struct observer *observer, struct verification *ret_verification,
                         struct problem *reterr)
{
    CHECK(graph->vertex_count == matrix->vertex_count);
    const double begin_s = stopwatch_now_s();
    const uint32_t count = choice->end - choice->first;
    const uint32_t threads = cpu_pool_threads(pool);
    struct certificate certificate = {.graph = graph,
                                      .matrix = matrix,
                                      .reterr = reterr,
                                      .pool = pool,
                                      .part_vertices = PART_VERTICES / threads + 1};
    const bool together = count >= BATCH_ROWS_MIN && threads < SHARING_THREADS;
    enum status status = graph->vertex_count > 0 ? init(&certificate, together) : STATUS_OK;
    const uint32_t step = certificate.distance != NULL ? BATCH_ROWS : 1;
    for (uint64_t first = choice->first; status == STATUS_OK && first < choice->end;
         first += step) {
        uint32_t sources[BATCH_ROWS];
        uint32_t rows[BATCH_ROWS];
        const uint32_t left = choice->end - (uint32_t)first;
        for (uint32_t place = 0; place < step; place++) {
            /* Places without a row of their own repeat the last one. */
            const uint32_t next = (uint32_t)first + (place < left ? place : left - 1);
            sources[place] = choice->list != NULL
                                 ? choice->list[next]
                                 : verification_row(graph->vertex_count, choice->rows, next);
            rows[place] = choice->packed ? next : sources[place];
        }
        observer_tell(observer, PHASE_CHECKING, (double)first / choice->end);
        if (observer_is_cancelled(observer)) {
            status = problem_set(reterr, STATUS_CANCELLED,
                                 "Cancelled while the distances were verified.");
        } else if (certificate.distance != NULL ? !check_batch(&certificate, sources, rows)
                   : certificate.proven != NULL ? !check_alone(&certificate, sources[0], rows[0])
                                                : true) {
            for (uint32_t place = 0; status == STATUS_OK && place < step; place++) {
                status = check_row(&certificate, sources[place], rows[place]);
            }
        }
    }
    if (status == STATUS_NO_MEMORY) {
        problem_set(reterr, status, "There is not enough memory to verify the distances.");
    }
    adjacency_destroy(certificate.adjacency);
    free(certificate.reach);
    free(certificate.queue);
    free(certificate.distance);
    free(certificate.shortest);
    free((void *)certificate.proven);
    if (status == STATUS_OK) {
        *ret_verification = (struct verification){
            .done = true,
            .rows = choice->end,
            .of = graph->vertex_count,
            .edges = graph->edge_count,
            .tolerance = verification_tolerance(matrix->kind),
            .seconds = stopwatch_now_s() - begin_s,
        };
    }
    return status;
}

enum status certificate_check(const struct graph *graph, const struct matrix *matrix,
                              uint32_t row_count, const struct observer *observer,
                              struct verification *ret_verification, struct problem *reterr)
{
    const uint32_t rows = row_count < graph->vertex_count ? row_count : graph->vertex_count;
    const struct row_choice choice = {NULL, false, rows, 0, rows};
    return check(graph, matrix, &choice, NULL, observer, ret_verification, reterr);
}

enum status certificate_check_rows(const struct graph *graph, const struct matrix *matrix,
                                   const uint32_t *rows, uint32_t row_count, bool packed,
                                   struct cpu_pool *pool, const struct observer *observer,
                                   struct verification *ret_verification, struct problem *reterr)
{
    const struct row_choice choice = {rows, packed, row_count, 0, row_count};
    return check(graph, matrix, &choice, pool, observer, ret_verification, reterr);
}

enum status certificate_resume(const struct graph *graph, const struct matrix *matrix,
                               uint32_t row_limit, const struct observer *observer,
                               struct verification *verification, struct problem *reterr)
{
    CHECK(verification->on_device && verification->proven < verification->rows);
    const uint32_t rows = (uint32_t)verification->rows;
    const uint32_t first = (uint32_t)verification->proven;
    const struct row_choice choice = {NULL, false, rows, first,
                                      rows - first < row_limit ? rows : first + row_limit};
    return check(graph, matrix, &choice, NULL, observer, verification, reterr);
}
