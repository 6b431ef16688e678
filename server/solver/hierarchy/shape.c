/* Computes the elimination tree (Liu 1986), its postorder, and the pattern of each supernode: the
 * union of its edges and the remaining patterns of its children. */

#include "server/solver/hierarchy/shape.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A column is merged with the supernode before it if that adds at most this many entries of
 * padding: blocks of a few columns are faster than single columns. */
#define PADDING_ENTRIES 16

struct list {
    uint32_t *items;
    size_t count;
    size_t capacity;
};

static enum status reserve(struct list *list, size_t more)
{
    if (list->count + more <= list->capacity) {
        return STATUS_OK;
    }
    const size_t capacity = 2 * (list->count + more);
    uint32_t *items = realloc(list->items, capacity * sizeof(*items));
    if (items == NULL) {
        return STATUS_NO_MEMORY;
    }
    list->items = items;
    list->capacity = capacity;
    return STATUS_OK;
}

/* The lower or the higher neighbours of each position. A neighbour with edges in both directions is
 * listed twice. */
struct sides {
    uint64_t *offset;
    uint32_t *target;
};

static enum status list_sides(const struct graph *graph, const uint32_t *position_of, bool higher,
                              struct sides *ret_sides)
{
    const uint32_t n = graph->vertex_count;
    uint64_t *offset = calloc((size_t)n + 2, sizeof(*offset));
    uint32_t *target = malloc((graph->edge_count + 1) * sizeof(*target));
    if (offset == NULL || target == NULL) {
        free(offset);
        free(target);
        return STATUS_NO_MEMORY;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
                const uint32_t a = position_of[vertex];
                const uint32_t b = position_of[graph->target[e]];
                const uint32_t of = (a < b) == higher ? a : b;
                if (pass == 0) {
                    offset[of + 2]++;
                } else {
                    target[offset[of + 1]++] = a ^ b ^ of;
                }
            }
        }
        for (uint32_t at = 2; at <= n && pass == 0; at++) {
            offset[at] += offset[at - 1];
        }
    }
    *ret_sides = (struct sides){offset, target};
    return STATUS_OK;
}

static void sides_finish(struct sides *sides)
{
    free(sides->offset);
    free(sides->target);
}

/* Computes the parent of each position in the elimination tree. ancestor: scratch. */
static void find_parents(const struct sides *lower, uint32_t n, uint32_t *parent,
                         uint32_t *ancestor)
{
    for (uint32_t j = 0; j < n; j++) {
        parent[j] = NONE;
        ancestor[j] = NONE;
        for (uint64_t e = lower->offset[j]; e < lower->offset[j + 1]; e++) {
            uint32_t i = lower->target[e];
            while (ancestor[i] != NONE && ancestor[i] != j) {
                const uint32_t next = ancestor[i];
                ancestor[i] = j;
                i = next;
            }
            if (ancestor[i] == NONE) {
                ancestor[i] = j;
                parent[i] = j;
            }
        }
    }
}

/* Computes the postorder. ret_old: new position -> old position. The largest subtree of a vertex
 * comes last, so that its root can share the vertex's supernode. scratch: 4 n entries. */
static void order_tree(const uint32_t *parent, uint32_t n, uint32_t *scratch, uint32_t *ret_old)
{
    uint32_t *size = scratch;
    uint32_t *child = scratch + n; /* linked lists of children; the largest child is the last */
    uint32_t *next = scratch + 2 * (size_t)n;
    uint32_t *end = scratch + 3 * (size_t)n;
    memset(child, 0xFF, 3 * (size_t)n * sizeof(*child));
    for (uint32_t v = 0; v < n; v++) {
        size[v] = 1;
    }
    for (uint32_t v = 0; v < n; v++) {
        if (parent[v] != NONE) {
            size[parent[v]] += size[v];
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t p = parent[v];
        if (p != NONE && (child[p] == NONE || size[v] >= size[child[p]])) {
            next[v] = child[p];
            child[p] = v;
        } else if (p != NONE) {
            next[v] = next[child[p]];
            next[child[p]] = v;
        }
    }
    /* Assigns positions from the roots down: a root is last, after its largest child's subtree. */
    uint32_t place = n;
    for (uint32_t v = n; v-- > 0;) {
        if (parent[v] == NONE) {
            end[v] = place;
            place -= size[v];
        }
        ret_old[end[v] - 1] = v;
        uint32_t at = end[v] - 1;
        for (uint32_t c = child[v]; c != NONE; c = next[c]) {
            end[c] = at;
            at -= size[c];
        }
    }
}

static enum status order_positions(const struct graph *graph, struct hierarchy_shape *shape)
{
    const uint32_t n = graph->vertex_count;
    struct sides lower = {0};
    uint32_t *scratch = malloc(((size_t)n * 6 + 1) * sizeof(*scratch));
    enum status status =
        scratch != NULL ? list_sides(graph, shape->position_of, false, &lower) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        uint32_t *parent = scratch;
        uint32_t *old = scratch + n;
        find_parents(&lower, n, parent, old);
        uint32_t *size = scratch + 2 * (size_t)n; /* size of each subtree, set by order_tree */
        order_tree(parent, n, size, old);
        for (uint32_t at = 0; at < n; at++) {
            shape->label_entries += size[at] - 1;
            shape->position_of[shape->vertex_at[old[at]]] = at;
        }
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            shape->vertex_at[shape->position_of[vertex]] = vertex;
        }
    }
    sides_finish(&lower);
    free(scratch);
    return status;
}

struct pass {
    struct hierarchy_shape *shape;
    struct hierarchy_limits limits;
    struct sides higher;
    struct list rows;
    uint32_t *mark;         /* per position: the last position that visited it, plus 1 */
    uint32_t *waiting;      /* per position: last supernode that has its parent here */
    uint32_t *next_waiting; /* per supernode: next supernode with the same parent */
    uint32_t *open;         /* pattern of the last column, ascending */
    uint32_t open_count;
    uint32_t *found; /* pattern of the next column */
    uint32_t found_count;
    uint64_t weights;
    double steps; /* number of elimination steps */
};

/* Sorts by insertion, because most of the list is the previous column's pattern, already sorted. */
static void sort(uint32_t *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t item = list[i];
        uint32_t at = i;
        for (; at > 0 && list[at - 1] > item; at--) {
            list[at] = list[at - 1];
        }
        list[at] = item;
    }
}

static void meet(struct pass *pass, uint32_t v, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] != v && pass->mark[list[i]] != v + 1) {
            pass->mark[list[i]] = v + 1;
            pass->found[pass->found_count++] = list[i];
        }
    }
}

/* Stores the pattern of position v in `found`. */
static void find_pattern(struct pass *pass, uint32_t v)
{
    const struct hierarchy_shape *shape = pass->shape;
    const uint64_t begin = pass->higher.offset[v];
    pass->found_count = 0;
    if (pass->open_count > 0 && pass->open[0] == v) {
        meet(pass, v, pass->open, pass->open_count);
    }
    meet(pass, v, pass->higher.target + begin, pass->higher.offset[v + 1] - begin);
    for (uint32_t s = pass->waiting[v]; s != NONE; s = pass->next_waiting[s]) {
        const uint64_t first = shape->row_begin[s];
        meet(pass, v, pass->rows.items + first, shape->row_begin[s + 1] - first);
    }
    sort(pass->found, pass->found_count);
}

static enum status close_supernode(struct pass *pass, uint32_t end)
{
    struct hierarchy_shape *shape = pass->shape;
    const uint32_t s = shape->supernode_count++;
    const uint64_t columns = end - shape->first[s];
    STATUS_TRY(reserve(&pass->rows, pass->open_count));
    memcpy(pass->rows.items + pass->rows.count, pass->open, pass->open_count * sizeof(*pass->open));
    pass->rows.count += pass->open_count;
    shape->row_begin[s + 1] = pass->rows.count;
    shape->first[s + 1] = end;
    shape->parent[s] = NO_SUPERNODE;
    for (uint32_t at = shape->first[s]; at < end; at++) {
        for (uint32_t child = pass->waiting[at]; child != NONE; child = pass->next_waiting[child]) {
            shape->parent[child] = s;
        }
    }
    shape->weight_begin[s] = pass->weights;
    const double size = (double)(columns + pass->open_count);
    pass->weights += columns * (columns + pass->open_count);
    pass->steps += (double)columns * size * size;
    shape->weight_begin[s + 1] = pass->weights;
    if (pass->weights > pass->limits.entries || pass->steps > pass->limits.steps) {
        return STATUS_TOO_LARGE;
    }
    if (pass->open_count > 0) {
        const uint32_t at = pass->open[0];
        pass->next_waiting[s] = pass->waiting[at];
        pass->waiting[at] = s;
    }
    return STATUS_OK;
}

static enum status find_supernodes(struct pass *pass)
{
    struct hierarchy_shape *shape = pass->shape;
    uint64_t padding = 0;
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        find_pattern(pass, v);
        shape->arc_count += pass->found_count;
        if (v > 0) {
            const uint64_t columns = v - shape->first[shape->supernode_count];
            const bool child = pass->open_count > 0 && pass->open[0] == v;
            const uint64_t more =
                child ? (pass->found_count - (pass->open_count - 1)) * columns : UINT64_MAX;
            if (child && padding + more <= PADDING_ENTRIES + columns * pass->found_count / 8) {
                padding += more;
            } else {
                STATUS_TRY(close_supernode(pass, v));
                padding = 0;
            }
        }
        uint32_t *const spare = pass->open;
        pass->open = pass->found;
        pass->open_count = pass->found_count;
        pass->found = spare;
    }
    return shape->vertex_count > 0 ? close_supernode(pass, shape->vertex_count) : STATUS_OK;
}

static enum status fill_shape(const struct graph *graph, const struct hierarchy_limits *limits,
                              struct hierarchy_shape *shape)
{
    const size_t n = graph->vertex_count;
    uint32_t *scratch = malloc((5 * n + 5) * sizeof(*scratch));
    struct pass pass = {.shape = shape, .limits = *limits};
    if (scratch == NULL) {
        return STATUS_NO_MEMORY;
    }
    memset(scratch, 0, n * sizeof(*scratch));
    memset(scratch + n, 0xFF, n * sizeof(*scratch));
    pass.mark = scratch;
    pass.waiting = scratch + n;
    pass.next_waiting = scratch + 2 * n;
    pass.open = scratch + 3 * n;
    pass.found = scratch + 4 * n;
    enum status status = reserve(&pass.rows, 1); /* allocated even if there are no rows */
    STATUS_THEN(status, list_sides(graph, shape->position_of, true, &pass.higher));
    STATUS_THEN(status, find_supernodes(&pass));
    shape->row = pass.rows.items;
    sides_finish(&pass.higher);
    free(scratch);
    return status;
}

enum status hierarchy_make_shape(const struct graph *graph, const uint32_t *vertex_at,
                                 const struct hierarchy_limits *limits,
                                 struct hierarchy_shape **ret_shape)
{
    const size_t n = graph->vertex_count;
    struct hierarchy_shape *shape = calloc(1, sizeof(*shape));
    if (shape == NULL) {
        return STATUS_NO_MEMORY;
    }
    shape->vertex_count = graph->vertex_count;
    enum status status = STATUS_NO_MEMORY;
    shape->row_begin = calloc(4 * (n + 1), sizeof(*shape->row_begin));
    if (shape->row_begin != NULL) {
        shape->weight_begin = shape->row_begin + n + 1;
        shape->vertex_at = (uint32_t *)(shape->weight_begin + n + 1);
        shape->position_of = shape->vertex_at + n + 1;
        shape->first = shape->position_of + n + 1;
        shape->parent = shape->first + n + 1;
        memcpy(shape->vertex_at, vertex_at, n * sizeof(*vertex_at));
        for (uint32_t at = 0; at < graph->vertex_count; at++) {
            shape->position_of[vertex_at[at]] = at;
        }
        status = order_positions(graph, shape);
    }
    STATUS_THEN(status, fill_shape(graph, limits, shape));
    if (status != STATUS_OK) {
        hierarchy_destroy_shape(shape);
        return status;
    }
    *ret_shape = shape;
    return STATUS_OK;
}

void hierarchy_destroy_shape(struct hierarchy_shape *shape)
{
    if (shape == NULL) {
        return;
    }
    free(shape->row_begin); /* row_begin is the allocation of all arrays except row */
    free(shape->row);
    free(shape);
}
