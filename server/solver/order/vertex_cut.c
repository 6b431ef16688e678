/* A path crosses each vertex of the band at most once, so each vertex has two states: state 2 * i
 * is the entrance of vertex i of the band, and state 2 * i + 1 is its exit. */
#include "server/solver/order/vertex_cut.h"

#include "server/solver/order/separator.h"

#include <stdlib.h>
#include <string.h>

/* Sparse graphs need about four searches. In a dense band, each search may add only one path. */
#define SEARCHES_MAX 24

#define NOT_REACHED (-1)
#define START (-2) /* the first side, where all paths start */

struct search {
    const struct band *band;
    const int32_t *side;
    int32_t *next;   /* band vertex -> the next state after its entrance: the exit of the previous
                      * vertex on its path; START for the first vertex of a path; its own exit if it
                      * is on no path */
    int32_t *parent; /* state -> state from which the search reached it, START, or NOT_REACHED */
    int32_t *root;   /* state -> entrance at which its branch started; NOT_REACHED for such an
                      * entrance once its branch has added a path */
    int32_t *queue;  /* states */
    uint32_t queued;
};

static void reach(struct search *search, int32_t state, int32_t parent)
{
    if (search->parent[state] == NOT_REACHED) {
        search->parent[state] = parent;
        search->root[state] = parent == START ? state : search->root[parent];
        search->queue[search->queued++] = state;
    }
}

/* Adds the path that ends with this state, and redirects the paths that it meets. An augmenting
 * path changes only arcs between its own states, and each state belongs to one branch, so other
 * branches remain valid. */
static void add_path(struct search *search, int32_t state)
{
    search->root[search->root[state]] = NOT_REACHED;
    while (state != START) {
        const int32_t parent = search->parent[state];
        if (state % 2 == 0) {
            search->next[state / 2] = parent;
        }
        state = parent;
    }
}

static bool has_neighbour_on(const struct search *search, uint32_t vertex, enum side side)
{
    const struct pattern *pattern = search->band->pattern;
    bool found = false;
    for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1] && !found; e++) {
        found = search->side[pattern->target[e]] == (int32_t)side;
    }
    return found;
}

static void leave_vertex(struct search *search, int32_t state)
{
    const struct pattern *pattern = search->band->pattern;
    const uint32_t vertex = search->band->vertices[state / 2];
    reach(search, state - 1, state);
    for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1]; e++) {
        if (search->side[pattern->target[e]] == SIDE_SEPARATOR) {
            reach(search, 2 * (int32_t)search->band->place[pattern->target[e]], state);
        }
    }
}

/* Searches the band breadth-first and adds paths. Returns their number. If it is 0, the search is
 * complete. */
static uint32_t add_paths(struct search *search)
{
    const struct band *band = search->band;
    uint32_t added = 0;
    search->queued = 0;
    memset(search->parent, 0xFF, 2 * (size_t)band->count * sizeof(*search->parent));
    for (uint32_t i = 0; i < band->count; i++) {
        if (has_neighbour_on(search, band->vertices[i], SIDE_FIRST)) {
            reach(search, (int32_t)(2 * i), START);
        }
    }
    for (uint32_t at = 0; at < search->queued; at++) {
        const int32_t state = search->queue[at];
        if (search->root[search->root[state]] == NOT_REACHED) {
            continue;
        }
        if (state % 2 == 0 && search->next[state / 2] != START) {
            reach(search, search->next[state / 2], state);
        } else if (state % 2 == 1 &&
                   has_neighbour_on(search, band->vertices[state / 2], SIDE_SECOND)) {
            add_path(search, state);
            added++;
        } else if (state % 2 == 1) {
            leave_vertex(search, state);
        }
    }
    return added;
}

/* The cut consists of the vertices whose entrance, but not exit, the last search reached. */
static void move_vertices(const struct search *search, int32_t *side)
{
    for (uint32_t i = 0; i < search->band->count; i++) {
        const bool is_entered = search->parent[2 * (size_t)i] != NOT_REACHED;
        const bool is_left = search->parent[2 * (size_t)i + 1] != NOT_REACHED;
        side[search->band->vertices[i]] = is_left      ? SIDE_FIRST
                                          : is_entered ? SIDE_SEPARATOR
                                                       : SIDE_SECOND;
    }
}

enum status vertex_cut_find(const struct band *band, uint32_t most, int32_t *side, bool *ret_found)
{
    const size_t count = band->count;
    int32_t *memory = malloc((7 * count + 1) * sizeof(*memory));
    if (memory == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct search search = {.band = band,
                            .side = side,
                            .next = memory,
                            .parent = memory + count,
                            .root = memory + 3 * count,
                            .queue = memory + 5 * count};
    for (uint32_t i = 0; i < count; i++) {
        search.next[i] = (int32_t)(2 * i + 1);
        band->place[band->vertices[i]] = i;
    }
    uint32_t paths = 0;
    uint32_t added = 1;
    for (int searches = 0; added > 0 && paths <= most && searches < SEARCHES_MAX; searches++) {
        added = add_paths(&search);
        paths += added;
    }
    *ret_found = added == 0 && paths <= most;
    if (*ret_found) {
        move_vertices(&search, side);
    }
    free(memory);
    return STATUS_OK;
}
