/* The loops of hierarchy_kernel.c for one kind. This file has no include guard because it is
 * included once per kind. ELEMENT, UNREACHABLE, NAME and CANONICAL must be defined as for
 * front_body.h, and CANONICAL_VECTOR as the vector form of CANONICAL. */

typedef ELEMENT NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR_ELEMENTS (VECTOR_BYTES / sizeof(ELEMENT))

/* The compiler turns the loop into the vector instruction for the minimum. */
ALWAYS_INLINE NAME(vector) NAME(least)(NAME(vector) a, NAME(vector) b)
{
    for (uint32_t i = 0; i < VECTOR_ELEMENTS; i++) {
        a[i] = a[i] < b[i] ? a[i] : b[i];
    }
    return a;
}

static void NAME(climb)(const struct hierarchy_search *search, const void *weights, uint32_t from,
                        void *ret_label)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    const struct hierarchy_shape *shape = &hierarchy->shape;
    const int32_t above = search->above;
    ELEMENT *local = search->local;
    ELEMENT *depth = ret_label;
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
        const uint32_t top = hierarchy->above[s] + columns - 1; /* depth of the first column */
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
}

ALWAYS_INLINE NAME(vector) NAME(add)(const ELEMENT *up, const ELEMENT *down)
{
    NAME(vector) a;
    NAME(vector) b;
    memcpy(&a, up, sizeof(a));
    memcpy(&b, down, sizeof(b));
    return a + b;
}

/* The last vector may overlap the previous one: using a sum twice does not change the minimum. */
static void NAME(meet)(const void *up_label, const void *down_label, uint32_t common, int32_t above,
                       void *ret_element)
{
    const ELEMENT *up = up_label;
    const ELEMENT *down = down_label;
    ELEMENT best = UNREACHABLE;
    (void)above;
    if (common >= VECTOR_ELEMENTS) {
        const uint32_t last = common - (uint32_t)VECTOR_ELEMENTS;
        NAME(vector) least = NAME(add)(up + last, down + last);
        for (uint32_t i = 0; i < last; i += (uint32_t)VECTOR_ELEMENTS) {
            least = NAME(least)(NAME(add)(up + i, down + i), least);
        }
        for (uint32_t i = 0; i < VECTOR_ELEMENTS; i++) {
            best = least[i] < best ? least[i] : best;
        }
    } else {
        for (uint32_t i = 0; i < common; i++) {
            const ELEMENT sum = up[i] + down[i];
            best = sum < best ? sum : best;
        }
    }
    best = CANONICAL(best, above);
    memcpy(ret_element, &best, sizeof(best));
}

/* ---- Rows ----
 *
 * From the root down, the distance of a column is the least sum of an arc from a later vertex and
 * that vertex's distance. The later vertices are ancestors of the column. The reverse of a
 * postorder is a preorder, so their distances are on a stack by depth, which stays in the cache. */

/* Initializes a supernode's elements on the stack: to the source's label for the columns of the
 * source and its ancestors, and to unreachable for all other columns. */
static void NAME(begin)(const struct hierarchy *hierarchy, const struct hierarchy_start *start,
                        uint32_t s, ELEMENT *own, uint32_t lanes, bool is_met)
{
    const ELEMENT *distance = (const ELEMENT *)start->distance + hierarchy->above[s];
    const uint32_t columns = hierarchy_columns(&hierarchy->shape, s);
    const uint32_t last = hierarchy->shape.first[s + 1] - 1;
    for (uint32_t i = 0; i < columns; i++) {
        own[(size_t)i * lanes] = is_met && last - i >= start->from ? distance[i] : UNREACHABLE;
    }
}

/* Computes the elements of one row, with source starts[0], for supernodes [begin, end). */
static void NAME(sweep)(struct hierarchy_search *search, uint32_t begin, uint32_t end,
                        void *ret_row)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    const struct hierarchy_shape *shape = &hierarchy->shape;
    const int32_t above = search->above;
    const ELEMENT *stack = search->stack;
    ELEMENT *local = search->local;
    ELEMENT *row = ret_row;
    uint32_t next = next_met(search, 1, NO_SUPERNODE);
    (void)above;
    for (uint32_t s = end; s-- > begin;) {
        const uint32_t columns = hierarchy_columns(shape, s);
        const uint32_t size = columns + hierarchy_rows_below(shape, s);
        const ELEMENT *arcs = (const ELEMENT *)hierarchy->down + shape->weight_begin[s];
        const uint32_t *row_depth = hierarchy->row_depth + shape->row_begin[s];
        const uint32_t *vertex = shape->vertex_at + shape->first[s];
        ELEMENT *own = (ELEMENT *)search->stack + hierarchy->above[s];
        const bool is_begun = s == next;
        if (is_begun) {
            NAME(begin)(hierarchy, &search->starts[0], s, own, 1, true);
            next = next_met(search, 1, s);
        }
        for (uint32_t i = columns; i < size; i++) {
            local[i] = stack[row_depth[i - columns]];
        }
        for (uint32_t k = columns; k-- > 0;) {
            const ELEMENT *arc = arcs + (size_t)k * size;
            ELEMENT best = is_begun ? own[columns - 1 - k] : UNREACHABLE;
            /* Column k + 1 is used last, because its distance was computed last. */
            for (uint32_t j = size; j-- > k + 1;) {
                const ELEMENT sum = local[j] + arc[j];
                best = sum < best ? sum : best;
            }
            local[k] = CANONICAL(best, above);
            own[columns - 1 - k] = local[k];
            row[vertex[k]] = local[k];
        }
    }
}

typedef ELEMENT NAME(quad) __attribute__((vector_size(4 * sizeof(ELEMENT))));
#define VECTORS (HIERARCHY_LANES * sizeof(ELEMENT) / VECTOR_BYTES)

typedef union {
    ELEMENT at[HIERARCHY_LANES];
    NAME(vector) vector[VECTORS];
} NAME(lanes);

ALWAYS_INLINE void NAME(relax)(NAME(lanes) * best, const NAME(lanes) * from, ELEMENT weight)
{
    for (uint32_t i = 0; i < VECTORS; i++) {
        best->vector[i] = NAME(least)(from->vector[i] + weight, best->vector[i]);
    }
}

/* Relaxes the arcs from one column to the later columns of its supernode and to the rows. The stack
 * holds later vertices before earlier ones. */
ALWAYS_INLINE NAME(lanes)
    NAME(sweep_column)(NAME(lanes) best, const ELEMENT *arc, const NAME(lanes) * column,
                       uint32_t behind, const NAME(lanes) * stack, const uint32_t *row_depth,
                       uint32_t rows, int32_t above)
{
    for (uint32_t j = 0; j < behind; j++) {
        NAME(relax)(&best, column - 1 - j, arc[j]);
    }
    for (uint32_t i = 0; i < rows; i++) {
        NAME(relax)(&best, &stack[row_depth[i]], arc[behind + i]);
    }
    /* Without negative weights, the minimum with the unreachable value is canonical already. */
    for (uint32_t i = 0; i < VECTORS && above < UNREACHABLE_I4 - 1; i++) {
        best.vector[i] = CANONICAL_VECTOR(best.vector[i], above);
    }
    return best;
}

/* Writes the distances of four consecutive vertices into the rows of all lanes, four at a time. */
ALWAYS_INLINE void NAME(write_four)(const NAME(lanes) *const from[4], size_t n, ELEMENT *ret_rows)
{
    for (uint32_t lane = 0; lane < HIERARCHY_LANES; lane += 4) {
        NAME(quad) v[4];
        for (uint32_t i = 0; i < 4; i++) {
            memcpy(&v[i], &from[i]->at[lane], sizeof(v[i]));
        }
        const NAME(quad) a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
        const NAME(quad) b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
        const NAME(quad) c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
        const NAME(quad) d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
        v[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        v[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        v[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
        v[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
        for (uint32_t i = 0; i < 4; i++) {
            memcpy(ret_rows + (lane + i) * n, &v[i], sizeof(v[i]));
        }
    }
}

/* Writes the distances at a block of positions into the rows, in the order of the vertices, so that
 * each cache line is complete before it is evicted. */
ALWAYS_INLINE void NAME(write_block)(const struct hierarchy_search *search, uint32_t first,
                                     uint32_t end, uint32_t count, ELEMENT *ret_rows)
{
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const NAME(lanes) *block = search->block_lanes;
    const size_t n = shape->vertex_count;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t vertex = search->block_order[i];
        const uint32_t *position = &shape->position_of[vertex];
        const NAME(lanes) *from = &block[*position - first];
        if (count == HIERARCHY_LANES && end - i >= 4 && search->block_order[i + 3] == vertex + 3) {
            const NAME(lanes) *const four[] = {from, &block[position[1] - first],
                                               &block[position[2] - first],
                                               &block[position[3] - first]};
            NAME(write_four)(four, n, ret_rows + vertex);
            i += 3;
            continue;
        }
        for (uint32_t lane = 0; lane < count; lane++) {
            ret_rows[lane * n + vertex] = from->at[lane];
        }
    }
}

static void NAME(sweep_lanes)(struct hierarchy_search *search, uint32_t begin, uint32_t end,
                              uint32_t count, void *ret_rows)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    const struct hierarchy_shape *shape = &hierarchy->shape;
    NAME(lanes) *stack = search->stack_lanes;
    NAME(lanes) *block = search->block_lanes;
    NAME(lanes) unreachable;
    for (uint32_t lane = 0; lane < HIERARCHY_LANES; lane++) {
        unreachable.at[lane] = UNREACHABLE;
    }
    uint32_t next = next_met(search, HIERARCHY_LANES, NO_SUPERNODE);
    for (uint32_t s = end; s-- > begin;) {
        const uint32_t columns = hierarchy_columns(shape, s);
        const uint32_t rows = hierarchy_rows_below(shape, s);
        const uint32_t *row_depth = hierarchy->row_depth + shape->row_begin[s];
        NAME(lanes) *own = stack + hierarchy->above[s];
        const bool is_begun = s == next;
        if (is_begun) {
            for (uint32_t lane = 0; lane < HIERARCHY_LANES; lane++) {
                const struct hierarchy_start *start = &search->starts[lane];
                const bool is_met = is_on_path(start, s);
                NAME(begin)(hierarchy, start, s, &own->at[lane], HIERARCHY_LANES, is_met);
            }
            next = next_met(search, HIERARCHY_LANES, s);
        }
        for (uint32_t k = columns; k-- > 0;) {
            const ELEMENT *arc = (const ELEMENT *)hierarchy->down + shape->weight_begin[s] +
                                 (size_t)k * (columns + rows);
            NAME(lanes) *column = own + (columns - 1 - k);
            const NAME(lanes) best =
                NAME(sweep_column)(is_begun ? *column : unreachable, arc + k + 1, column,
                                   columns - 1 - k, stack, row_depth, rows, search->above);
            *column = best;
            const uint32_t position = shape->first[s] + k;
            block[position % HIERARCHY_BLOCK] = best;
            if (position % HIERARCHY_BLOCK == 0) {
                const uint32_t left = shape->vertex_count - position;
                const uint32_t stop = position + (left < HIERARCHY_BLOCK ? left : HIERARCHY_BLOCK);
                if (ret_rows == NULL) {
                    search->sweep.read(search->sweep.context, position, stop - position, block);
                } else if (count == HIERARCHY_LANES) { /* constant, so that loops are unrolled */
                    NAME(write_block)(search, position, stop, HIERARCHY_LANES, ret_rows);
                } else {
                    NAME(write_block)(search, position, stop, count, ret_rows);
                }
            }
        }
    }
}

#undef VECTORS
#undef VECTOR_ELEMENTS
#undef ELEMENT
#undef UNREACHABLE
#undef NAME
#undef CANONICAL
#undef CANONICAL_VECTOR
