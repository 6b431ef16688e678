#include "proto/write/grid.h"

#include "proto/write/writer.h"

#include <string.h>

enum status grid_size(const struct grid *grid, enum kind as, uint64_t *ret_bytes)
{
    const uint64_t count = (uint64_t)grid->rows.count * grid->columns.count;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, kind_size(as), &bytes) || bytes > INT64_MAX / 2) {
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
enum part { PART_HEAD, PART_NAMES, PART_MORE_NAMES, PART_CELLS, PART_TAIL, PART_END };

/* A list of the names of an axis, and the texts before and after it. */
struct name_list {
    enum { NO_NAMES, ROW_NAMES, COLUMN_NAMES } axis;
    const char *opening;
    const char *closing;
};

/* The texts of each form. In GRID_MTX a row of cells is a column of the grid. */
static const struct form {
    const char *head;
    struct name_list names[2];
    struct {
        const char *between; /* separates rows */
        const char *opening; /* these two enclose each row */
        const char *closing;
    } rows;
    struct cell_style style;
    const char *tail;
} forms[] = {
    [GRID_JSON] = {"{",
                   {{ROW_NAMES, "\"sources\":[", "],"},
                    {COLUMN_NAMES, "\"destinations\":[", "],\"distances\":["}},
                   {",", "[", "]"},
                   {',', "null"},
                   "]}\n"},
    [GRID_TABLE] = {"{\"code\":\"Ok\",",
                    {{ROW_NAMES, "\"sources\":[", "],"},
                     {COLUMN_NAMES, "\"destinations\":[", "],\"distances\":["}},
                    {",", "[", "]"},
                    {',', "null"},
                    "]}\n"},
    [GRID_ROW] = {"{",
                  {{ROW_NAMES, "\"source\":", ","},
                   {COLUMN_NAMES, "\"destinations\":[", "],\"distances\":"}},
                  {"", "[", "]"},
                  {',', "null"},
                  "}\n"},
    [GRID_COLUMN] = {"{",
                     {{COLUMN_NAMES, "\"destination\":", ","},
                      {ROW_NAMES, "\"sources\":[", "],\"distances\":["}},
                     {",", "", ""},
                     {',', "null"},
                     "]}\n"},
    [GRID_CSV] = {"", {{NO_NAMES}}, {"", "", "\n"}, {',', ""}, ""},
    [GRID_CSV_NAMED] = {"", {{COLUMN_NAMES, "", "\n"}}, {"", "", "\n"}, {',', ""}, ""},
    [GRID_NDJSON] = {"", {{NO_NAMES}}, {"", "[", "]\n"}, {',', "null"}, ""},
    [GRID_MTX] = {"", {{NO_NAMES}}, {"", "", "\n"}, {'\n', "inf"}, ""},
};

static void next_part(struct grid_text *writer)
{
    writer->part++;
    writer->position = 0;
}

static void append_head(struct grid_text *writer, struct text *text)
{
    const bool is_real = kind_is_float(writer->grid.kind) || writer->has_unreachable;
    text_append_string(text, forms[writer->form].head);
    if (writer->form == GRID_MTX) {
        text_printf(text, "%%%%MatrixMarket matrix array %s general\n%% inf: unreachable\n%u %u\n",
                    is_real ? "real" : "integer", (unsigned)writer->grid.rows.count,
                    (unsigned)writer->grid.columns.count);
    }
    next_part(writer);
}

/* Appends the next names of a list. */
static void append_names(struct grid_text *writer, const struct name_list *list, struct text *text)
{
    const struct grid *grid = &writer->grid;
    const struct axis *axis = list->axis == ROW_NAMES ? &grid->rows : &grid->columns;
    const uint64_t left = axis->count - writer->position;
    const uint64_t stop = writer->position + (left < NAMES_PER_PIECE ? left : NAMES_PER_PIECE);
    if (list->axis == NO_NAMES) {
        next_part(writer);
        return;
    }
    text_append_string(text, writer->position == 0 ? list->opening : "");
    for (; writer->position < stop; writer->position++) {
        const uint32_t row = axis_at(axis, (uint32_t)writer->position);
        if (writer->form == GRID_CSV_NAMED) {
            text_append_char(text, ',');
            writer_append_field(text, grid->names, row);
        } else {
            text_append(text, ",", writer->position > 0);
            writer_append_vertex(text, grid->names, row);
        }
    }
    if (stop == axis->count) {
        text_append_string(text, list->closing);
        next_part(writer);
    }
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

/* Appends cells row by row, or column by column for Matrix Market. writer->position counts cells;
 * an empty row counts as one cell. */
static void append_cells(struct grid_text *writer, struct text *text)
{
    const struct form *form = &forms[writer->form];
    const struct grid *grid = &writer->grid;
    const bool is_down = writer->form == GRID_MTX;
    const uint32_t height = is_down ? grid->columns.count : grid->rows.count;
    const uint32_t width = is_down ? grid->rows.count : grid->columns.count;
    const uint64_t row = writer->position / (width > 0 ? width : 1);
    const uint32_t first = width > 0 ? (uint32_t)(writer->position % width) : 0;
    const uint32_t count = width - first < CELLS_PER_PIECE ? width - first : CELLS_PER_PIECE;
    const uint32_t *list = grid->cells.list != NULL ? grid->cells.list + first : NULL;
    const void *source;
    if (row == height || (is_down && width == 0)) {
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
    if (first == 0) {
        text_append_string(text, row > 0 ? form->rows.between : "");
        text_append_string(text, form->rows.opening);
    }
    if (first == 0 && writer->form == GRID_CSV_NAMED) {
        writer_append_field(text, grid->names, axis_at(&grid->rows, (uint32_t)row));
        text_append(text, ",", width > 0);
    }
    text_append(text, &form->style.separator, first > 0);
    text_append(text, "+", writer->position == 0 && is_marked(writer));
    writer_append_cells(text, grid->kind, source, list, grid->cells.first + first, count,
                        &form->style);
    writer->position += count > 0 ? count : 1;
    text_append_string(text, first + count == width ? form->rows.closing : "");
}

bool grid_text_next(struct grid_text *writer, struct text *text)
{
    const struct form *form = &forms[writer->form];
    switch ((enum part)writer->part) {
    case PART_HEAD:
        append_head(writer, text);
        break;
    case PART_NAMES:
    case PART_MORE_NAMES:
        append_names(writer, &form->names[writer->part - PART_NAMES], text);
        break;
    case PART_CELLS:
        append_cells(writer, text);
        break;
    case PART_TAIL:
        text_append_string(text, form->tail);
        next_part(writer);
        break;
    case PART_END:
        CHECK(false);
    }
    return writer->part < PART_END;
}
