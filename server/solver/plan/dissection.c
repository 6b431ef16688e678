#include "server/solver/plan/dissection.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Taking apart goes on while it is expected to leave less than this of the work. */
#define WORTH_FRACTION 0.5

/* A tree is not deeper than this: each side has at most SIDE_FRACTION_MAX of what was divided. */
#define SIDE_FRACTION_MAX 0.9

/* How many levels are looked ahead to judge a separator. */
#define JUDGED_LEVELS 6

/* A level of a breadth-first search of at most so many of the vertices may be near a separator. */
#define THIN_FRACTION 0.25

/* A core is used when it is neither next to nothing nor almost all of its pattern. */
#define CORE_FRACTION_MIN 0.05
#define CORE_FRACTION_MAX 0.9

/* A side of fewer vertices is taken apart before a thread for it has begun. */
#define BRANCH_VERTICES 2048

/* A component while it is taken apart. */
struct work {
    const struct graph *graph; /* seen as undirected: the edges within a component count */
    const struct dissection_options *options;
    struct dissection *dissection;
    uint32_t node_capacity;
    uint32_t *local;  /* of each vertex: its number within the pattern that it is in */
    uint32_t threads; /* for this one and the sides that are taken apart meanwhile */
};

/* A side that a thread of its own takes apart, into a tree that is joined to the others' after. */
struct branch {
    struct work work;
    struct dissection tree; /* its nodes; the order is the whole graph's */
    struct pattern *side;
    uint32_t begin;
    uint32_t node;
    enum status status;
    pthread_t thread;
};

void dissection_destroy(struct dissection *dissection)
{
    if (dissection == NULL) {
        return;
    }
    free(dissection->vertex_at);
    free(dissection->nodes);
    free(dissection->roots);
    free(dissection);
}

/* ---- One separator ---- */

/* Predicts the work of a part of m vertices that is divided `levels` times by separators of `share`
 * of it each, with `boundary` vertices around it; m and boundary in parts of the whole, whose own
 * work without a division is 1. */
static double expect_work(double m, double boundary, double share, int levels)
{
    const double front = (m + boundary) * (m + boundary);
    if (levels == 0) {
        return m * front;
    }
    const double separator = share * m;
    return separator * front +
           2 * expect_work((m - separator) / 2, boundary + separator, share, levels - 1);
}

/* counts: of the two sides and the separator. Deeper separators are assumed to have the same
 * share. */
static bool is_worth(const uint32_t counts[3])
{
    const double all = (double)counts[0] + counts[1] + counts[2];
    const double share = counts[SIDE_SEPARATOR] / all;
    double work = share;
    for (int side = 0; side < 2; side++) {
        if (counts[side] > SIDE_FRACTION_MAX * all) {
            return false;
        }
        work += expect_work(counts[side] / all, share, share, JUDGED_LEVELS);
    }
    return work < WORTH_FRACTION;
}

/* A breadth-first search from the place that another one reached last. Roads, meshes and grids are
 * crossed in many thin levels; a random graph, whose separators are too large, in a few thick ones.
 * So are some networks with a dense core that have separators: where this is asked, looking at them
 * would cost more than it is likely to bring. */
static enum status find_thin_level(const struct pattern *pattern, bool *ret_found)
{
    const uint32_t count = pattern->vertex_count;
    const double side_min = (1 - SIDE_FRACTION_MAX) * count;
    uint32_t *queue = malloc(((size_t)count + 1) * sizeof(*queue));
    bool *seen = malloc((size_t)count + 1);
    const enum status status = queue != NULL && seen != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    uint32_t from = 0;
    *ret_found = false;
    for (int pass = 0; status == STATUS_OK && pass < 2; pass++) {
        uint32_t end = 0;
        memset(seen, 0, count);
        queue[end++] = from;
        seen[from] = true;
        for (uint32_t begin = 0; begin < end;) {
            const uint32_t level_end = end;
            *ret_found |= begin >= side_min && count - level_end >= side_min &&
                          level_end - begin <= THIN_FRACTION * count;
            for (; begin < level_end; begin++) {
                const int32_t *offset = &pattern->offset[queue[begin]];
                for (int32_t entry = offset[0]; entry < offset[1]; entry++) {
                    const uint32_t target = (uint32_t)pattern->target[entry];
                    if (!seen[target]) {
                        seen[target] = true;
                        queue[end++] = target;
                    }
                }
            }
        }
        from = queue[end - 1];
    }
    free(queue);
    free(seen);
    return status;
}

/* ---- Trees ---- */

static enum status add_node(struct work *work, const struct dissection_node *node,
                            uint32_t *ret_node)
{
    struct dissection *dissection = work->dissection;
    if (dissection->node_count == work->node_capacity) {
        const uint32_t capacity = work->node_capacity > 0 ? 2 * work->node_capacity : 64;
        struct dissection_node *nodes =
            reallocarray(dissection->nodes, capacity, sizeof(*dissection->nodes));
        if (nodes == NULL) {
            return STATUS_NO_MEMORY;
        }
        dissection->nodes = nodes;
        work->node_capacity = capacity;
    }
    *ret_node = dissection->node_count;
    dissection->nodes[dissection->node_count++] = *node;
    return STATUS_OK;
}

static enum status add_leaf(struct work *work, uint32_t begin, uint32_t end, uint32_t *ret_node)
{
    const struct dissection_node leaf = {
        .begin = begin, .separator = begin, .end = end, .child = {NO_NODE, NO_NODE}};
    return add_node(work, &leaf, ret_node);
}

static enum status take_apart(struct work *work, struct pattern *take_pattern, uint32_t begin,
                              uint32_t *ret_node);

/* The patterns of both sides, of which the second is counted from its own first vertex. */
static enum status cut_sides(struct work *work, const struct pattern *pattern,
                             const uint32_t counts[3], const uint32_t *sorted,
                             struct pattern ret_sides[2])
{
    enum status status = STATUS_OK;
    const uint32_t *vertices = sorted;
    for (int side = 0; side < 2 && status == STATUS_OK; side++) {
        memset(work->local, 0xFF, pattern->vertex_count * sizeof(*work->local));
        for (uint32_t index = 0; index < counts[side]; index++) {
            work->local[vertices[index]] = index;
        }
        status = pattern_cut(pattern, vertices, counts[side], work->local, &ret_sides[side]);
        vertices += counts[side];
    }
    return status;
}

static void *take_branch_apart(void *context)
{
    struct branch *branch = context;
    branch->status = take_apart(&branch->work, branch->side, branch->begin, &branch->node);
    return NULL;
}

/* False where there are no threads left for it, or too little to do or no memory for one. */
static bool begin_branch(struct work *work, struct pattern *side, uint32_t begin,
                         struct branch *branch)
{
    if (work->threads < 2 || side->vertex_count < BRANCH_VERTICES) {
        return false;
    }
    const uint32_t given = work->threads / 2;
    *branch = (struct branch){.work = *work, .side = side, .begin = begin, .node = NO_NODE};
    branch->tree.vertex_at = work->dissection->vertex_at;
    branch->work.dissection = &branch->tree;
    branch->work.node_capacity = 0;
    branch->work.threads = given;
    branch->work.local = malloc(side->vertex_count * sizeof(*branch->work.local));
    if (branch->work.local == NULL ||
        pthread_create(&branch->thread, NULL, take_branch_apart, branch) != 0) {
        free(branch->work.local);
        return false;
    }
    work->threads -= given;
    return true;
}

/* Waits for it. Its nodes follow those that are there. */
static enum status end_branch(struct work *work, struct branch *branch, uint32_t *ret_node)
{
    struct dissection *dissection = work->dissection;
    const uint32_t base = dissection->node_count;
    pthread_join(branch->thread, NULL);
    work->threads += branch->work.threads;
    enum status status = branch->status;
    for (uint32_t index = 0; index < branch->tree.node_count && status == STATUS_OK; index++) {
        struct dissection_node node = branch->tree.nodes[index];
        uint32_t place = 0;
        for (int side = 0; side < 2 && node.child[side] != NO_NODE; side++) {
            node.child[side] += base;
        }
        status = add_node(work, &node, &place);
    }
    if (branch->tree.largest_separator > dissection->largest_separator) {
        dissection->largest_separator = branch->tree.largest_separator;
    }
    free(branch->tree.nodes);
    free(branch->work.local);
    *ret_node = base + branch->node;
    return status;
}

/* The sides, then the node over them. */
static enum status take_sides_apart(struct work *work, struct pattern sides[2],
                                    const uint32_t counts[3], uint32_t begin, uint32_t *ret_node)
{
    struct dissection *dissection = work->dissection;
    struct dissection_node node = {.begin = begin,
                                   .separator = begin + counts[0] + counts[1],
                                   .end = begin + counts[0] + counts[1] + counts[2]};
    struct branch branch;
    const bool beside = begin_branch(work, &sides[1], begin + counts[0], &branch);
    enum status status = take_apart(work, &sides[0], begin, &node.child[0]);
    if (beside) {
        const enum status other = end_branch(work, &branch, &node.child[1]);
        status = status == STATUS_OK ? other : status;
    } else if (status == STATUS_OK) {
        status = take_apart(work, &sides[1], begin + counts[0], &node.child[1]);
    }
    if (status == STATUS_OK) {
        status = add_node(work, &node, ret_node);
    }
    if (counts[SIDE_SEPARATOR] > dissection->largest_separator) {
        dissection->largest_separator = counts[SIDE_SEPARATOR];
    }
    return status;
}

/* A separator of the core, where there is one: it takes half of the time on roads, and is as good.
 */
static enum status find_separator(const struct pattern *pattern, int32_t *ret_side)
{
    const uint32_t count = pattern->vertex_count;
    struct reduction reduction = {0};
    int32_t *core_side = NULL;
    enum status status = reduction_make(pattern, &reduction);
    const uint32_t left = reduction.core.vertex_count;
    if (status == STATUS_OK &&
        (left < CORE_FRACTION_MIN * count || left > CORE_FRACTION_MAX * count)) {
        status = separator_find(pattern, ret_side);
    } else if (status == STATUS_OK) {
        core_side = malloc(((size_t)left + 1) * sizeof(*core_side));
        status = core_side != NULL ? separator_find(&reduction.core, core_side) : STATUS_NO_MEMORY;
        if (status == STATUS_OK) {
            reduction_expand(&reduction, core_side, ret_side);
        }
    }
    free(core_side);
    reduction_finish(&reduction);
    return status;
}

/* A pattern that is worth it, into its sides; *ret_divided false when it is not. */
static enum status divide(struct work *work, const struct pattern *pattern, uint32_t begin,
                          struct pattern ret_sides[2], uint32_t ret_counts[3], bool *ret_divided)
{
    const uint32_t count = pattern->vertex_count;
    uint32_t *const places = work->dissection->vertex_at + begin;
    int32_t *side = malloc(((size_t)count + 1) * sizeof(*side));
    uint32_t *sorted = malloc(((size_t)count + 1) * sizeof(*sorted));
    uint32_t *former = malloc(((size_t)count + 1) * sizeof(*former));
    enum status status = STATUS_NO_MEMORY;
    *ret_divided = false;
    if (side != NULL && sorted != NULL && former != NULL) {
        status = find_separator(pattern, side);
    }
    for (uint32_t index = 0; status == STATUS_OK && index < count; index++) {
        ret_counts[side[index]]++;
    }
    if (status == STATUS_OK && is_worth(ret_counts)) {
        /* Sorts the vertices by side, and their places of the order too. */
        uint32_t next[3] = {0, ret_counts[0], ret_counts[0] + ret_counts[1]};
        memcpy(former, places, count * sizeof(*former));
        for (uint32_t index = 0; index < count; index++) {
            const uint32_t to = next[side[index]]++;
            sorted[to] = index;
            places[to] = former[index];
        }
        *ret_divided = true;
        status = cut_sides(work, pattern, ret_counts, sorted, ret_sides);
    }
    free(side);
    free(sorted);
    free(former);
    return status;
}

/* Takes the pattern of the vertices from place `begin` on; it is finished either way. Recursion as
 * deep as the tree. */
static enum status take_apart(struct work *work, struct pattern *take_pattern, uint32_t begin,
                              uint32_t *ret_node)
{
    const uint32_t count = take_pattern->vertex_count;
    struct pattern sides[2] = {0};
    uint32_t counts[3] = {0};
    bool divided = false;
    enum status status = STATUS_OK;
    if (observer_is_cancelled(work->options->observer)) {
        status = STATUS_CANCELLED;
    } else if (count > work->options->leaf && take_pattern->offset[count] > 0) {
        status = divide(work, take_pattern, begin, sides, counts, &divided);
    }
    pattern_finish(take_pattern);
    if (status == STATUS_OK) {
        status = divided ? take_sides_apart(work, sides, counts, begin, ret_node)
                         : add_leaf(work, begin, begin + count, ret_node);
    }
    pattern_finish(&sides[0]);
    pattern_finish(&sides[1]);
    return status;
}

/* ---- Components ---- */

/* How far each component is from a source and from a sink, in components: whichever is nearer
 * decides, so that sources come first and sinks last. The components are numbered from the sinks
 * up. */
static void find_levels(const struct graph *graph, const struct strong_components *components,
                        uint32_t *level, uint32_t *down)
{
    for (uint32_t vertex_place = graph->vertex_count; vertex_place-- > 0;) {
        const uint32_t vertex = components->member[vertex_place];
        const uint32_t from = components->of[vertex];
        for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
            const uint32_t to = components->of[graph->target[e]];
            if (to != from && level[to] < level[from] + 1) {
                level[to] = level[from] + 1;
            }
        }
    }
    for (uint32_t place = 0; place < graph->vertex_count; place++) {
        const uint32_t vertex = components->member[place];
        const uint32_t from = components->of[vertex];
        for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
            const uint32_t to = components->of[graph->target[e]];
            if (to != from && down[from] < down[to] + 1) {
                down[from] = down[to] + 1;
            }
        }
    }
    for (uint32_t component = 0; component < components->count; component++) {
        if (level[component] > down[component]) {
            level[component] = 2 * components->count - down[component];
        }
    }
}

struct place {
    uint32_t level;
    uint32_t component;
    bool small;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    if (x->small != y->small) {
        return x->small ? 1 : -1;
    }
    return x->component < y->component ? -1 : x->component > y->component;
}

/* The components in their order, those of a level with the small ones last: they share tiles. */
static enum status order_components(const struct work *work,
                                    const struct strong_components *components,
                                    struct place *ret_places)
{
    uint32_t *level = calloc((size_t)components->count + 1, sizeof(*level));
    uint32_t *down = calloc((size_t)components->count + 1, sizeof(*down));
    const enum status status = level != NULL && down != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK && work->options->directed) {
        find_levels(work->graph, components, level, down);
    }
    for (uint32_t index = 0; status == STATUS_OK && index < components->count; index++) {
        const uint32_t size = components->first[index + 1] - components->first[index];
        ret_places[index] = (struct place){
            .level = level[index], .component = index, .small = size <= work->options->leaf};
    }
    free(level);
    free(down);
    if (status == STATUS_OK) {
        qsort(ret_places, components->count, sizeof(*ret_places), compare_places);
    }
    return status;
}

/* Component by component, in this order. */
static enum status take_all_apart(struct work *work, const struct strong_components *components,
                                  const struct pattern *whole, const struct place *places)
{
    struct dissection *dissection = work->dissection;
    enum status status = STATUS_OK;
    uint32_t begin = 0;
    for (uint32_t index = 0; status == STATUS_OK && index < components->count; index++) {
        const uint32_t *first = &components->first[places[index].component];
        const uint32_t count = first[1] - first[0];
        uint32_t *const vertices = dissection->vertex_at + begin;
        struct dissection_root *root = &dissection->roots[index];
        root->level = places[index].level;
        memcpy(vertices, components->member + first[0], count * sizeof(*vertices));
        if (count <= work->options->leaf || !separator_present()) {
            status = add_leaf(work, begin, begin + count, &root->node);
        } else {
            struct pattern pattern = {0};
            bool divisible = true;
            for (uint32_t local = 0; local < count; local++) {
                work->local[vertices[local]] = local;
            }
            status = pattern_cut(whole, vertices, count, work->local, &pattern);
            if (status == STATUS_OK && work->options->thin_only) {
                status = find_thin_level(&pattern, &divisible);
            }
            if (status == STATUS_OK && divisible) {
                status = take_apart(work, &pattern, begin, &root->node);
            } else if (status == STATUS_OK) {
                status = add_leaf(work, begin, begin + count, &root->node);
            }
            pattern_finish(&pattern);
        }
        begin += count;
    }
    dissection->root_count = components->count;
    return status;
}

enum status dissection_make(const struct graph *graph, const struct dissection_options *options,
                            struct dissection **ret_dissection)
{
    struct graph seen = *graph;
    seen.directed = options->directed;
    struct strong_components components = {0};
    struct pattern whole = {0};
    struct dissection *dissection = calloc(1, sizeof(*dissection));
    if (dissection == NULL) {
        return STATUS_NO_MEMORY;
    }
    const size_t vertices = (size_t)graph->vertex_count + 1;
    struct work work = {.graph = &seen,
                        .options = options,
                        .dissection = dissection,
                        .local = malloc(vertices * sizeof(*work.local)),
                        .threads = options->threads};
    dissection->vertex_count = graph->vertex_count;
    dissection->vertex_at = malloc(vertices * sizeof(*dissection->vertex_at));
    enum status status = work.local != NULL && dissection->vertex_at != NULL
                             ? strong_components_find(&seen, &components)
                             : STATUS_NO_MEMORY;
    struct place *places = malloc(((size_t)components.count + 1) * sizeof(*places));
    dissection->roots = calloc((size_t)components.count + 1, sizeof(*dissection->roots));
    if (places == NULL || dissection->roots == NULL) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        status = pattern_mirror(&seen, components.of, &whole);
    }
    if (status == STATUS_OK) {
        pattern_drop_parallel(&whole, work.local);
        status = order_components(&work, &components, places);
    }
    if (status == STATUS_OK) {
        status = take_all_apart(&work, &components, &whole, places);
    }
    pattern_finish(&whole);
    free(places);
    free(work.local);
    strong_components_finish(&components);
    if (status != STATUS_OK) {
        dissection_destroy(dissection);
        return status;
    }
    *ret_dissection = dissection;
    return STATUS_OK;
}
