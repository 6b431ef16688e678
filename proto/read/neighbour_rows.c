#include "proto/read/neighbour_rows.h"

#include "proto/read/reader.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256

void neighbour_rows_finish(struct neighbour_rows *neighbour_rows)
{
    free(neighbour_rows->entries);
    free(neighbour_rows->rows);
    *neighbour_rows = (struct neighbour_rows){0};
}

static enum status no_memory(struct problem *reterr)
{
    return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
}

enum status neighbour_rows_add(struct neighbour_rows *neighbour_rows,
                               struct neighbour_rows_entry entry, struct problem *reterr)
{
    if (neighbour_rows->entry_count == neighbour_rows->entry_capacity) {
        size_t capacity = neighbour_rows->entry_capacity == 0 ? FIRST_CAPACITY
                                                              : neighbour_rows->entry_capacity * 2;
        struct neighbour_rows_entry *entries =
            reallocarray(neighbour_rows->entries, capacity, sizeof(*entries));

        if (entries == NULL) {
            return no_memory(reterr);
        }
        neighbour_rows->entries = entries;
        neighbour_rows->entry_capacity = capacity;
    }
    neighbour_rows->entries[neighbour_rows->entry_count++] = entry;
    return STATUS_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const struct neighbour_rows_entry *x = a;
    const struct neighbour_rows_entry *y = b;

    if (x->other != y->other) {
        return x->other < y->other ? -1 : 1;
    }
    if (x->weight != y->weight) {
        return x->weight < y->weight ? -1 : 1;
    }
    return (x->column > y->column) - (x->column < y->column);
}

/* Most files list neighbours in order. */
static void sort_entries(struct neighbour_rows *neighbour_rows)
{
    for (size_t i = 1; i < neighbour_rows->entry_count; i++) {
        if (compare_entries(&neighbour_rows->entries[i - 1], &neighbour_rows->entries[i]) > 0) {
            qsort(neighbour_rows->entries, neighbour_rows->entry_count,
                  sizeof(*neighbour_rows->entries), compare_entries);
            return;
        }
    }
}

static enum status refuse_one_way(uint32_t lister, uint32_t other, uint64_t line, uint64_t column,
                                  struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_GRAPH,
                "Vertex %u lists vertex %u, but vertex %u does not list vertex %u.", lister + 1,
                other + 1, other + 1, lister + 1);
    problem_at(reterr, line, column);
    problem_hint(reterr, "Both ends of an edge list it; a file of directed edges is an edge list.");
    return STATUS_BAD_GRAPH;
}

/* The end of a row's edges to later rows. */
static uint64_t end_of(const struct neighbour_rows *neighbour_rows, uint32_t row)
{
    return row + 1 < neighbour_rows->row_count ? neighbour_rows->rows[row + 1].begin
                                               : graph_builder_edge_count(neighbour_rows->builder);
}

/* The row lists an earlier one, which must have listed it, next of those left. The row's own edges
 * to later rows come after these. */
static enum status match(struct neighbour_rows *neighbour_rows, uint32_t row,
                         const struct neighbour_rows_entry *entry, uint64_t line,
                         struct problem *reterr)
{
    struct neighbour_rows_row *other = &neighbour_rows->rows[entry->other];
    uint32_t ends[2] = {0, NO_VERTEX};
    double weight = 0;

    if (other->next < end_of(neighbour_rows, entry->other)) {
        weight = graph_builder_edge(neighbour_rows->builder, other->next, ends);
    }
    if (ends[1] < row) {
        return refuse_one_way(entry->other, ends[1], other->line, 0, reterr);
    }
    if (ends[1] != row) {
        return refuse_one_way(row, entry->other, line, entry->column, reterr);
    }
    if (weight != entry->weight) {
        problem_set(reterr, STATUS_BAD_GRAPH,
                    "The edge has weight %.17g here and %.17g in the list of vertex %u.",
                    entry->weight, weight, entry->other + 1);
        problem_at(reterr, line, entry->column);
        problem_hint(reterr, "Both ends of an edge list it, with the same weight.");
        return STATUS_BAD_GRAPH;
    }
    other->next++;
    return STATUS_OK;
}

static enum status take_entry(struct neighbour_rows *neighbour_rows, uint32_t row,
                              const struct neighbour_rows_entry *entry, uint64_t line,
                              struct problem *reterr)
{
    enum status status;

    if (entry->other == row) {
        problem_set(reterr, STATUS_BAD_GRAPH, "Vertex %u lists itself: this format has no loops.",
                    row + 1);
        problem_at(reterr, line, entry->column);
        problem_hint(reterr, "Take the loop out: it shortens no path.");
        return STATUS_BAD_GRAPH;
    }
    if (entry->other < row) {
        return match(neighbour_rows, row, entry, line, reterr);
    }
    status = graph_builder_add_real(neighbour_rows->builder, row, entry->other, entry->weight);
    if (reader_add_failed(status, neighbour_rows->options, reterr)) {
        problem_at(reterr, line, entry->column);
    }
    return status;
}

static enum status add_row(struct neighbour_rows *neighbour_rows, struct neighbour_rows_row row,
                           struct problem *reterr)
{
    if (neighbour_rows->row_count == neighbour_rows->row_capacity) {
        uint32_t capacity =
            neighbour_rows->row_capacity == 0 ? FIRST_CAPACITY : neighbour_rows->row_capacity * 2;
        struct neighbour_rows_row *rows =
            reallocarray(neighbour_rows->rows, capacity, sizeof(*rows));

        if (rows == NULL) {
            return no_memory(reterr);
        }
        neighbour_rows->rows = rows;
        neighbour_rows->row_capacity = capacity;
    }
    neighbour_rows->rows[neighbour_rows->row_count++] = row;
    return STATUS_OK;
}

enum status neighbour_rows_end_row(struct neighbour_rows *neighbour_rows, uint64_t line,
                                   struct problem *reterr)
{
    uint64_t begin = graph_builder_edge_count(neighbour_rows->builder);
    uint32_t row = neighbour_rows->row_count;
    enum status status = STATUS_OK;

    sort_entries(neighbour_rows);
    for (size_t i = 0; i < neighbour_rows->entry_count && status == STATUS_OK; i++) {
        status = take_entry(neighbour_rows, row, &neighbour_rows->entries[i], line, reterr);
    }
    neighbour_rows->entry_count = 0;
    if (status != STATUS_OK) {
        return status;
    }
    return add_row(neighbour_rows, (struct neighbour_rows_row){begin, begin, line}, reterr);
}

enum status neighbour_rows_end(const struct neighbour_rows *neighbour_rows, struct problem *reterr)
{
    for (uint32_t row = 0; row < neighbour_rows->row_count; row++) {
        const struct neighbour_rows_row *its = &neighbour_rows->rows[row];
        uint32_t ends[2];

        if (its->next < end_of(neighbour_rows, row)) {
            (void)graph_builder_edge(neighbour_rows->builder, its->next, ends);
            return refuse_one_way(row, ends[1], its->line, 0, reterr);
        }
    }
    return STATUS_OK;
}
