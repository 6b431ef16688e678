/* Floats: a distance is a sum of at most h rounded weights, and every partial sum is at most the
 * sum M of their magnitudes, so the error is at most h epsilon M (Higham, Accuracy and Stability of
 * Numerical Algorithms, 2nd ed., section 4.2). h and M are those of the tight path that the search
 * finds. The solver may have added up another path, so the tolerance is never below that of
 * proto/verification.h, and the magnitude never below the smallest that has this relative error.
 * Integers are compared exactly.
 *
 * Non-negative integer weights allow a faster check, of all rows of a batch in one pass over the
 * edges. If every weight is above 0, a row is correct exactly when the entry of the source is 0
 * and every other entry is the minimum of (distance of u + weight) over the edges from any u to
 * the vertex (Bellman's equation): a finite entry then has a tight edge from a smaller entry, and
 * so on down to the source, so no cycle can vouch for itself. Edges of weight 0 propagate only
 * values that the pass over the other edges has computed, never entries of the matrix, so a cycle
 * of such edges cannot vouch for itself either. */
#include "server/solver/certificate.h"

#include "proto/adjacency.h"
#include "proto/number.h"
#include "server/solver/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows checked in one batch: one cache line of int32 per vertex. Fewer than BATCH_ROWS_MIN rows are
 * checked in batches of one row. */
#define BATCH_ROWS 16
#define BATCH_ROWS_MIN 8
/* Limit on passes over the edges of weight 0. A path of such edges needs one pass per edge. */
#define BATCH_ZERO_PASSES 64
/* The sum of a weight below this limit and any entry fits in an int32. */
#define BATCH_WEIGHT_BELOW (1 << 29)

#define BATCH_ALIGNMENT 64

/* State of a vertex in the check of one row: the tight path from the row's source to the vertex. */
struct reach {
    double distance;
    double magnitude; /* sum of |weight| along the tight path */
    uint32_t hops;
    bool reached;
};

/* The buffers of one thread. */
struct search {
    struct reach *reach;
    uint32_t *queue; /* each vertex enters once */
    size_t queue_length;
    /* Number of finite entries of the row. The search ends when it has reached all of them. */
    size_t finite;
    uint32_t source;
    bool searching; /* searching for tight paths; false: for an edge that shortens an entry */
    uint32_t wrong; /* target of an edge that shortens an entry */
    double *row;    /* row of the matrix, with decimals converted to integers */
    /* A batch, indexed by vertex, then row. */
    int32_t *distance; /* entries of the matrix */
    int32_t *shortest; /* entries that follow from the edges */
    bool is_right;     /* the unit of this index is proven */
};

struct certificate {
    const struct certificate_request *request;
    const struct graph *graph;
    const struct matrix *matrix;
    bool is_batched; /* unit_rows rows are checked at once; false: each row by a search */
    bool is_exact;   /* the matrix has integers, or decimals that are compared as integers */
    double floor;    /* relative tolerance, 0 for integers */
    double epsilon;  /* relative error of one addition */
    double least;    /* smallest magnitude that has this relative error */
    struct adjacency *adjacency; /* undirected edges, both directions; or NULL */
    struct search *searches;     /* one per thread */
    uint32_t thread_count;
    uint32_t row_count;
    uint32_t unit_rows; /* rows that one task proves */
    uint32_t first_row; /* first row of the units being checked */
};

/* Whether the weights are non-negative integers, so that rows can be checked in batches. */
static bool has_quick_way(const struct certificate *certificate)
{
    const struct graph *graph = certificate->graph;
    return certificate->is_exact && graph->weight_type == WEIGHT_INTEGER &&
           graph->summary.distance_bound < GRAPH_BOUND_I4 && graph->edge_count > 0 &&
           graph->summary.min_weight >= 0 && graph->summary.max_weight < BATCH_WEIGHT_BELOW &&
           graph->summary.negative_loop == NO_VERTEX;
}

static enum status create_adjacency(struct certificate *certificate)
{
    return certificate->graph->directed || certificate->adjacency != NULL
               ? STATUS_OK
               : adjacency_create(certificate->graph, &certificate->adjacency);
}

static enum status init_certificate(struct certificate *certificate)
{
    const enum kind kind = certificate->matrix->kind;
    const size_t vertices = certificate->graph->vertex_count;
    const size_t threads = certificate->thread_count;
    certificate->is_exact = !kind_is_float(kind) || certificate->request->decimals > 0;
    certificate->floor = certificate->is_exact ? 0 : verification_tolerance(kind);
    certificate->epsilon = certificate->is_exact ? 0 : verification_epsilon(kind);
    certificate->least = verification_least(kind);
    certificate->is_batched = has_quick_way(certificate);
    certificate->unit_rows =
        certificate->is_batched && certificate->row_count >= BATCH_ROWS_MIN ? BATCH_ROWS : 1;
    certificate->searches = calloc(threads, sizeof(*certificate->searches));
    bool enough = certificate->searches != NULL;
    for (size_t i = 0; enough && i < threads; i++) {
        struct search *search = &certificate->searches[i];
        /* The first thread searches the rows that no batch has proven. */
        if (i == 0 || !certificate->is_batched) {
            search->reach = malloc(vertices * sizeof(*search->reach));
            search->queue = malloc(vertices * sizeof(*search->queue));
            enough = search->reach != NULL && search->queue != NULL;
        }
        if (certificate->is_batched) {
            const size_t bytes =
                (vertices + BATCH_ROWS - 1) / BATCH_ROWS * BATCH_ALIGNMENT * certificate->unit_rows;
            search->distance = aligned_alloc(BATCH_ALIGNMENT, bytes);
            search->shortest = aligned_alloc(BATCH_ALIGNMENT, bytes);
            enough = enough && search->distance != NULL && search->shortest != NULL;
        }
        search->row = malloc(vertices * sizeof(*search->row));
        enough = enough && search->row != NULL;
    }
    if (!enough) {
        return STATUS_NO_MEMORY;
    }
    return certificate->is_batched ? STATUS_OK : create_adjacency(certificate);
}

static void finish_certificate(struct certificate *certificate)
{
    for (uint32_t i = 0; certificate->searches != NULL && i < certificate->thread_count; i++) {
        free(certificate->searches[i].reach);
        free(certificate->searches[i].queue);
        free(certificate->searches[i].row);
        free(certificate->searches[i].distance);
        free(certificate->searches[i].shortest);
    }
    free(certificate->searches);
    adjacency_destroy(certificate->adjacency);
}

static double tolerance_of(const struct certificate *certificate, uint32_t hops, double magnitude)
{
    const double relative = fmax(certificate->floor, certificate->epsilon * hops);
    return relative > 0 ? relative * (magnitude + certificate->least) : 0;
}

/* Follows one edge. While searching, marks the target as reached if the edge is tight, and returns
 * false when all finite entries are reached. Afterwards, returns false if the edge shortens the
 * entry of its target. The comparison is written so that a NaN also returns false. */
static bool follow_edge(const struct certificate *certificate, struct search *search,
                        uint32_t from_vertex, uint32_t to_vertex, double weight)
{
    const struct reach *from = &search->reach[from_vertex];
    struct reach *to = &search->reach[to_vertex];
    if (search->searching && to->reached) {
        return true;
    }
    const uint32_t hops = from->hops + 1;
    const double magnitude = from->magnitude + fabs(weight);
    const double along = from->distance + weight;
    const double slack = tolerance_of(certificate, hops, magnitude);
    if (!search->searching) {
        search->wrong = to_vertex;
        return to->distance <= along + slack;
    }
    if (fabs(along - to->distance) <= slack) {
        to->reached = true;
        to->hops = hops;
        to->magnitude = magnitude;
        search->queue[search->queue_length++] = to_vertex;
    }
    return search->queue_length < search->finite;
}

/* Follows each edge that leaves a vertex. Returns false as soon as follow_edge does. */
static bool follow_edges(const struct certificate *certificate, struct search *search,
                         uint32_t from)
{
    const struct graph *graph = certificate->graph;
    const struct adjacency *adjacency = certificate->adjacency;
    const uint64_t *offset = adjacency != NULL ? adjacency->offset : graph->row_offset;
    const uint32_t *target = adjacency != NULL ? adjacency->source : graph->target;
    for (uint64_t edge = offset[from]; edge < offset[from + 1]; edge++) {
        const double weight =
            adjacency != NULL ? adjacency_weight(adjacency, edge) : graph_weight(graph, edge);
        if (!follow_edge(certificate, search, from, target[edge], weight)) {
            return false;
        }
    }
    return true;
}

struct certificate_name certificate_name(const struct graph *graph, uint32_t vertex, size_t most)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size = 0;
    const char *bytes = vertex_names_get(graph->names, vertex, buffer, &size);
    struct certificate_name name = {{0}};
    if (size > most) {
        size = most;
        while (size > 0 && ((unsigned char)bytes[size] & 0xC0) == 0x80) {
            size--;
        }
    }
    memcpy(name.text, bytes, size);
    return name;
}

/* why: the second half of the sentence, which says why the entry is wrong. */
static enum status refuse_entry(const struct certificate *certificate, const struct search *search,
                                uint32_t target, const char *why, struct problem *reterr)
{
    const struct certificate_name from =
        certificate_name(certificate->graph, search->source, CERTIFICATE_NAME_MAX);
    const struct certificate_name to =
        certificate_name(certificate->graph, target, CERTIFICATE_NAME_MAX);
    const double distance = search->reach[target].distance;
    if (distance == INFINITY) {
        return problem_set(reterr, STATUS_NOT_VERIFIED,
                           "The matrix says that %s is unreachable from %s, but %s.", to.text,
                           from.text, why);
    }
    return problem_set(reterr, STATUS_NOT_VERIFIED,
                       "The matrix has the distance %s from %s to %s, but %s.",
                       number_text(distance).text, from.text, to.text, why);
}

/* A row to prove: its source vertex, and its index in the matrix. */
struct row_place {
    uint32_t source;
    uint32_t row;
};

/* index: position among the rows to prove. */
static struct row_place place_of(const struct certificate *certificate, uint32_t index)
{
    const struct certificate_request *request = certificate->request;
    const uint32_t source =
        request->rows != NULL
            ? request->rows[index]
            : verification_row(certificate->graph->vertex_count, certificate->row_count, index);
    return (struct row_place){source, request->packed ? index : source};
}

/* Fills search->row. A decimal that is not an integer / 10^decimals becomes NAN. */
static void read_row(const struct certificate *certificate, const struct search *search,
                     uint32_t row)
{
    const struct matrix *matrix = certificate->matrix;
    const uint32_t decimals = certificate->request->decimals;
    const uint32_t n = matrix->vertex_count;
    const char *elements =
        (const char *)matrix->elements + (size_t)row * n * kind_size(matrix->kind);
    const double *distances = (const double *)(const void *)elements;
    if (decimals == 0) {
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            search->row[vertex] = kind_element(matrix->kind, elements, vertex);
        }
        return;
    }
    decimals_multiply_all(distances, decimals, n, search->row);
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        if (decimals_divide(search->row[vertex], decimals) != distances[vertex]) {
            search->row[vertex] = (double)NAN;
        }
    }
}

/* Checks one row by a search. Needs the adjacency if the graph is undirected. */
static enum status check_row(const struct certificate *certificate, struct search *search,
                             struct row_place place, struct problem *reterr)
{
    const uint32_t vertices = certificate->graph->vertex_count;
    struct reach *const reach = search->reach;
    search->source = place.source;
    search->finite = 0;
    read_row(certificate, search, place.row);
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        reach[vertex] = (struct reach){.distance = search->row[vertex]};
        search->finite += reach[vertex].distance != INFINITY;
    }
    if (!(reach[place.source].distance == 0)) {
        return refuse_entry(certificate, search, place.source,
                            "a vertex is at distance 0 from itself", reterr);
    }
    reach[place.source].reached = true;
    search->queue[0] = place.source;
    search->queue_length = 1;
    search->searching = true;
    for (size_t next = 0; next < search->queue_length; next++) {
        if (!follow_edges(certificate, search, search->queue[next])) {
            break;
        }
    }
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        if (!reach[vertex].reached && reach[vertex].distance != INFINITY) {
            return refuse_entry(certificate, search, vertex, "no path has this length", reterr);
        }
    }
    search->searching = false;
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        if (reach[vertex].reached && !follow_edges(certificate, search, vertex)) {
            return refuse_entry(certificate, search, search->wrong, "there is a shorter path",
                                reterr);
        }
    }
    return STATUS_OK;
}

static inline void relax_lanes(int32_t *restrict to, const int32_t *restrict from, int32_t weight,
                               uint32_t lanes)
{
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const int32_t distance = from[lane] + weight;
        to[lane] = distance < to[lane] ? distance : to[lane];
    }
}

/* Relaxes an edge of weight 0 in all lanes. Returns whether an entry changed. */
static bool carry_zero(const struct search *search, uint32_t from, uint32_t to, uint32_t lanes)
{
    const int32_t *by = search->shortest + (size_t)from * lanes;
    int32_t *own = search->shortest + (size_t)to * lanes;
    int32_t changed = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        changed |= by[lane] < own[lane];
        own[lane] = by[lane] < own[lane] ? by[lane] : own[lane];
    }
    return changed != 0;
}

static bool carry_zeros(const struct graph *graph, const struct search *search, uint32_t lanes)
{
    bool changed = false;
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const uint32_t target = graph->target[edge];
            if (graph->weight_i4[edge] == 0) {
                changed |= carry_zero(search, row, target, lanes);
                changed |= !graph->directed && carry_zero(search, target, row, lanes);
            }
        }
    }
    return changed;
}

/* Bellman's equation: relaxes each edge above 0 once, from the entries of the matrix. Callers pass
 * a constant number of lanes, so that the compiler vectorizes them. */
static inline __attribute__((always_inline)) void
relax_edges(const struct graph *graph, const struct search *search, uint32_t lanes)
{
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        const size_t own = (size_t)row * lanes;
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const size_t other = (size_t)graph->target[edge] * lanes;
            const int32_t weight = graph->weight_i4[edge];
            if (weight == 0) {
                continue;
            }
            relax_lanes(search->shortest + other, search->distance + own, weight, lanes);
            if (!graph->directed) {
                relax_lanes(search->shortest + own, search->distance + other, weight, lanes);
            }
        }
    }
}

/* Unreachable exceeds any distance plus a weight. -1: not a distance. */
static inline int32_t entry_of(double number)
{
    return number >= 0 && number < UNREACHABLE_I4 ? (int32_t)number
           : number == INFINITY                   ? UNREACHABLE_I4
                                                  : -1;
}

/* Checks the rows from `first` on; repeats the last row if fewer than unit_rows are left. Returns
 * whether all of them are correct. */
static bool check_batch(const struct certificate *certificate, struct search *search,
                        uint32_t first)
{
    const struct graph *graph = certificate->graph;
    const struct matrix *matrix = certificate->matrix;
    const uint32_t n = graph->vertex_count;
    const uint32_t lanes = certificate->unit_rows;
    int32_t *const distance = search->distance;
    int32_t *const shortest = search->shortest;
    uint32_t sources[BATCH_ROWS];
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint32_t left = certificate->row_count - first;
        const struct row_place place =
            place_of(certificate, first + (lane < left ? lane : left - 1));
        bool is_sound = true;
        const int32_t *integers = (const int32_t *)matrix->elements + (size_t)place.row * n;
        if (matrix->kind != KIND_I4) {
            read_row(certificate, search, place.row);
        }
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            const int32_t entry =
                matrix->kind == KIND_I4 ? integers[vertex] : entry_of(search->row[vertex]);
            distance[(size_t)vertex * lanes + lane] = entry;
            is_sound &= entry >= 0 && entry <= UNREACHABLE_I4;
        }
        if (!is_sound || distance[(size_t)place.source * lanes + lane] != 0) {
            return false;
        }
        sources[lane] = place.source;
    }
    for (size_t i = 0; i < (size_t)n * lanes; i++) {
        shortest[i] = UNREACHABLE_I4;
    }
    if (lanes == BATCH_ROWS) {
        relax_edges(graph, search, BATCH_ROWS);
    } else {
        relax_edges(graph, search, 1);
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        /* Bellman's equation does not apply to the source, whose entry is 0. */
        shortest[(size_t)sources[lane] * lanes + lane] = 0;
    }
    bool changes = graph->summary.min_weight <= 0;
    for (int pass = 0; changes && pass < BATCH_ZERO_PASSES; pass++) {
        changes = carry_zeros(graph, search, lanes);
    }
    if (changes) {
        return false;
    }
    /* The loop has no branch, so that the compiler vectorizes it. */
    int32_t differing = 0;
    for (size_t i = 0; i < (size_t)n * lanes; i++) {
        differing |= distance[i] ^ shortest[i];
    }
    return differing == 0;
}

/* Checks one unit of rows. At most thread_count units are checked at once, so the index of a task
 * is also an index of searches. */
static void check_unit(void *context, uint32_t thread, uint64_t task)
{
    struct certificate *certificate = context;
    struct search *search = &certificate->searches[thread];
    const uint32_t first = certificate->first_row + (uint32_t)task * certificate->unit_rows;
    certificate->searches[task].is_right =
        certificate->is_batched
            ? check_batch(certificate, search, first)
            : check_row(certificate, search, place_of(certificate, first), NULL) == STATUS_OK;
}

/* Checks the rows of a unit one by one, and reports the first wrong entry. */
static enum status check_again(struct certificate *certificate, uint32_t first,
                               struct problem *reterr)
{
    enum status status = create_adjacency(certificate);
    for (uint32_t row = first; status == STATUS_OK && row < first + certificate->unit_rows &&
                               row < certificate->row_count;
         row++) {
        status =
            check_row(certificate, &certificate->searches[0], place_of(certificate, row), reterr);
    }
    return status;
}

/* Checks the next units, one per thread. */
static enum status check_next(struct certificate *certificate, struct problem *reterr)
{
    const uint32_t first = certificate->first_row;
    const uint32_t left = certificate->row_count - first;
    const uint32_t units_left = (left - 1) / certificate->unit_rows + 1;
    const uint32_t units =
        units_left < certificate->thread_count ? units_left : certificate->thread_count;
    cpu_pool_run(certificate->request->pool, units, check_unit, certificate);
    enum status status = STATUS_OK;
    for (uint32_t unit = 0; unit < units && status == STATUS_OK; unit++) {
        if (!certificate->searches[unit].is_right) {
            status = check_again(certificate, first + unit * certificate->unit_rows, reterr);
        }
    }
    const uint32_t rows = units * certificate->unit_rows;
    certificate->first_row = first + (rows < left ? rows : left);
    return status;
}

enum status certificate_check(const struct certificate_request *request,
                              struct verification *ret_verification, struct problem *reterr)
{
    const uint32_t n = request->graph->vertex_count;
    const double begin_s = stopwatch_now_s();
    struct certificate certificate = {.request = request,
                                      .graph = request->graph,
                                      .matrix = request->matrix,
                                      .thread_count = cpu_pool_threads(request->pool),
                                      .row_count = request->row_count < n ? request->row_count : n};
    CHECK(n == request->matrix->vertex_count);
    enum status status = n > 0 ? init_certificate(&certificate) : STATUS_OK;
    while (status == STATUS_OK && certificate.first_row < certificate.row_count) {
        observer_tell(request->observer, PHASE_CHECKING,
                      (double)certificate.first_row / certificate.row_count);
        status = observer_is_cancelled(request->observer)
                     ? problem_set(reterr, STATUS_CANCELLED,
                                   "Cancelled while the distances were verified.")
                     : check_next(&certificate, reterr);
    }
    if (status == STATUS_NO_MEMORY) {
        problem_set(reterr, status, "There is not enough memory to verify the distances.");
    }
    finish_certificate(&certificate);
    if (status == STATUS_OK) {
        *ret_verification = (struct verification){
            .done = true,
            .rows = certificate.row_count,
            .of = n,
            .edges = request->graph->edge_count,
            .tolerance = certificate.floor,
            .seconds = stopwatch_now_s() - begin_s,
        };
    }
    return status;
}
