/* The operations on the fronts of customize.c, for one kind. This file has no include guard,
 * because it is included once for each kind, after these definitions:
 *   ELEMENT, UNREACHABLE       the element type and its unreachable value
 *   NAME(verb)                 the name with the kind's suffix
 *   CANONICAL(x, above)        x, but UNREACHABLE for an integer greater than `above`: with weights
 *                              below 0, sums with UNREACHABLE fall below UNREACHABLE, and no such
 *                              sum may be used in another sum
 *
 * A front is size x size elements: the columns of a supernode, then its rows. For an undirected
 * graph only the half on and above the diagonal is used. */

static void NAME(clear)(void *weights, uint64_t count)
{
    ELEMENT *to = weights;
    for (uint64_t i = 0; i < count; i++) {
        to[i] = UNREACHABLE;
    }
}

static void NAME(load)(const struct front *front, const void *up_weights, const void *down_weights)
{
    const uint32_t size = front->size;
    ELEMENT *elements = front->elements;
    for (size_t i = 0; i < (size_t)size * size; i++) {
        elements[i] = UNREACHABLE;
    }
    for (uint32_t k = 0; k < front->columns; k++) {
        const ELEMENT *up = (const ELEMENT *)up_weights + (size_t)k * size;
        const ELEMENT *down = (const ELEMENT *)down_weights + (size_t)k * size;
        memcpy(elements + (size_t)k * size + k + 1, up + k + 1, (size - k - 1) * sizeof(*up));
        for (uint32_t i = k + 1; i < size && !front->symmetric; i++) {
            elements[(size_t)i * size + k] = down[i];
        }
        elements[(size_t)k * size + k] = 0;
    }
}

/* Merges the remains of a child, the entries between its `count` rows. place: for each of these
 * rows, its index in this front. */
static void NAME(assemble)(const struct front *front, const void *remains, uint32_t count,
                           const uint32_t *place)
{
    const ELEMENT *from = remains;
    for (uint32_t i = 0; i < count; i++, from += count) {
        ELEMENT *to = (ELEMENT *)front->elements + (size_t)place[i] * front->size;
        for (uint32_t j = front->symmetric ? i : 0; j < count; j++) {
            const ELEMENT way = from[j];
            to[place[j]] = way < to[place[j]] ? way : to[place[j]];
        }
    }
}

/* Eliminates a front's columns. Returns false at a negative cycle. Ends early after a cancel. */
static bool NAME(eliminate)(const struct front *front, int32_t above)
{
    const uint32_t size = front->size;
    ELEMENT *elements = front->elements;
    (void)above;
    for (uint32_t k = 0; k < front->columns; k++) {
        ELEMENT *restrict pivot = elements + (size_t)k * size;
        if (pivot[k] < 0) {
            return false;
        }
        if (k % PIVOTS_AT_ONCE == PIVOTS_AT_ONCE - 1 && !goes_on(front->run, front->hand, k)) {
            return true;
        }
        pivot[k] = 0;
        for (uint32_t j = k + 1; j < size; j++) {
            pivot[j] = CANONICAL(pivot[j], above);
        }
        for (uint32_t i = k + 1; i < size; i++) {
            ELEMENT *restrict row = elements + (size_t)i * size;
            const ELEMENT way = front->symmetric ? pivot[i] : CANONICAL(row[k], above);
            if (way == UNREACHABLE) {
                continue;
            }
            for (uint32_t j = front->symmetric ? i : k + 1; j < size; j++) {
                const ELEMENT sum = way + pivot[j];
                row[j] = sum < row[j] ? sum : row[j];
            }
        }
    }
    return true;
}

/* Stores the arcs of the front's columns, and in remains the entries between its rows. */
static void NAME(keep)(const struct front *front, int32_t above, void *up_weights,
                       void *down_weights, void *remains)
{
    const uint32_t size = front->size;
    const uint32_t columns = front->columns;
    const uint32_t rows = size - columns;
    const ELEMENT *elements = front->elements;
    (void)above;
    for (uint32_t k = 0; k < columns; k++) {
        ELEMENT *up = (ELEMENT *)up_weights + (size_t)k * size;
        ELEMENT *down = (ELEMENT *)down_weights + (size_t)k * size;
        for (uint32_t i = 0; i <= k; i++) {
            up[i] = UNREACHABLE;
            down[i] = UNREACHABLE;
        }
        memcpy(up + k + 1, elements + (size_t)k * size + k + 1, (size - k - 1) * sizeof(*up));
        for (uint32_t i = k + 1; i < size && !front->symmetric; i++) {
            down[i] = CANONICAL(elements[(size_t)i * size + k], above);
        }
    }
    for (uint32_t i = 0; i < rows; i++) {
        memcpy((ELEMENT *)remains + (size_t)i * rows,
               elements + (size_t)(columns + i) * size + columns, rows * sizeof(*elements));
    }
}

static const struct front_operations NAME(operations) = {NAME(clear), NAME(load), NAME(assemble),
                                                         NAME(eliminate), NAME(keep)};

#undef ELEMENT
#undef UNREACHABLE
#undef NAME
#undef CANONICAL
