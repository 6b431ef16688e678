/* The searches of search.c in one kind; no include guard, as it is included once for each, with
 * ELEMENT, UNREACHABLE, NAME and CANONICAL defined as for front_body.h. */

/* ret_depth: by depth, of the ancestors of the position and itself; how many. */
static uint32_t NAME(climb)(const struct hierarchy_search *search, const void *weights,
                            uint32_t from, void *ret_depth)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    const struct hierarchy_shape *shape = &hierarchy->shape;
    const int32_t above = search->above;
    ELEMENT *local = search->local;
    ELEMENT *depth = ret_depth;
    uint32_t s = hierarchy->supernode_of[from];
    const uint32_t count = hierarchy->above[s] + shape->first[s + 1] - from;
    (void)above;
    for (uint32_t i = 0; i < count; i++) {
        depth[i] = UNREACHABLE;
    }
    depth[count - 1] = 0;
    for (; s != NO_SUPERNODE; s = shape->parent[s]) {
        const uint32_t columns = hierarchy_columns(shape, s);
        const uint32_t size = columns + hierarchy_rows_below(shape, s);
        const uint32_t *row_depth = hierarchy->row_depth + shape->row_begin[s];
        const uint32_t top = hierarchy->above[s] + columns - 1; /* the depth of its first column */
        const uint32_t first = from > shape->first[s] ? from - shape->first[s] : 0;
        for (uint32_t i = first; i < columns; i++) {
            local[i] = depth[top - i];
        }
        for (uint32_t i = columns; i < size; i++) {
            local[i] = depth[row_depth[i - columns]];
        }
        for (uint32_t k = first; k < columns; k++) {
            const ELEMENT *restrict arc =
                (const ELEMENT *)weights + shape->weight_begin[s] + (size_t)k * size;
            const ELEMENT way = CANONICAL(local[k], above);
            depth[top - k] = way;
            if (way == UNREACHABLE) {
                continue;
            }
            for (uint32_t i = k + 1; i < size; i++) {
                const ELEMENT sum = way + arc[i];
                local[i] = sum < local[i] ? sum : local[i];
            }
        }
        for (uint32_t i = columns; i < size; i++) {
            depth[row_depth[i - columns]] = local[i];
        }
    }
    return count;
}

/* The least sum over the common ancestors. */
static void NAME(meet)(const struct hierarchy_search *search, uint32_t common, void *ret_element)
{
    const ELEMENT *forward = search->forward;
    const ELEMENT *backward = search->backward;
    ELEMENT best = UNREACHABLE;
    for (uint32_t i = 0; i < common; i++) {
        const ELEMENT sum = forward[i] + backward[i];
        best = sum < best ? sum : best;
    }
    best = CANONICAL(best, search->above);
    memcpy(ret_element, &best, sizeof(best));
}

static void NAME(clear)(void *elements, size_t count)
{
    ELEMENT *distance = elements;
    for (size_t i = 0; i < count; i++) {
        distance[i] = UNREACHABLE;
    }
}

/* From the climb of a position to the elements of its ancestors, by position. */
static void NAME(start)(const struct hierarchy_search *search, uint32_t from, uint32_t lane,
                        uint32_t lanes, void *elements)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    const struct hierarchy_shape *shape = &hierarchy->shape;
    ELEMENT *distance = (ELEMENT *)elements + lane;
    const ELEMENT *forward = search->forward;
    uint32_t s = hierarchy->supernode_of[from];
    uint32_t depth = hierarchy->above[s] + shape->first[s + 1] - from;
    uint32_t at = from;
    for (; s != NO_SUPERNODE; s = shape->parent[s]) {
        at = at > shape->first[s] ? at : shape->first[s];
        for (; at < shape->first[s + 1]; at++) {
            distance[(size_t)at * lanes] = forward[--depth];
        }
    }
}

/* One column: most supernodes of a road network have no more. */
static ELEMENT NAME(sweep_column)(ELEMENT best, const ELEMENT *all, const uint32_t *row,
                                  const ELEMENT *arc, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const ELEMENT sum = all[row[i]] + arc[i];
        best = sum < best ? sum : best;
    }
    return best;
}

/* From the root down: each column takes the way by each later vertex that it has an arc from. */
static void NAME(sweep)(const struct hierarchy_search *search, void *elements)
{
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const ELEMENT *weights = search->hierarchy->down;
    ELEMENT *all = elements;
    ELEMENT *local = search->local;
    for (uint32_t s = shape->supernode_count; s-- > 0;) {
        const uint32_t columns = hierarchy_columns(shape, s);
        const uint32_t size = columns + hierarchy_rows_below(shape, s);
        const uint32_t *row = shape->row + shape->row_begin[s];
        ELEMENT *distance = all + shape->first[s];
        if (columns == 1) {
            const ELEMENT *arc = weights + shape->weight_begin[s] + 1;
            const ELEMENT best = NAME(sweep_column)(*distance, all, row, arc, size - 1);
            *distance = CANONICAL(best, search->above);
            continue;
        }
        for (uint32_t i = 0; i < columns; i++) {
            local[i] = distance[i];
        }
        for (uint32_t i = columns; i < size; i++) {
            local[i] = all[row[i - columns]];
        }
        for (uint32_t k = columns; k-- > 0;) {
            const ELEMENT *arc = weights + shape->weight_begin[s] + (size_t)k * size;
            ELEMENT best = local[k];
            for (uint32_t j = k + 1; j < size; j++) {
                const ELEMENT sum = local[j] + arc[j];
                best = sum < best ? sum : best;
            }
            best = CANONICAL(best, search->above);
            local[k] = best;
            distance[k] = best;
        }
    }
}

typedef struct {
    ELEMENT at[HIERARCHY_LANES];
} NAME(lanes);

/* The same for many rows, element by element side by side. */
static void NAME(sweep_lanes)(const struct hierarchy_search *search, void *elements)
{
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const ELEMENT *weights = search->hierarchy->down;
    NAME(lanes) *all = elements;
    NAME(lanes) *local = search->local_lanes;
    for (uint32_t s = shape->supernode_count; s-- > 0;) {
        const uint32_t columns = hierarchy_columns(shape, s);
        const uint32_t size = columns + hierarchy_rows_below(shape, s);
        const uint32_t *row = shape->row + shape->row_begin[s];
        NAME(lanes) *distance = all + shape->first[s];
        memcpy(local, distance, columns * sizeof(*local));
        for (uint32_t i = columns; i < size; i++) {
            local[i] = all[row[i - columns]];
        }
        for (uint32_t k = columns; k-- > 0;) {
            const ELEMENT *arc = weights + shape->weight_begin[s] + (size_t)k * size;
            NAME(lanes) best = local[k];
            for (uint32_t j = k + 1; j < size; j++) {
                const ELEMENT weight = arc[j];
                for (uint32_t lane = 0; lane < HIERARCHY_LANES; lane++) {
                    const ELEMENT sum = local[j].at[lane] + weight;
                    best.at[lane] = sum < best.at[lane] ? sum : best.at[lane];
                }
            }
            for (uint32_t lane = 0; lane < HIERARCHY_LANES; lane++) {
                best.at[lane] = CANONICAL(best.at[lane], search->above);
            }
            local[k] = best;
            distance[k] = best;
        }
    }
}

/* From positions to vertices: rows one behind the other, of which these many are wanted. */
static void NAME(order)(const struct hierarchy_search *search, const void *elements, uint32_t count,
                        uint32_t lanes, void *ret_rows)
{
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const uint32_t n = shape->vertex_count;
    ELEMENT *rows = ret_rows;
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        const ELEMENT *from =
            (const ELEMENT *)elements + (size_t)shape->position_of[vertex] * lanes;
        for (uint32_t lane = 0; lane < count; lane++) {
            rows[(size_t)lane * n + vertex] = from[lane];
        }
    }
}

static const struct search_operations NAME(operations) = {
    NAME(climb), NAME(meet), NAME(clear), NAME(start), NAME(sweep), NAME(sweep_lanes), NAME(order)};

#undef ELEMENT
#undef UNREACHABLE
#undef NAME
#undef CANONICAL
