#include "proto/path.h"

#include "proto/verification.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The relative error allowed for a tight edge, in units of the rounding error of an addition. After
 * a failed search the allowed error is multiplied by WIDER and the search is repeated, up to the
 * tolerance of verification.h. This is needed for negative weights: a distance may then be the sum
 * of much larger numbers, with larger rounding errors than the result. */
#define FIRST_GAP 8
#define WIDER 32
#define UNTRIED UINT64_MAX

struct path_finder {
    const struct adjacency *adjacency;
    uint32_t *mark; /* by vertex: number of the last search that entered the vertex */
    uint32_t search;
    uint32_t *vertices; /* stack of vertices, from the target back */
    double *weights;    /* weights[i]: weight of the edge from vertices[i + 1] to vertices[i] */
    uint64_t *cursors;  /* cursors[i]: next edge into vertices[i] to try; UNTRIED: none was tried */
    uint32_t count;
    uint64_t edges; /* number of edges examined in this query */
};

struct walk {
    struct path_finder *finder;
    enum kind kind;
    const void *row; /* distances from the source */
    uint32_t source;
    double gap; /* relative error allowed for a tight edge; 0 = exact */
};

/* A possible last edge of a shortest path. */
struct candidate {
    uint32_t source;
    double weight;
    double distance; /* distance of the edge's source */
    double excess;   /* |distance + weight - distance of the target| */
};

enum status path_finder_create(const struct adjacency *adjacency, struct path_finder **ret_finder)
{
    struct path_finder *finder = calloc(1, sizeof(*finder));

    if (finder == NULL) {
        return STATUS_NO_MEMORY;
    }
    /* A path has each vertex at most once. Memory beyond the longest path is never touched. */
    const size_t count = (size_t)adjacency->vertex_count + 1;
    finder->adjacency = adjacency;
    finder->mark = calloc(count, sizeof(*finder->mark));
    finder->vertices = malloc(count * sizeof(*finder->vertices));
    finder->weights = malloc(count * sizeof(*finder->weights));
    finder->cursors = malloc(count * sizeof(*finder->cursors));
    if (finder->mark == NULL || finder->vertices == NULL || finder->weights == NULL ||
        finder->cursors == NULL) {
        path_finder_destroy(finder);
        return STATUS_NO_MEMORY;
    }
    *ret_finder = finder;
    return STATUS_OK;
}

void path_finder_destroy(struct path_finder *finder)
{
    if (finder == NULL) {
        return;
    }
    free(finder->mark);
    free(finder->vertices);
    free(finder->weights);
    free(finder->cursors);
    free(finder);
}

static void enter_vertex(struct path_finder *finder, uint32_t vertex)
{
    finder->mark[vertex] = finder->search;
    finder->cursors[finder->count] = UNTRIED;
    finder->vertices[finder->count++] = vertex;
}

static bool is_better(const struct walk *walk, const struct candidate *a, const struct candidate *b)
{
    if (a->excess < b->excess || a->excess > b->excess) {
        return a->excess < b->excess;
    }
    if (a->distance < b->distance || a->distance > b->distance) {
        return a->distance < b->distance;
    }
    return a->source == walk->source && b->source != walk->source;
}

/* Returns whether the edge is tight and its source has not been entered. distance: the distance of
 * the edge's target. */
static bool is_tight(const struct walk *walk, uint64_t edge, double distance,
                     struct candidate *ret_step)
{
    const struct path_finder *finder = walk->finder;
    const struct adjacency *adjacency = finder->adjacency;
    const uint32_t source = adjacency->source[edge];
    struct candidate step = {source, adjacency_weight(adjacency, edge),
                             kind_element(walk->kind, walk->row, source), 0};

    if (finder->mark[source] == finder->search || isinf(step.distance)) {
        return false;
    }
    step.excess = fabs(step.distance + step.weight - distance);
    *ret_step = step;
    return step.excess <= walk->gap * (fabs(step.distance) + fabs(step.weight) + fabs(distance));
}

/* Finds the tight edge with the least excess into the vertex, from a vertex not yet entered. After
 * a dead end, finds the next tight edge in order. So an edge is examined at most twice. */
static bool find_step(const struct walk *walk, uint32_t vertex, double distance,
                      struct candidate *ret_best)
{
    struct path_finder *finder = walk->finder;
    uint64_t *cursor = &finder->cursors[finder->count - 1];
    const bool first = *cursor == UNTRIED;
    const uint64_t start = first ? finder->adjacency->offset[vertex] : *cursor;
    const uint64_t end = finder->adjacency->offset[vertex + 1];
    bool found = false;
    uint64_t edge;

    for (edge = start; edge < end && (first || !found); edge++) {
        struct candidate step;

        if (is_tight(walk, edge, distance, &step) && (!found || is_better(walk, &step, ret_best))) {
            *ret_best = step;
            found = true;
        }
    }
    finder->edges += edge - start;
    *cursor = first && found ? start : edge;
    return found;
}

/* Searches depth-first from the target. STATUS_CORRUPT if no path of tight edges leads to the
 * source. */
static enum status search_backwards(const struct walk *walk, uint32_t target)
{
    struct path_finder *finder = walk->finder;

    if (++finder->search == 0) {
        memset(finder->mark, 0, finder->adjacency->vertex_count * sizeof(*finder->mark));
        finder->search = 1;
    }
    finder->count = 0;
    enter_vertex(finder, target);
    while (finder->count > 0) {
        const uint32_t vertex = finder->vertices[finder->count - 1];
        struct candidate step = {0};

        if (vertex == walk->source) {
            return STATUS_OK;
        }
        if (find_step(walk, vertex, kind_element(walk->kind, walk->row, vertex), &step)) {
            finder->weights[finder->count - 1] = step.weight;
            enter_vertex(finder, step.source);
        } else {
            finder->count--;
        }
    }
    return STATUS_CORRUPT;
}

static void reverse_path(struct path_finder *finder)
{
    for (uint32_t i = 0, j = finder->count - 1; i < j; i++, j--) {
        const uint32_t vertex = finder->vertices[i];
        const double weight = finder->weights[i];

        finder->vertices[i] = finder->vertices[j];
        finder->vertices[j] = vertex;
        finder->weights[i] = finder->weights[j - 1];
        finder->weights[j - 1] = weight;
    }
}

/* Returns whether the weights of the path, added from the source on, equal the distance within the
 * tolerance. Tight edges do not ensure this, because the small errors of many edges may add up. */
static bool adds_up(const struct path_finder *finder, enum kind kind, double distance)
{
    double magnitude = fabs(distance);
    double sum = 0;

    for (uint32_t i = 0; i + 1 < finder->count; i++) {
        sum += finder->weights[i];
        magnitude += fabs(finder->weights[i]);
    }
    const double rounding = verification_epsilon(kind) * (double)finder->count;

    return fabs(sum - distance) <= fmax(verification_tolerance(kind), rounding) * magnitude;
}

enum status path_find(struct path_finder *finder, enum kind kind, const void *row, uint32_t source,
                      uint32_t target, struct path *ret_path)
{
    struct walk walk = {
        .finder = finder,
        .kind = kind,
        .row = row,
        .source = source,
        .gap = FIRST_GAP * verification_epsilon(kind),
    };
    const double widest = verification_tolerance(kind);
    const double distance = kind_element(kind, row, target);

    finder->edges = 0;
    if (isinf(distance)) {
        *ret_path = (struct path){0};
        return STATUS_OK;
    }
    enum status status = search_backwards(&walk, target);
    while (status == STATUS_CORRUPT && walk.gap < widest) {
        walk.gap = fmin(walk.gap * WIDER, widest);
        status = search_backwards(&walk, target);
    }
    STATUS_TRY(status);
    reverse_path(finder);
    if (!adds_up(finder, kind, distance)) {
        return STATUS_CORRUPT;
    }
    *ret_path = (struct path){finder->vertices, finder->weights, finder->count, finder->edges};
    return STATUS_OK;
}
