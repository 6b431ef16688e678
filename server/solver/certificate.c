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
 * matrix says, so that a cycle of them has no entry of its own either. */
#include "server/solver/certificate.h"

#include "server/solver/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that travel together: one cache line of int32 per vertex; fewer than the least take longer
 * so than one by one. */
#define BATCH_ROWS 16
#define BATCH_ROWS_MIN 8
/* So many passes over the edges of weight 0 at most: one for each edge of a path of them. */
#define BATCH_ZERO_PASSES 64
/* A weight below this added to any entry that is looked at stays within an int32. */
#define BATCH_WEIGHT_BELOW (1 << 29)

#define BATCH_ALIGNMENT 64
#define FOR_EACH_WIDTH inline __attribute__((always_inline))

/* The ways into each vertex that the graph does not store in its row: of undirected edges. */
struct way_back {
    uint64_t *offset; /* vertex_count + 1; NULL for a directed graph */
    uint64_t *edge;
    uint32_t *source;
};

struct zero_edge {
    uint32_t from;
    uint32_t to;
};

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
    double floor;   /* relative tolerance, 0 for integers */
    double epsilon; /* relative error of one addition */
    double least;   /* magnitude that has these */
    struct way_back back;
    struct reach *reach;
    uint32_t *queue; /* of the search: each vertex enters once */
    size_t queue_length;
    /* Entries of the row that say reachable: when all are reached, the search ends. */
    size_t finite;
    uint32_t source;
    bool searching;          /* for a tight path, else for an edge that shortens an entry */
    uint32_t wrong;          /* target of such an edge */
    uint32_t width;          /* rows of a batch: BATCH_ROWS, or 1 */
    int32_t *distance;       /* by vertex, then row: what the matrix says; NULL where no batch is
                                possible, */
    int32_t *shortest;       /* and what the edges say */
    struct zero_edge *zeros; /* of a batch: the edges of weight 0 */
    size_t zero_count;
};

/* After the sort offset[v + 1] is where v begins: one to the left gives the usual form. */
static enum status create_ways_back(const struct graph *graph, struct way_back *back)
{
    const size_t vertices = graph->vertex_count;
    const size_t edges = graph->edge_count > 0 ? graph->edge_count : 1;
    back->offset = calloc(vertices + 1, sizeof(*back->offset));
    back->edge = calloc(edges, sizeof(*back->edge));
    back->source = calloc(edges, sizeof(*back->source));
    if (back->offset == NULL || back->edge == NULL || back->source == NULL) {
        return STATUS_NO_MEMORY;
    }
    /* A counting sort of the edges by target. */
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        ++back->offset[graph->target[edge] + 1];
    }
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        back->offset[vertex + 1] += back->offset[vertex];
    }
    for (uint32_t row = graph->vertex_count; row-- > 0;) {
        for (uint64_t edge = graph->row_offset[row + 1]; edge-- > graph->row_offset[row];) {
            const uint64_t place = --back->offset[graph->target[edge] + 1];
            back->edge[place] = edge;
            back->source[place] = row;
        }
    }
    memmove(back->offset, back->offset + 1, vertices * sizeof(*back->offset));
    back->offset[vertices] = graph->edge_count;
    return STATUS_OK;
}

static enum status list_zeros(struct certificate *certificate)
{
    const struct graph *graph = certificate->graph;
    size_t count = 0;
    uint32_t row = 0;
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        count += graph->weight_i4[edge] == 0;
    }
    certificate->zeros = malloc((count + 1) * sizeof(*certificate->zeros));
    if (certificate->zeros == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t edge = 0; certificate->zero_count < count; edge++) {
        if (graph->weight_i4[edge] == 0) {
            while (graph->row_offset[row + 1] <= edge) {
                row++;
            }
            const struct zero_edge zero = {row, graph->target[edge]};
            certificate->zeros[certificate->zero_count++] = zero;
        }
    }
    return STATUS_OK;
}

static enum status init(struct certificate *certificate)
{
    const struct graph *graph = certificate->graph;
    const enum kind kind = certificate->matrix->kind;
    const size_t vertices = graph->vertex_count;
    certificate->floor = verification_tolerance(kind);
    certificate->epsilon = verification_epsilon(kind);
    certificate->least = verification_least(kind);
    certificate->reach = calloc(vertices, sizeof(*certificate->reach));
    certificate->queue = calloc(vertices, sizeof(*certificate->queue));
    if (certificate->reach == NULL || certificate->queue == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (!kind_is_float(kind) && graph->weight_type == WEIGHT_INTEGER && graph->edge_count > 0 &&
        graph->summary.min_weight >= 0 && graph->summary.max_weight < BATCH_WEIGHT_BELOW &&
        graph->summary.negative_loop == NO_VERTEX) {
        const size_t lines = vertices * certificate->width * sizeof(int32_t) / BATCH_ALIGNMENT + 1;
        certificate->distance = aligned_alloc(BATCH_ALIGNMENT, lines * BATCH_ALIGNMENT);
        certificate->shortest = aligned_alloc(BATCH_ALIGNMENT, lines * BATCH_ALIGNMENT);
        if (certificate->distance == NULL || certificate->shortest == NULL ||
            list_zeros(certificate) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
    }
    return graph->directed ? STATUS_OK : create_ways_back(graph, &certificate->back);
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

/* Takes each edge out of a vertex, whichever way it is stored; false as soon as take_edge says so.
 */
static bool take_edges(struct certificate *certificate, uint32_t from)
{
    const struct graph *graph = certificate->graph;
    const struct way_back *back = &certificate->back;
    for (uint64_t edge = graph->row_offset[from]; edge < graph->row_offset[from + 1]; edge++) {
        if (!take_edge(certificate, from, graph->target[edge], graph_weight(graph, edge))) {
            return false;
        }
    }
    if (back->offset == NULL) {
        return true;
    }
    for (uint64_t place = back->offset[from]; place < back->offset[from + 1]; place++) {
        if (!take_edge(certificate, from, back->source[place],
                       graph_weight(graph, back->edge[place]))) {
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

/* The width is a constant where these are used, so that all lanes are one vector. */
static FOR_EACH_WIDTH void relax(int32_t *restrict to, const int32_t *restrict from, int32_t weight,
                                 uint32_t width)
{
    for (uint32_t lane = 0; lane < width; lane++) {
        const int32_t distance = from[lane] + weight;
        to[lane] = distance < to[lane] ? distance : to[lane];
    }
}

/* Whether the target has changed. */
static FOR_EACH_WIDTH bool pass_on(int32_t *restrict to, const int32_t *restrict from,
                                   uint32_t width)
{
    int32_t changed = 0;
    for (uint32_t lane = 0; lane < width; lane++) {
        changed |= from[lane] < to[lane];
        to[lane] = from[lane] < to[lane] ? from[lane] : to[lane];
    }
    return changed != 0;
}

/* Carries what the edges say along those of weight 0. False when it takes too many passes. */
static FOR_EACH_WIDTH bool pass_along_zeros(const struct certificate *certificate, uint32_t width)
{
    int32_t *const shortest = certificate->shortest;
    bool changed = certificate->zero_count > 0;
    for (int pass = 0; changed && pass < BATCH_ZERO_PASSES; pass++) {
        changed = false;
        for (size_t i = 0; i < certificate->zero_count; i++) {
            int32_t *const from = shortest + (size_t)certificate->zeros[i].from * width;
            int32_t *const to = shortest + (size_t)certificate->zeros[i].to * width;
            changed |= pass_on(to, from, width);
            if (!certificate->graph->directed) {
                changed |= pass_on(from, to, width);
            }
        }
    }
    return !changed;
}

/* Bellman's equation: the entries by way of the last edge, from those that the matrix has. */
static FOR_EACH_WIDTH void relax_edges(const struct certificate *certificate, uint32_t width)
{
    const struct graph *graph = certificate->graph;
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        const size_t own = (size_t)row * width;
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const size_t other = (size_t)graph->target[edge] * width;
            const int32_t weight = graph->weight_i4[edge];
            if (weight == 0) {
                continue;
            }
            relax(certificate->shortest + other, certificate->distance + own, weight, width);
            if (!graph->directed) {
                relax(certificate->shortest + own, certificate->distance + other, weight, width);
            }
        }
    }
}

/* Takes a row of the matrix as one of the batch. False where no distance can be what it says. */
static FOR_EACH_WIDTH bool take_row(const struct certificate *certificate, uint32_t row,
                                    uint32_t lane, uint32_t width)
{
    const struct matrix *matrix = certificate->matrix;
    const uint32_t n = matrix->vertex_count;
    const void *elements = matrix->elements;
    int32_t *const distance = certificate->distance + lane;
    int32_t *const shortest = certificate->shortest + lane;
    bool is_sound = true;
    if (matrix->kind == KIND_U2) {
        const uint16_t *entry = (const uint16_t *)elements + (size_t)row * n;
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            distance[(size_t)vertex * width] =
                entry[vertex] == UNREACHABLE_U2 ? UNREACHABLE_I4 : entry[vertex];
        }
    } else {
        const int32_t *entry = (const int32_t *)elements + (size_t)row * n;
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            distance[(size_t)vertex * width] = entry[vertex];
            is_sound &= entry[vertex] >= 0 && entry[vertex] <= UNREACHABLE_I4;
        }
    }
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        shortest[(size_t)vertex * width] = UNREACHABLE_I4;
    }
    return is_sound;
}

/* True when all of these rows are right. */
static FOR_EACH_WIDTH bool check_width(const struct certificate *certificate,
                                       const uint32_t *sources, const uint32_t *rows,
                                       uint32_t width)
{
    const uint32_t n = certificate->graph->vertex_count;
    int32_t *const distance = certificate->distance;
    int32_t *const shortest = certificate->shortest;
    for (uint32_t lane = 0; lane < width; lane++) {
        if (!take_row(certificate, rows[lane], lane, width) ||
            distance[(size_t)sources[lane] * width + lane] != 0) {
            return false;
        }
    }
    relax_edges(certificate, width);
    for (uint32_t lane = 0; lane < width; lane++) {
        /* The equation does not hold for a source. */
        shortest[(size_t)sources[lane] * width + lane] = 0;
    }
    if (!pass_along_zeros(certificate, width)) {
        return false;
    }
    /* Without a branch, so that all lanes are compared at once. */
    int32_t differing = 0;
    for (size_t i = 0; i < (size_t)n * width; i++) {
        differing |= distance[i] ^ shortest[i];
    }
    return differing == 0;
}

static bool check_batch(const struct certificate *certificate, const uint32_t *sources,
                        const uint32_t *rows)
{
    return certificate->width == 1 ? check_width(certificate, sources, rows, 1)
                                   : check_width(certificate, sources, rows, BATCH_ROWS);
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
                         const struct row_choice *choice, const struct observer *observer,
                         struct verification *ret_verification, struct problem *reterr)
{
    CHECK(graph->vertex_count == matrix->vertex_count);
    const double begin_s = stopwatch_now_s();
    const uint32_t count = choice->end - choice->first;
    struct certificate certificate = {.graph = graph,
                                      .matrix = matrix,
                                      .reterr = reterr,
                                      .width = count < BATCH_ROWS_MIN ? 1 : BATCH_ROWS};
    enum status status = graph->vertex_count > 0 ? init(&certificate) : STATUS_OK;
    if (status != STATUS_OK) {
        problem_set(reterr, status, "There is not enough memory to verify the distances.");
    }
    const uint32_t together = certificate.distance != NULL ? certificate.width : 1;
    for (uint64_t first = choice->first; status == STATUS_OK && first < choice->end;
         first += together) {
        uint32_t sources[BATCH_ROWS];
        uint32_t rows[BATCH_ROWS];
        const uint32_t left = choice->end - (uint32_t)first;
        for (uint32_t place = 0; place < together; place++) {
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
        } else if (certificate.distance == NULL || !check_batch(&certificate, sources, rows)) {
            for (uint32_t place = 0; status == STATUS_OK && place < together; place++) {
                status = check_row(&certificate, sources[place], rows[place]);
            }
        }
    }
    free(certificate.back.offset);
    free(certificate.back.edge);
    free(certificate.back.source);
    free(certificate.reach);
    free(certificate.queue);
    free(certificate.distance);
    free(certificate.shortest);
    free(certificate.zeros);
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
    return check(graph, matrix, &choice, observer, ret_verification, reterr);
}

enum status certificate_check_rows(const struct graph *graph, const struct matrix *matrix,
                                   const uint32_t *rows, uint32_t row_count,
                                   const struct observer *observer,
                                   struct verification *ret_verification, struct problem *reterr)
{
    const struct row_choice choice = {rows, false, row_count, 0, row_count};
    return check(graph, matrix, &choice, observer, ret_verification, reterr);
}

enum status certificate_check_packed(const struct graph *graph, const struct matrix *matrix,
                                     const uint32_t *rows, uint32_t row_count,
                                     const struct observer *observer,
                                     struct verification *ret_verification, struct problem *reterr)
{
    const struct row_choice choice = {rows, true, row_count, 0, row_count};
    return check(graph, matrix, &choice, observer, ret_verification, reterr);
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
    return check(graph, matrix, &choice, observer, verification, reterr);
}
