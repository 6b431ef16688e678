#include "server/solver/order/dissection.h"

#include "server/solver/order/coarse_separator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A separator is worthwhile if less than this fraction of the work is expected to remain. */
#define WORTH_FRACTION 0.5

/* Each side has at most this fraction of the divided part, which limits the depth of the tree. */
#define SIDE_FRACTION_MAX 0.9

/* Number of levels of the tree whose work is predicted to judge a separator. */
#define JUDGED_LEVELS 6

/* A level of a breadth-first search is thin if it has at most this fraction of the vertices. */
#define THIN_FRACTION 0.25

/* A side with fewer vertices gets no new thread: starting one takes longer than dividing it. */
#define BRANCH_VERTICES 2048

/* Predicts the work of a part of m vertices that is divided `levels` times by separators with
 * `share` of its vertices each, and that has `boundary` vertices around it. m and boundary are
 * fractions of the whole; the whole without a division has work 1. */
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

/* Returns whether a separator is worthwhile. sizes: vertices of the two sides and of the separator.
 * Deeper separators are assumed to have the same share. */
static bool is_worth(const double sizes[3])
{
    const double all = sizes[0] + sizes[1] + sizes[2];
    const double share = sizes[SIDE_SEPARATOR] / all;
    double work = share;
    for (int side = 0; side < 2; side++) {
        if (sizes[side] > SIDE_FRACTION_MAX * all) {
            return false;
        }
        work += expect_work(sizes[side] / all, share, share, JUDGED_LEVELS);
    }
    return work < WORTH_FRACTION;
}

enum status dissection_has_thin_level(const struct pattern *pattern, bool *ret_found)
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

/* A part to divide. */
struct part {
    struct dissection *dissection;
    struct pattern pattern;
    uint32_t begin;
    uint32_t node;
    enum status status;
    atomic_flag *one_ended; /* set by the first of two sides to end, which leaves its thread to
                               others; only for sides that are divided at the same time */
};

static uint32_t add_node(struct dissection *dissection, const struct order_node *node)
{
    const uint32_t number = atomic_fetch_add(&dissection->node_count, 1);
    dissection->nodes[number] = *node;
    return number;
}

uint32_t dissection_add_leaf(struct dissection *dissection, uint32_t begin, uint32_t end)
{
    return add_node(dissection,
                    &(struct order_node){begin, begin, end, .child = {NO_NODE, NO_NODE}});
}

/* Sorts the part's vertices by side and extracts two patterns. scratch: 3 entries per vertex. */
static enum status cut_sides(const struct part *part, const int32_t *side, const uint32_t counts[3],
                             uint32_t *scratch, struct part ret_sides[2])
{
    const uint32_t count = part->pattern.vertex_count;
    uint32_t *const places = part->dissection->vertex_at + part->begin;
    uint32_t *const sorted = scratch;
    uint32_t *const former = scratch + count;
    uint32_t *const local = scratch + 2 * (size_t)count;
    uint32_t next[3] = {0, counts[0], counts[0] + counts[1]};
    memcpy(former, places, count * sizeof(*former));
    for (uint32_t index = 0; index < count; index++) {
        const uint32_t to = next[side[index]]++;
        sorted[to] = index;
        places[to] = former[index];
    }
    for (int which = 0; which < 2; which++) {
        const uint32_t first = which == 0 ? 0 : counts[0];
        for (uint32_t index = 0; index < count; index++) {
            local[index] = NO_VERTEX;
        }
        for (uint32_t index = 0; index < counts[which]; index++) {
            local[sorted[first + index]] = index;
        }
        ret_sides[which] =
            (struct part){.dissection = part->dissection, .begin = part->begin + first};
        STATUS_TRY(pattern_cut(&part->pattern, sorted + first, counts[which], local,
                               &ret_sides[which].pattern));
    }
    return STATUS_OK;
}

/* Divides a part by a separator. *ret_divided is false if no separator is worthwhile. */
static enum status find_sides(const struct part *part, struct part ret_sides[2],
                              uint32_t ret_counts[3], bool *ret_divided)
{
    const struct pattern *pattern = &part->pattern;
    const size_t count = pattern->vertex_count;
    int32_t *side = malloc((count + 1) * sizeof(*side));
    uint32_t *scratch = malloc((3 * count + 1) * sizeof(*scratch));
    enum status status = STATUS_NO_MEMORY;
    double sizes[3] = {0};
    if (side != NULL && scratch != NULL) {
        status = coarse_separator_find(pattern, scratch, side);
    }
    for (size_t index = 0; status == STATUS_OK && index < count; index++) {
        ret_counts[side[index]]++;
        sizes[side[index]] += pattern->weight[index];
    }
    *ret_divided = status == STATUS_OK && is_worth(sizes);
    if (*ret_divided) {
        status = cut_sides(part, side, ret_counts, scratch, ret_sides);
    }
    free(side);
    free(scratch);
    return status;
}

static bool is_leaf(const struct pattern *pattern, uint32_t most)
{
    uint64_t weight = pattern->vertex_count;
    for (uint32_t vertex = 0; vertex < pattern->vertex_count; vertex++) {
        weight += (uint64_t)pattern->weight[vertex];
    }
    return weight <= most || pattern->offset[pattern->vertex_count] == 0;
}

static void divide_part(struct part *part);

/* Reserves an idle thread. Returns false if there is none. */
static bool reserve_thread(atomic_uint *idle)
{
    unsigned count = atomic_load(idle);
    while (count > 0 && !atomic_compare_exchange_weak(idle, &count, count - 1)) {
    }
    return count > 0;
}

/* Divides one of two sides that are divided at the same time. */
static void *divide_side(void *context)
{
    struct part *side = context;
    divide_part(side);
    if (!atomic_flag_test_and_set(side->one_ended)) {
        atomic_fetch_add(&side->dissection->idle, 1);
    }
    return NULL;
}

/* Divides both sides, at the same time if a thread is idle. */
static enum status divide_sides(struct part sides[2])
{
    pthread_t thread;
    atomic_flag one_ended = ATOMIC_FLAG_INIT;
    atomic_uint *idle = &sides[0].dissection->idle;
    bool is_shared = sides[1].pattern.vertex_count >= BRANCH_VERTICES && reserve_thread(idle);
    sides[0].one_ended = &one_ended;
    sides[1].one_ended = &one_ended;
    if (is_shared && pthread_create(&thread, NULL, divide_side, &sides[1]) != 0) {
        is_shared = false;
        atomic_fetch_add(idle, 1);
    }
    if (is_shared) {
        divide_side(&sides[0]);
        pthread_join(thread, NULL);
    } else {
        divide_part(&sides[0]);
        divide_part(&sides[1]);
    }
    return sides[0].status != STATUS_OK ? sides[0].status : sides[1].status;
}

/* Divides a part and frees its pattern. Recursion is as deep as the tree. */
static void divide_part(struct part *part)
{
    struct part sides[2] = {0};
    uint32_t counts[3] = {0};
    bool divided = false;
    const uint32_t count = part->pattern.vertex_count;
    part->status = STATUS_OK;
    if (observer_is_cancelled(part->dissection->observer)) {
        part->status = STATUS_CANCELLED;
    } else if (separator_present() && !is_leaf(&part->pattern, part->dissection->leaf)) {
        part->status = find_sides(part, sides, counts, &divided);
    }
    pattern_finish(&part->pattern);
    if (part->status != STATUS_OK) {
        pattern_finish(&sides[0].pattern);
        pattern_finish(&sides[1].pattern);
    } else if (divided) {
        part->status = divide_sides(sides);
        const struct order_node node = {.begin = part->begin,
                                        .separator = part->begin + counts[0] + counts[1],
                                        .end = part->begin + count,
                                        .child = {sides[0].node, sides[1].node}};
        part->node = add_node(part->dissection, &node);
    } else {
        part->node = dissection_add_leaf(part->dissection, part->begin, part->begin + count);
    }
}

enum status dissection_divide(struct dissection *dissection, struct pattern *take_pattern,
                              uint32_t begin, uint32_t *ret_node)
{
    struct part part = {.dissection = dissection, .pattern = *take_pattern, .begin = begin};
    *take_pattern = (struct pattern){0};
    divide_part(&part);
    *ret_node = part.node;
    return part.status;
}
