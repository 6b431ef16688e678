/* Floats: a distance is a sum of at most h rounded weights, every partial sum at most the sum of
 * their magnitudes M (path magnitude), so it is off by at most h epsilon M (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., section 4.2). h and M are taken from the tight path
 * that the search finds; as another path may have been summed up, no tolerance is below
 * that of proto/verification.h, and no magnitude below the least that is rounded like others.
 * Integers are compared exactly. */
#include "server/solver/certificate.h"

#include "proto/check.h"
#include "server/solver/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The ways into each vertex that the graph does not store in its row: of undirected edges. */
struct way_back {
    uint64_t *offset; /* vertex_count + 1; NULL for a directed graph */
    uint64_t *edge;
    uint32_t *source;
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
    size_t
        finite; /* entries of the row that say reachable: when all are reached, the search ends */
    uint32_t source;
    uint32_t wrong; /* target that a visit objected to */
};

static void finish(struct certificate *certificate)
{
    free(certificate->back.offset);
    free(certificate->back.edge);
    free(certificate->back.source);
    free(certificate->reach);
    free(certificate->queue);
}

/* Counting sort of the edges by target. */
static void sort_ways_back(const struct graph *graph, struct way_back *back)
{
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
}

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
    sort_ways_back(graph, back);
    memmove(back->offset, back->offset + 1, vertices * sizeof(*back->offset));
    back->offset[vertices] = graph->edge_count;
    return STATUS_OK;
}

static enum status init(struct certificate *certificate)
{
    const size_t vertices = certificate->graph->vertex_count;
    certificate->reach = calloc(vertices, sizeof(*certificate->reach));
    certificate->queue = calloc(vertices, sizeof(*certificate->queue));
    if (certificate->reach == NULL || certificate->queue == NULL) {
        return STATUS_NO_MEMORY;
    }
    certificate->floor = verification_tolerance(certificate->matrix->kind);
    certificate->epsilon = verification_epsilon(certificate->matrix->kind);
    certificate->least = verification_least(certificate->matrix->kind);
    return certificate->graph->directed ? STATUS_OK
                                        : create_ways_back(certificate->graph, &certificate->back);
}

static double tolerance(const struct certificate *certificate, uint32_t hops, double magnitude)
{
    const double relative = fmax(certificate->floor, certificate->epsilon * hops);
    return relative > 0 ? relative * (magnitude + certificate->least) : 0;
}

/* An edge out of a vertex, whichever way it is stored. */
struct step {
    uint32_t from;
    uint32_t to;
    double weight;
};

/* Calls visit for each edge out of `from`; false as soon as visit said so. */
static bool visit_edges(struct certificate *certificate, uint32_t from,
                        bool (*visit)(struct certificate *certificate, struct step step))
{
    const struct graph *graph = certificate->graph;
    const struct way_back *back = &certificate->back;
    for (uint64_t edge = graph->row_offset[from]; edge < graph->row_offset[from + 1]; edge++) {
        if (!visit(certificate,
                   (struct step){from, graph->target[edge], graph_weight(graph, edge)})) {
            return false;
        }
    }
    if (back->offset == NULL) {
        return true;
    }
    for (uint64_t place = back->offset[from]; place < back->offset[from + 1]; place++) {
        if (!visit(certificate, (struct step){from, back->source[place],
                                              graph_weight(graph, back->edge[place])})) {
            return false;
        }
    }
    return true;
}

static void load_row(struct certificate *certificate)
{
    certificate->finite = 0;
    for (uint32_t vertex = 0; vertex < certificate->graph->vertex_count; vertex++) {
        struct reach *reach = &certificate->reach[vertex];
        *reach = (struct reach){.distance = INFINITY};
        if (!matrix_distance(certificate->matrix, certificate->source, vertex, &reach->distance)) {
            reach->distance = INFINITY;
        }
        certificate->finite += reach->distance != INFINITY;
    }
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

/* Enters the search by a tight edge; false when nothing is left to be found. */
static bool follow_tight(struct certificate *certificate, struct step step)
{
    const struct reach *from = &certificate->reach[step.from];
    struct reach *to = &certificate->reach[step.to];
    if (to->reached) {
        return true;
    }
    const uint32_t hops = from->hops + 1;
    const double magnitude = from->magnitude + fabs(step.weight);
    const double gap = fabs(from->distance + step.weight - to->distance);
    if (gap <= tolerance(certificate, hops, magnitude)) {
        to->reached = true;
        to->hops = hops;
        to->magnitude = magnitude;
        certificate->queue[certificate->queue_length++] = step.to;
    }
    return certificate->queue_length < certificate->finite;
}

static void search(struct certificate *certificate)
{
    certificate->queue[0] = certificate->source;
    certificate->queue_length = 1;
    certificate->reach[certificate->source].reached = true;
    bool more = true;
    for (size_t next = 0; more && next < certificate->queue_length; next++) {
        more = visit_edges(certificate, certificate->queue[next], follow_tight);
    }
}

/* False when the edge is a way to its target shorter than the matrix has. Written so that a NaN is
 * an objection too. */
static bool object_shorter(struct certificate *certificate, struct step step)
{
    const struct reach *from = &certificate->reach[step.from];
    const double magnitude = from->magnitude + fabs(step.weight);
    const double longest =
        from->distance + step.weight + tolerance(certificate, from->hops + 1, magnitude);
    if (certificate->reach[step.to].distance <= longest) {
        return true;
    }
    certificate->wrong = step.to;
    return false;
}

static enum status check_row(struct certificate *certificate, uint32_t source)
{
    certificate->source = source;
    load_row(certificate);
    if (!(certificate->reach[source].distance == 0)) {
        return refuse(certificate, source, "a vertex is at distance 0 from itself");
    }
    search(certificate);
    const uint32_t vertices = certificate->graph->vertex_count;
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        const struct reach *reach = &certificate->reach[vertex];
        if (!reach->reached && reach->distance != INFINITY) {
            return refuse(certificate, vertex, "no path has this length");
        }
    }
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        if (certificate->reach[vertex].reached &&
            !visit_edges(certificate, vertex, object_shorter)) {
            return refuse(certificate, certificate->wrong, "there is a shorter path");
        }
    }
    return STATUS_OK;
}

/* The rows that are checked: those listed, or spread evenly, verification_row; of these the ones
 * from first to before end. */
struct row_choice {
    const uint32_t *list; /* NULL: none */
    uint32_t vertices;
    uint32_t rows;
    uint32_t first;
    uint32_t end;
};

static uint32_t row_of(const struct row_choice *choice, uint32_t index)
{
    return choice->list != NULL ? choice->list[index]
                                : verification_row(choice->vertices, choice->rows, index);
}

/* Rows [first, first + count) of the choice: together when that is possible and right, else one by
 * one, which also says what is wrong. batch may be NULL. */
static enum status check_group(struct certificate *certificate, struct certificate_batch *batch,
                               const struct row_choice *choice, uint32_t first, uint32_t count)
{
    uint32_t sources[CERTIFICATE_BATCH_ROWS];
    for (uint32_t index = 0; index < count; index++) {
        sources[index] = row_of(choice, first + index);
    }
    if (batch != NULL && certificate_batch_check(batch, sources, count)) {
        return STATUS_OK;
    }
    for (uint32_t index = 0; index < count; index++) {
        const enum status status = check_row(certificate, sources[index]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status check_rows(struct certificate *certificate, struct certificate_batch *batch,
                              const struct row_choice *choice, const struct observer *observer)
{
    const uint32_t group = batch != NULL ? CERTIFICATE_BATCH_ROWS : 1;
    for (uint64_t first = choice->first; first < choice->end; first += group) {
        const uint32_t left = choice->end - (uint32_t)first;
        if (observer != NULL && observer->cancelled(observer->context)) {
            return problem_set(certificate->reterr, STATUS_CANCELLED,
                               "Cancelled while the distances were verified.");
        }
        const enum status status =
            check_group(certificate, batch, choice, (uint32_t)first, left < group ? left : group);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status check_matrix(struct certificate *certificate, const struct row_choice *choice,
                                const struct observer *observer)
{
    const struct graph *graph = certificate->graph;
    const struct matrix *matrix = certificate->matrix;
    struct certificate_batch *batch = NULL;
    enum status status = init(certificate);
    if (status == STATUS_OK && certificate_batch_applies(graph, matrix)) {
        status = certificate_batch_create(graph, matrix, &batch);
    }
    if (status == STATUS_OK) {
        status = check_rows(certificate, batch, choice, observer);
    } else {
        problem_set(certificate->reterr, status,
                    "There is not enough memory to verify the distances.");
    }
    certificate_batch_destroy(batch);
    finish(certificate);
    return status;
}

static enum status check(const struct graph *graph, const struct matrix *matrix,
                         const struct row_choice *choice, const struct observer *observer,
                         struct verification *ret_verification, struct problem *reterr)
{
    CHECK(graph->vertex_count == matrix->vertex_count);
    const double begin_s = stopwatch_now_s();
    struct certificate certificate = {.graph = graph, .matrix = matrix, .reterr = reterr};
    const enum status status =
        graph->vertex_count > 0 ? check_matrix(&certificate, choice, observer) : STATUS_OK;
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
    const uint32_t vertices = graph->vertex_count;
    const uint32_t rows = row_count < vertices ? row_count : vertices;
    const struct row_choice choice = {NULL, vertices, rows, 0, rows};
    return check(graph, matrix, &choice, observer, ret_verification, reterr);
}

enum status certificate_check_rows(const struct graph *graph, const struct matrix *matrix,
                                   const uint32_t *rows, uint32_t row_count,
                                   const struct observer *observer,
                                   struct verification *ret_verification, struct problem *reterr)
{
    const struct row_choice choice = {rows, graph->vertex_count, row_count, 0, row_count};
    return check(graph, matrix, &choice, observer, ret_verification, reterr);
}

enum status certificate_resume(const struct graph *graph, const struct matrix *matrix,
                               uint32_t row_limit, const struct observer *observer,
                               struct verification *verification, struct problem *reterr)
{
    CHECK(verification->on_device && verification->proven < verification->rows);
    const uint32_t rows = (uint32_t)verification->rows;
    const uint32_t first = (uint32_t)verification->proven;
    const struct row_choice choice = {NULL, graph->vertex_count, rows, first,
                                      rows - first < row_limit ? rows : first + row_limit};
    return check(graph, matrix, &choice, observer, verification, reterr);
}
