#include "proto/write/grid.h"

#include "proto/write/writer.h"

#include <string.h>

static uint64_t count_cells(const struct grid *grid)
{
    return (uint64_t)grid->rows.count * grid->columns.count;
}

enum status grid_size(const struct grid *grid, enum kind as, uint64_t *ret_bytes)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count_cells(grid), kind_size(as), &bytes) || bytes > INT64_MAX / 2) {
        return STATUS_TOO_LARGE;
    }
    *ret_bytes = bytes;
    return STATUS_OK;
}

static void copy_element(const struct grid *grid, enum kind as, const void *row, uint32_t column,
                         void *to)
{
    const size_t size = kind_size(grid->kind);
    if (as == grid->kind) {
        memcpy(to, (const char *)row + column * size, size);
        return;
    }
    const uint16_t narrow = ((const uint16_t *)row)[column];
    const int32_t wide = narrow == UNREACHABLE_U2 ? UNREACHABLE_I4 : narrow;
    memcpy(to, &wide, sizeof(wide));
}

static void copy_elements(const struct grid *grid, enum kind as, const void *row, uint32_t first,
                          uint32_t count, char *to)
{
    const size_t size = kind_size(as);
    if (as == grid->kind && grid->cells.list == NULL) {
        memcpy(to, (const char *)row + (size_t)(grid->cells.first + first) * size, count * size);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        copy_element(grid, as, row, axis_at(&grid->cells, first + i), to + i * size);
    }
}

enum status grid_copy(const struct grid *grid, enum kind as, uint64_t offset, size_t size, void *to,
                      size_t *ret_size)
{
    const size_t element = kind_size(as);
    const uint64_t index = offset / element;
    const size_t within = offset % element;
    const uint32_t column = (uint32_t)(index % grid->columns.count);
    const uint32_t left = grid->columns.count - column;
    const void *row;
    CHECK(as == grid->kind || (as == KIND_I4 && grid->kind == KIND_U2));
    STATUS_TRY(grid->row(grid->context, (uint32_t)(index / grid->columns.count), &row));
    if (row == NULL) {
        *ret_size = 0;
    } else if (within > 0 || size < element) {
        /* Only a part of this element is requested. */
        char whole[8];
        copy_element(grid, as, row, axis_at(&grid->cells, column), whole);
        *ret_size = element - within < size ? element - within : size;
        memcpy(to, whole + within, *ret_size);
    } else {
        const uint32_t count = size / element < left ? (uint32_t)(size / element) : left;
        copy_elements(grid, as, row, column, count, to);
        *ret_size = count * element;
    }
    return STATUS_OK;
}

#define CELLS_PER_PIECE 1024
#define NAMES_PER_PIECE 32

/* The parts of a form, in the order in which they are written. */
enum part { PART_HEAD, PART_SOURCES, PART_COLUMNS, PART_CELLS, PART_TAIL, PART_END };

static void next_part(struct grid_text *writer)
{
    writer->part++;
    writer->position = 0;
}

static bool is_object(enum grid_form form)
{
    return form == GRID_JSON || form == GRID_TABLE || form == GRID_ROW || form == GRID_COLUMN;
}

/* Appends the next names of an axis, with `opening` before the first, `closing` after the last. */
static void append_names(struct grid_text *writer, const struct axis *axis, const char *opening,
                         const char *closing, struct text *text)
{
    const struct vertex_names *names = writer->grid.names;
    const uint64_t left = axis->count - writer->position;
    const uint64_t stop = writer->position + (left < NAMES_PER_PIECE ? left : NAMES_PER_PIECE);
    if (writer->position == 0) {
        text_append_string(text, opening);
    }
    for (; writer->position < stop; writer->position++) {
        const uint32_t row = axis_at(axis, (uint32_t)writer->position);
        if (is_object(writer->form)) {
            text_append(text, ",", writer->position > 0);
            writer_append_vertex(text, names, row);
        } else {
            text_append_char(text, ',');
            writer_append_field(text, names, row);
        }
    }
    if (stop == axis->count) {
        text_append_string(text, closing);
        next_part(writer);
    }
}

static void append_sources(struct grid_text *writer, struct text *text)
{
    if (writer->form == GRID_JSON || writer->form == GRID_TABLE) {
        append_names(writer, &writer->grid.rows, "\"sources\":[", "],", text);
        return;
    }
    if (writer->form == GRID_COLUMN) {
        if (writer->position == 0) {
            text_append_string(text, "\"destination\":");
            writer_append_vertex(text, writer->grid.names, axis_at(&writer->grid.columns, 0));
            text_append_char(text, ',');
        }
        append_names(writer, &writer->grid.rows, "\"sources\":[", "],\"distances\":[", text);
        return;
    }
    if (writer->form == GRID_ROW) {
        text_append_string(text, "\"source\":");
        writer_append_vertex(text, writer->grid.names, axis_at(&writer->grid.rows, 0));
        text_append_char(text, ',');
    }
    next_part(writer);
}

/* Appends `count` cells of the row `source`, beginning with column number `first` of the axis. */
static void append_run(const struct grid_text *writer, const void *source, const struct axis *axis,
                       uint32_t first, uint32_t count, struct text *text)
{
    const bool is_csv = writer->form == GRID_CSV || writer->form == GRID_CSV_NAMED;
    const bool is_mtx = writer->form == GRID_MTX;
    const struct cell_style style = {is_mtx ? '\n' : ',', is_mtx ? "inf" : is_csv ? "" : "null"};
    const uint32_t *list = axis->list != NULL ? axis->list + first : NULL;
    writer_append_cells(text, writer->grid.kind, source, list, axis->first + first, count, &style);
}

/* Returns whether the first cell is written as "+0", the mark of a small matrix. Without the mark,
 * a reader could take the matrix for a list of edges. */
static bool is_marked(const struct grid_text *writer)
{
    const struct grid *grid = &writer->grid;
    const uint32_t count = vertex_names_count(grid->names);
    return writer->form == GRID_CSV && count <= 3 && grid->rows.list == NULL &&
           grid->rows.count == count && grid->columns.list == NULL && grid->columns.count == count;
}

/* Appends cells row by row. writer->position counts cells; an empty row counts as one cell. */
static void append_cells(struct grid_text *writer, struct text *text)
{
    const struct grid *grid = &writer->grid;
    const uint32_t width = grid->columns.count > 0 ? grid->columns.count : 1;
    const uint64_t row = writer->position / width;
    const uint32_t first = (uint32_t)(writer->position % width);
    const bool is_csv = writer->form == GRID_CSV || writer->form == GRID_CSV_NAMED;
    const bool is_list = writer->form == GRID_JSON || writer->form == GRID_TABLE;
    const void *source;
    if (row == grid->rows.count) {
        text_append(text, "[", row == 0 && is_list);
        next_part(writer);
        return;
    }
    if (grid->row(grid->context, (uint32_t)row, &source) != STATUS_OK) {
        text->failed = true;
        return;
    }
    if (source == NULL) {
        return;
    }
    text_append(text, "[", writer->position == 0 && is_list);
    if (first == 0 && writer->form == GRID_CSV_NAMED) {
        writer_append_field(text, grid->names, axis_at(&grid->rows, (uint32_t)row));
        text_append(text, ",", grid->columns.count > 0);
    } else if (first == 0 && !is_csv) {
        text_append(text, ",", is_object(writer->form) && row > 0);
        text_append(text, "[", writer->form != GRID_COLUMN);
    }
    const uint32_t left = grid->columns.count - (grid->columns.count > 0 ? first : 0);
    const uint32_t count = left < CELLS_PER_PIECE ? left : CELLS_PER_PIECE;
    text_append(text, ",", first > 0);
    text_append(text, "+", writer->position == 0 && is_marked(writer));
    append_run(writer, source, &grid->cells, first, count, text);
    writer->position += count > 0 ? count : 1;
    if (count == left && writer->form != GRID_COLUMN) {
        text_append_string(text, is_csv ? "\n" : writer->form == GRID_NDJSON ? "]\n" : "]");
    }
}

/* Appends cells column by column, the order of Matrix Market. writer->position counts cells. */
static void append_down(struct grid_text *writer, struct text *text)
{
    const struct grid *grid = &writer->grid;
    const uint32_t height = grid->rows.count;
    const void *source;
    if (writer->position == count_cells(grid)) {
        next_part(writer);
        return;
    }
    const uint32_t first = (uint32_t)(writer->position % height);
    const uint32_t count = height - first < CELLS_PER_PIECE ? height - first : CELLS_PER_PIECE;
    if (grid->row(grid->context, (uint32_t)(writer->position / height), &source) != STATUS_OK) {
        text->failed = true;
    } else if (source != NULL) {
        append_run(writer, source, &grid->cells, first, count, text);
        text_append_char(text, '\n');
        writer->position += count;
    }
}

static void append_head(struct grid_text *writer, struct text *text)
{
    const bool is_real = kind_is_float(writer->grid.kind) || writer->has_unreachable;
    if (writer->form == GRID_MTX) {
        text_printf(text, "%%%%MatrixMarket matrix array %s general\n%% inf: unreachable\n%u %u\n",
                    is_real ? "real" : "integer", (unsigned)writer->grid.rows.count,
                    (unsigned)writer->grid.columns.count);
    } else if (is_object(writer->form)) {
        text_append_string(text, writer->form == GRID_TABLE ? "{\"code\":\"Ok\"," : "{");
    }
    next_part(writer);
}

bool grid_text_next(struct grid_text *writer, struct text *text)
{
    switch ((enum part)writer->part) {
    case PART_HEAD:
        append_head(writer, text);
        break;
    case PART_SOURCES:
        append_sources(writer, text);
        break;
    case PART_COLUMNS:
        if (is_object(writer->form) && writer->form != GRID_COLUMN) {
            append_names(writer, &writer->grid.columns, "\"destinations\":[",
                         "],\"distances\":", text);
        } else if (writer->form == GRID_CSV_NAMED) {
            append_names(writer, &writer->grid.columns, "", "\n", text);
        } else {
            next_part(writer);
        }
        break;
    case PART_CELLS:
        if (writer->form == GRID_MTX) {
            append_down(writer, text);
        } else {
            append_cells(writer, text);
        }
        break;
    case PART_TAIL:
        if (is_object(writer->form)) {
            text_append_string(text, writer->form == GRID_ROW ? "}\n" : "]}\n");
        }
        next_part(writer);
        break;
    case PART_END:
        CHECK(false);
    }
    return writer->part < PART_END;
}
