/* Checks rows of a matrix against the edges of the graph. Integers are compared exactly. For
 * floats, a distance is a sum of at most h rounded weights, and every partial sum is at most the
 * sum M of their magnitudes, so the error is at most h epsilon M (Higham, Accuracy and Stability of
 * Numerical Algorithms, 2nd ed., section 4.2). h and M are taken from the tight path that the
 * search finds. The solver may have added up another path, so the tolerance is never below
 * verification_tolerance. The smallest normal number is added to M, because smaller numbers have
 * larger relative errors.
 *
 * Non-negative integer weights allow a faster check, in one pass over the edges. If every weight is
 * above 0, a row is correct exactly when the entry of the source is 0 and every other entry is the
 * minimum of (distance of u + weight) over the edges from any u to the vertex (Bellman's equation):
 * a finite entry then has a tight edge from a smaller entry, and so on down to the source, so no
 * cycle can vouch for itself. Edges of weight 0 propagate only values that the pass over the other
 * edges has computed, never entries of the matrix, so a cycle of such edges cannot vouch for itself
 * either. */
#include "server/solver/certificate.h"

#include "proto/adjacency.h"
#include "proto/number.h"
#include "server/solver/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limit on the passes over the edges of weight 0. A path of such edges needs one pass per edge. */
#define ZERO_PASSES_MAX 64
/* The sum of a weight below this limit and any entry fits in an int32. */
#define QUICK_WEIGHT_BELOW (1 << 29)

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
    uint32_t *queue; /* queue of reached vertices; each vertex enters once */
    size_t queue_length;
    /* Number of finite entries of the row. The search ends when it has reached all of them. */
    size_t finite;
    uint32_t source;
    bool searching;    /* true: the search follows tight paths; false: it looks for an edge that
                          shortens an entry */
    uint32_t wrong;    /* target of an edge that shortens an entry */
    double *row;       /* row of the matrix; decimals as scaled integers */
    int32_t *distance; /* entries of a row that is not i4, for the faster check */
    int32_t *shortest; /* entries that follow from the edges */
    bool is_right;     /* the row of the batch at this index is proven */
};

struct zero_edge {
    uint32_t source;
    uint32_t target;
};

struct certificate {
    const struct certificate_request *request;
    const struct graph *graph;
    const struct matrix *matrix;
    bool is_quick;  /* rows are checked by one pass over the edges; a search only reports a wrong
                       entry */
    bool is_exact;  /* the matrix has integers, or decimals compared as scaled integers */
    double floor;   /* relative tolerance, 0 for integers */
    double epsilon; /* relative error of one addition */
    double least;   /* smallest normal number: smaller ones have a larger error */
    struct adjacency *adjacency;  /* edges of an undirected graph in both directions, or NULL */
    struct zero_edge *zero_edges; /* the edges of weight 0, for the faster check */
    uint64_t zero_count;
    struct search *searches; /* buffers, one struct per thread */
    uint32_t thread_count;
    uint32_t row_count;
    uint32_t first_row; /* index of the first row of the current batch */
};

/* Returns whether one pass over the edges can check a row, that is, whether the weights are
 * non-negative integers that are not too large. */
static bool has_quick_way(const struct certificate *certificate)
{
    const struct graph *graph = certificate->graph;
    return certificate->is_exact && graph->weight_type == WEIGHT_INTEGER &&
           graph->summary.distance_bound < GRAPH_BOUND_I4 && graph->edge_count > 0 &&
           graph->summary.min_weight >= 0 && graph->summary.max_weight < QUICK_WEIGHT_BELOW &&
           graph->summary.negative_loop == NO_VERTEX;
}

static enum status create_adjacency(struct certificate *certificate)
{
    return certificate->graph->directed || certificate->adjacency != NULL
               ? STATUS_OK
               : adjacency_create(certificate->graph, &certificate->adjacency);
}

static enum status list_zero_edges(struct certificate *certificate)
{
    const struct graph *graph = certificate->graph;
    /* The weights need not be read if none is 0, as in most graphs. */
    const uint64_t edge_count = graph->summary.min_weight > 0 ? 0 : graph->edge_count;
    uint64_t count = 0;
    for (uint64_t edge = 0; edge < edge_count; edge++) {
        count += graph->weight_i4[edge] == 0;
    }
    certificate->zero_edges = malloc((count + 1) * sizeof(*certificate->zero_edges));
    STATUS_TRY(certificate->zero_edges != NULL ? STATUS_OK : STATUS_NO_MEMORY);
    uint32_t row = 0;
    for (uint64_t edge = 0; certificate->zero_count < count; edge++) {
        if (graph->weight_i4[edge] == 0) {
            while (graph->row_offset[row + 1] <= edge) {
                row++;
            }
            certificate->zero_edges[certificate->zero_count++] =
                (struct zero_edge){row, graph->target[edge]};
        }
    }
    return STATUS_OK;
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
    certificate->is_quick = has_quick_way(certificate);
    certificate->searches = calloc(threads, sizeof(*certificate->searches));
    bool enough = certificate->searches != NULL;
    for (size_t i = 0; enough && i < threads; i++) {
        struct search *search = &certificate->searches[i];
        /* The first thread always needs a search, for rows that the quick check does not prove. */
        if (i == 0 || !certificate->is_quick) {
            search->reach = malloc(vertices * sizeof(*search->reach));
            search->queue = malloc(vertices * sizeof(*search->queue));
            enough = search->reach != NULL && search->queue != NULL;
        }
        if (certificate->is_quick) {
            search->shortest = malloc(vertices * sizeof(*search->shortest));
            enough = enough && search->shortest != NULL;
        }
        if (certificate->is_quick && kind != KIND_I4) {
            search->distance = malloc(vertices * sizeof(*search->distance));
            enough = enough && search->distance != NULL;
        }
        search->row = malloc(vertices * sizeof(*search->row));
        enough = enough && search->row != NULL;
    }
    if (!enough) {
        return STATUS_NO_MEMORY;
    }
    return certificate->is_quick ? list_zero_edges(certificate) : create_adjacency(certificate);
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
    free(certificate->zero_edges);
    adjacency_destroy(certificate->adjacency);
}

static double tolerance_of(const struct certificate *certificate, uint32_t hops, double magnitude)
{
    const double relative = fmax(certificate->floor, certificate->epsilon * hops);
    return relative > 0 ? relative * (magnitude + certificate->least) : 0;
}

/* Follows one edge. While searching, marks the target as reached if the edge is tight, and returns
 * false when all finite entries are reached. When not searching, returns false if the edge shortens
 * the entry of its target. The comparison is written so that a NaN also returns false. */
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

/* Sets the problem for a wrong entry. why: second half of the sentence, which gives the reason. */
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

/* Returns the place of a row. index: position among the rows to prove. */
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

/* Relaxes an edge of weight 0. Returns whether an entry changed. */
static bool carry_zero(int32_t *shortest, uint32_t from, uint32_t to)
{
    const bool shortens = shortest[from] < shortest[to];
    shortest[to] = shortens ? shortest[from] : shortest[to];
    return shortens;
}

static bool carry_zeros(const struct certificate *certificate, int32_t *shortest)
{
    bool changed = false;
    for (uint64_t i = 0; i < certificate->zero_count; i++) {
        const struct zero_edge *edge = &certificate->zero_edges[i];
        changed |= carry_zero(shortest, edge->source, edge->target);
        changed |=
            !certificate->graph->directed && carry_zero(shortest, edge->target, edge->source);
    }
    return changed;
}

static inline void relax_entry(int32_t *to, int32_t from, int32_t weight)
{
    const int32_t distance = from + weight;
    *to = distance < *to ? distance : *to;
}

/* Applies Bellman's equation: relaxes each edge of positive weight once, from the entries of the
 * matrix. */
static void relax_edges(const struct graph *graph, const int32_t *restrict distance,
                        int32_t *restrict shortest)
{
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const uint32_t target = graph->target[edge];
            const int32_t weight = graph->weight_i4[edge];
            if (weight == 0) {
                continue;
            }
            relax_entry(&shortest[target], distance[row], weight);
            if (!graph->directed) {
                relax_entry(&shortest[row], distance[target], weight);
            }
        }
    }
}

/* Converts an entry to an integer, or -1 if it is not a distance. UNREACHABLE_I4 exceeds every sum
 * of a distance and a weight. */
static inline int32_t entry_of(double number)
{
    return number >= 0 && number < UNREACHABLE_I4 ? (int32_t)number
           : number == INFINITY                   ? UNREACHABLE_I4
                                                  : -1;
}

/* Checks a row by one pass over the edges. Returns whether it is correct. */
static bool check_quickly(const struct certificate *certificate, const struct search *search,
                          struct row_place place)
{
    const struct graph *graph = certificate->graph;
    const struct matrix *matrix = certificate->matrix;
    const uint32_t n = graph->vertex_count;
    const bool is_integer = matrix->kind == KIND_I4;
    const int32_t *distance =
        is_integer ? (const int32_t *)matrix->elements + (size_t)place.row * n : search->distance;
    int32_t *const shortest = search->shortest;
    bool is_sound = true;
    if (!is_integer) {
        read_row(certificate, search, place.row);
    }
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        if (!is_integer) {
            search->distance[vertex] = entry_of(search->row[vertex]);
        }
        shortest[vertex] = UNREACHABLE_I4;
        is_sound &= distance[vertex] >= 0 && distance[vertex] <= UNREACHABLE_I4;
    }
    if (!is_sound || distance[place.source] != 0) {
        return false;
    }
    relax_edges(graph, distance, shortest);
    /* Bellman's equation does not apply to the source, whose entry is 0. */
    shortest[place.source] = 0;
    bool changes = certificate->zero_count > 0;
    for (int pass = 0; changes && pass < ZERO_PASSES_MAX; pass++) {
        changes = carry_zeros(certificate, shortest);
    }
    return !changes && memcmp(distance, shortest, n * sizeof(*distance)) == 0;
}

/* Checks one row. At most thread_count rows are checked at once, so the index of a task is also an
 * index of searches. */
static void check_task(void *context, uint32_t thread, uint64_t task)
{
    struct certificate *certificate = context;
    struct search *search = &certificate->searches[thread];
    const struct row_place place = place_of(certificate, certificate->first_row + (uint32_t)task);
    certificate->searches[task].is_right =
        certificate->is_quick ? check_quickly(certificate, search, place)
                              : check_row(certificate, search, place, NULL) == STATUS_OK;
}

/* Checks a row by a search after the quick check has failed, to report the wrong entry. */
static enum status check_again(struct certificate *certificate, uint32_t index,
                               struct problem *reterr)
{
    STATUS_TRY(create_adjacency(certificate));
    return check_row(certificate, &certificate->searches[0], place_of(certificate, index), reterr);
}

/* Checks the next rows, one per thread. */
static enum status check_next(struct certificate *certificate, struct problem *reterr)
{
    const uint32_t first = certificate->first_row;
    const uint32_t left = certificate->row_count - first;
    const uint32_t rows = left < certificate->thread_count ? left : certificate->thread_count;
    cpu_pool_run(certificate->request->pool, rows, check_task, certificate);
    for (uint32_t i = 0; i < rows; i++) {
        if (!certificate->searches[i].is_right) {
            STATUS_TRY(check_again(certificate, first + i, reterr));
        }
    }
    certificate->first_row = first + rows;
    return STATUS_OK;
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
                                   "The solve was cancelled while its distances were verified.")
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
