/* Reads a matrix as a text table: one row per line, with columns separated by commas, semicolons,
 * tabs or spaces. Entry (i, j) is the weight of the edge from vertex i to vertex j. An empty field,
 * inf, nan, NA, null and '-' are missing edges, as is a 0 on the diagonal. A 0 elsewhere is an edge
 * of weight 0 if other entries mark missing edges, and a missing edge if none does, as in the
 * tables of NumPy, NetworkX and igraph. A header, the first field of each line, or both name the
 * vertices; otherwise they are 0..n-1. */
#include "proto/read/table.h"

#include "proto/name_table.h"
#include "proto/number.h"
#include "proto/read/columns.h"
#include "proto/read/edge_checks.h"
#include "proto/read/reader.h"
#include "proto/read/sniff.h"
#include "proto/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Maximum size of a line in bytes, enough for half a million numbers of 32 bytes. */
#define TABLE_LINE_LIMIT ((size_t)16 << 20)
/* A table with this number of columns cannot be an edge list. */
#define WIDE 8

struct table {
    struct reader reader;
    struct field_cursor cursor;
    struct text scratch;
    struct text first; /* the first line, which may be a header */
    uint64_t first_line;
    struct name_table *names;
    struct text zeros; /* one bit per zero off the diagonal; each row begins at a new byte */
    uint64_t zero_count;
    uint32_t width; /* number of columns with numbers */
    uint32_t row;   /* index of the next row */
    bool decided;   /* whether header, names and width are known */
    bool has_header;
    bool has_row_names;
    bool has_ends;     /* the header has names for source and target: an edge list */
    bool is_refused;   /* the file is a table, but its first line or a cell was refused */
    bool has_mark;     /* the first cell is "+0", as this service writes small matrices */
    bool has_corner;   /* an empty cell precedes the names in the header */
    bool is_open;      /* every line so far ends with an empty cell */
    bool was_open;     /* every line ends with a delimiter, without a cell after it */
    char announced;    /* delimiter declared by a line "sep=;", or 0 */
    size_t zeros_size; /* size of a row of zeros in bytes */
    bool marked;       /* some missing edge off the diagonal is marked by a value other than 0 */
    bool has_loops;    /* whether any diagonal entry is not 0 */
    bool has_decimals; /* some number in the first two columns cannot name a vertex */
};

static bool is_missing(struct field field)
{
    return field.size == 0 || (field.size == 1 && *field.bytes == '-') ||
           (*field.bytes != '-' && reader_is_not_finite(field.bytes, field.size));
}

static bool is_n_a(struct field field)
{
    return field.size == 3 && strncasecmp(field.bytes, "n/a", 3) == 0;
}

/* Returns whether a field may be a cell rather than a name. "-inf" and "n/a" are cells too, which
 * parse_cell then refuses. */
static bool is_cell(const struct table *table, struct field field)
{
    return is_missing(field) || is_n_a(field) || reader_is_not_finite(field.bytes, field.size) ||
           reader_is_number(&table->reader, field);
}

static enum status reserve_scratch(struct table *table, size_t size)
{
    text_clear(&table->scratch);
    table->cursor.scratch = text_reserve(&table->scratch, size + 1);
    return table->cursor.scratch != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status begin_line(struct table *table, const char *line, size_t size)
{
    field_cursor_begin(&table->cursor, line, size);
    return reserve_scratch(table, size);
}

/* Properties of a line that distinguish a header from a row. */
struct line_look {
    uint32_t count;
    struct field fields[2]; /* the first fields; their bytes are in the line or in scratch */
    bool rest_are_cells;    /* every field after the first is a cell */
    bool has_ends;          /* the fields name a source and a target */
};

static enum status look_at_line(struct table *table, const char *line, size_t size,
                                struct line_look *look, struct problem *reterr)
{
    struct table_row row = {0};
    const struct columns columns = {.reader = &table->reader};

    *look = (struct line_look){.rest_are_cells = true};
    field_cursor_begin(&table->cursor, line, size);
    for (; table->cursor.more; look->count++) {
        struct field field;

        STATUS_TRY(field_cursor_next(&table->cursor, &field, reterr));
        look->rest_are_cells &= look->count == 0 || is_cell(table, field);
        if (row.count < TABLE_COLUMN_LIMIT) {
            row.fields[row.count++] = field;
        }
    }
    look->fields[0] = row.fields[0];
    look->fields[1] = row.fields[1];
    look->has_ends = columns_know_header(&columns, &row);
    return STATUS_OK;
}

static enum status parse_name(struct table *table, struct field name, uint32_t row,
                              struct problem *reterr)
{
    uint32_t named;

    STATUS_TRY(reader_name_vertex(table->names, name, &named, reterr));
    if (named != row) {
        return problem_bad_graph(
            reterr, 0, name.column,
            "The name '%.*s' differs from the name of vertex %u, counted from 1.",
            name.size > 40 ? 40 : (int)name.size, name.bytes, row + 1);
    }
    return STATUS_OK;
}

static enum status parse_header(struct table *table, bool has_corner, struct problem *reterr)
{
    struct field field;

    STATUS_TRY(begin_line(table, table->first.bytes, table->first.size));
    STATUS_TRY(has_corner ? field_cursor_next(&table->cursor, &field, reterr) : STATUS_OK);
    for (uint32_t i = 0; i < table->width; i++) {
        STATUS_TRY(field_cursor_next(&table->cursor, &field, reterr));
        STATUS_TRY(parse_name(table, field, i, reterr));
    }
    return STATUS_OK;
}

static enum status parse_cell(struct table *table, struct field field, uint32_t column,
                              unsigned char *zeros, struct problem *reterr)
{
    const uint32_t ends[2] = {table->row, column};
    const bool on_diagonal = table->row == column;
    double value;

    if (is_n_a(field)) {
        table->is_refused = true;
        return problem_bad_graph_hint(
            reterr, 0, field.column,
            "Leave the field of a missing edge empty: sed 's#N/A##g' g.csv >h.csv",
            "'%.3s' is not a number.", field.bytes);
    }
    if (is_missing(field)) {
        table->marked |= !on_diagonal;
        table->has_decimals |= column < 2;
        return STATUS_OK;
    }
    if (column < 2) {
        char digits[24];
        const struct field name = edge_check_integer(field, digits);
        int64_t vertex;

        table->has_decimals |= !number_parse_integer(name.bytes, name.size, &vertex) || vertex < 0;
    }
    /* Checks the first character first: every zero begins like this, but few other numbers do. */
    if (strchr("0-+.", field.bytes[0]) != NULL &&
        number_parse_real(field.bytes, field.size, &value) && value == 0) {
        if (!on_diagonal) {
            zeros[column / CHAR_BIT] |= (unsigned char)(1u << column % CHAR_BIT);
            table->zero_count++;
        }
        return STATUS_OK;
    }
    table->has_loops |= on_diagonal;
    return reader_add_edge(&table->reader, ends, field, reterr);
}

static enum status refuse_shape(const struct table *table, struct problem *reterr)
{
    problem_bad_graph(reterr, 0, 0,
                      "The table has %u columns of numbers, but %s than %u lines; a matrix has as "
                      "many lines as columns.",
                      table->width, table->row < table->width ? "fewer" : "more", table->width);
    if (table->row < table->width) {
        problem_at(reterr, table->reader.splitter.line, 0);
    }
    if (table->width > 1 && !table->has_row_names) {
        problem_hint(reterr, "Use format=edges%s to read the table as a list of edges.",
                     table->width > 3 && !table->has_header ? " and weight=3" : "");
    }
    return STATUS_BAD_GRAPH;
}

static enum status parse_row(struct table *table, const char *line, size_t size,
                             struct problem *reterr)
{
    const size_t zeros_size = table->zeros_size;
    unsigned char *zeros = (unsigned char *)text_reserve(&table->zeros, zeros_size + 1);
    struct field field = {0};

    STATUS_TRY(begin_line(table, line, size));
    if (zeros == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (table->row == table->width) {
        return refuse_shape(table, reterr);
    }
    memset(zeros, 0, zeros_size);
    if (table->has_row_names) {
        STATUS_TRY(field_cursor_next(&table->cursor, &field, reterr));
        STATUS_TRY(parse_name(table, field, table->row, reterr));
    }
    for (uint32_t i = 0; i < table->width; i++) {
        if (!table->cursor.more) {
            return problem_bad_graph(reterr, 0, 0,
                                     "The line has %u numbers, but the lines above have %u.", i,
                                     table->width);
        }
        STATUS_TRY(field_cursor_next(&table->cursor, &field, reterr));
        STATUS_TRY(parse_cell(table, field, i, zeros, reterr));
    }
    if (table->cursor.more) {
        return problem_bad_graph(reterr, 0, (uint64_t)(table->cursor.at - line) + 1,
                                 "The line has more numbers than the lines above, which have %u.",
                                 table->width);
    }
    text_advance(&table->zeros, zeros_size);
    table->is_open &= field.size == 0;
    table->row++;
    return STATUS_OK;
}

/* Decides the layout from the first line and the next (NULL: none), then parses the first line. */
static enum status decide_layout(struct table *table, const char *line, size_t size,
                                 struct problem *reterr)
{
    const char *first = table->first.bytes;
    const size_t first_size = table->first.size;
    struct line_look head;
    struct line_look second = {0};

    table->cursor.delimiter =
        table->announced != '\0' ? table->announced
        : memchr(first, '\t', first_size) != NULL
            ? '\t'
            : field_delimiter(first, first_size, table->reader.options.has_decimal_comma);
    STATUS_TRY(reserve_scratch(table, first_size + size));
    if (line != NULL) {
        (void)!look_at_line(table, line, size, &second, NULL);
    }
    STATUS_TRY(look_at_line(table, first, first_size, &head, reterr));
    const struct field corner = head.fields[0];
    const bool is_shorter = head.count + 1 == second.count;
    const struct field label = is_shorter ? corner : head.fields[1];
    const bool is_same = label.size > 0 && label.size == second.fields[0].size &&
                         memcmp(label.bytes, second.fields[0].bytes, label.size) == 0;
    const bool may_be_row = is_cell(table, corner) && head.rest_are_cells;
    const bool is_labelled =
        is_same &&
        (is_shorter || (head.count == second.count && (corner.size == 0 || !may_be_row)));
    table->has_header = is_labelled || !head.rest_are_cells;
    table->has_row_names =
        is_labelled || (table->has_header ? corner.size == 0 : !is_cell(table, corner));
    table->has_ends = head.has_ends;
    table->width = head.count - (table->has_row_names && !(is_labelled && is_shorter));
    table->zeros_size = ((size_t)table->width + CHAR_BIT - 1) / CHAR_BIT;
    table->has_mark = corner.size == 2 && memcmp(corner.bytes, "+0", 2) == 0;
    table->has_corner = table->has_header && corner.size == 0;
    table->is_open = true;
    table->decided = true;
    /* A header of numbers looks like the first row of a symmetric matrix with an empty diagonal. */
    table->is_refused = is_labelled && !is_shorter && may_be_row && is_missing(second.fields[1]) &&
                        (label.size > 1 || *label.bytes != '0');
    if (table->is_refused) {
        return problem_bad_graph_hint(
            reterr, 0, 0,
            "Put a 0 into the first field if the line is a row, or a word if the line is a header.",
            "The first field is empty, so the line may name the columns or be a row of the "
            "matrix.");
    }
    STATUS_TRY(reader_announce(&table->reader, table->width, 0, reterr));
    return table->has_header ? parse_header(table, table->width < head.count, reterr)
                             : parse_row(table, first, first_size, reterr);
}

/* Parses the first line. A problem gets the number of that line. */
static enum status parse_first_line(struct table *table, const char *line, size_t size,
                                    struct problem *reterr)
{
    const enum status status = decide_layout(table, line, size, reterr);

    if (status != STATUS_OK && reterr != NULL) {
        problem_at(reterr, table->first_line, reterr->column);
    }
    return status;
}

static enum status parse_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct table *table = context;
    size_t blanks = 0;

    /* A line that contains only tabs is a row of empty cells. */
    while (blanks < size &&
           (line[blanks] == ' ' || (line[blanks] == '\t' && table->cursor.delimiter == ' '))) {
        blanks++;
    }
    if (blanks == size ||
        (table->first.size == 0 && (line[blanks] == '#' || line[blanks] == '%'))) {
        return STATUS_OK;
    }
    if (table->first.size == 0 && field_announced_delimiter(line, size) != '\0') {
        table->announced = field_announced_delimiter(line, size);
        return STATUS_OK;
    }
    if (table->first.size == 0) {
        text_append(&table->first, line, size);
        table->first_line = table->reader.splitter.line;
        return text_status(&table->first);
    }
    STATUS_TRY(table->decided ? STATUS_OK : parse_first_line(table, line, size, reterr));
    return parse_row(table, line, size, reterr);
}

static enum status add_zeros(struct table *table, struct problem *reterr)
{
    const size_t zeros_size = table->zeros_size;
    const unsigned char *zeros = (const unsigned char *)table->zeros.bytes;

    for (uint32_t row = 0; row < table->width; row++, zeros += zeros_size) {
        for (uint32_t column = 0; column < table->width; column++) {
            const uint32_t ends[2] = {row, column};

            if ((zeros[column / CHAR_BIT] >> column % CHAR_BIT & 1) != 0) {
                STATUS_TRY(reader_add_real(&table->reader, ends, 0, reterr));
            }
        }
    }
    return STATUS_OK;
}

static void note_layout(struct table *table)
{
    static const char *const names[] = {"no names", "names in a header", "names in the lines",
                                        "names in a header and the lines"};
    struct reader_notes *notes = &table->reader.notes;

    snprintf(notes->variant, sizeof(notes->variant), "%s, %s",
             field_delimiter_name(table->cursor.delimiter),
             names[table->has_header + 2 * table->has_row_names]);
    if (table->zero_count > 0 && !table->marked) {
        warning_hint(warning_add(&notes->warnings, WARNING_FORMAT_GUESSED,
                                 "The table was read as a matrix, and the %llu zeros off its "
                                 "diagonal as missing edges, because no other value marks them.",
                                 (unsigned long long)table->zero_count),
                     "To read a 0 as an edge of weight 0, mark missing edges with an empty field, "
                     "inf or nan, or upload an .npy file.");
    } else if (table->reader.options.format_guessed) {
        warning_hint(
            warning_add(&notes->warnings, WARNING_FORMAT_GUESSED,
                        "The table was read as a matrix, because it has as many lines as columns."),
            "format=edges reads the table as a list of edges.");
    }
}

static enum status finish_table(struct reader *reader, struct graph **ret_graph,
                                struct problem *reterr)
{
    struct table *table = (struct table *)reader;

    if (table->first.size == 0) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "The table has no lines of numbers.");
    }
    STATUS_TRY(table->decided ? STATUS_OK : parse_first_line(table, NULL, 0, reterr));
    table->was_open = table->is_open && table->row + 1 == table->width && !table->has_header;
    table->width -= table->was_open;
    if (table->row != table->width) {
        return refuse_shape(table, reterr);
    }
    STATUS_TRY(table->marked && table->zero_count > 0 ? add_zeros(table, reterr) : STATUS_OK);
    note_layout(table);
    if (!table->has_header && !table->has_row_names) {
        return reader_finish_range(reader, table->width, 0, NULL, true, ret_graph, reterr);
    }
    return reader_finish_names(reader, &table->names, NULL, true, true, ret_graph, reterr);
}

static uint64_t measure_memory(const struct reader *reader)
{
    const struct table *table = (const struct table *)reader;

    return name_table_memory(table->names) + table->scratch.capacity + table->first.capacity +
           table->zeros.capacity +
           (table->marked ? table->zero_count * GRAPH_BUILDER_EDGE_BYTES : 0);
}

static void cleanup_table(struct reader *reader)
{
    struct table *table = (struct table *)reader;

    name_table_destroy(table->names);
    text_finish(&table->scratch);
    text_finish(&table->first);
    text_finish(&table->zeros);
}

static enum status init_table(struct reader *reader)
{
    return name_table_create(&((struct table *)reader)->names);
}

const struct reader_class reader_matrix_class = {
    .size = sizeof(struct table),
    .init = init_table,
    .parse_line = parse_line,
    .line_limit = TABLE_LINE_LIMIT,
    .finish = finish_table,
    .has_weights = true,
    .memory = measure_memory,
    .cleanup = cleanup_table,
};

/* Returns whether the unfinished line already has too many fields for an edge list. */
static bool has_many_fields(struct table *table)
{
    const struct text *first =
        table->first.size > 0 ? &table->first : &table->reader.splitter.pending;
    const char *line = first->bytes;
    const size_t size = first->size;
    struct line_look look;

    if (size == 0 || line[0] == '#' || line[0] == '%' ||
        reserve_scratch(table, size) != STATUS_OK) {
        return false;
    }
    table->cursor.delimiter = field_delimiter(line, size, false);
    return look_at_line(table, line, size, &look, NULL) == STATUS_OK &&
           look.count > TABLE_COLUMN_LIMIT;
}

static enum table_verdict judge_table(struct table *table, bool is_complete)
{
    const bool is_small = table->width <= 3 && !table->has_loops && is_complete;

    if (!table->decided) {
        return has_many_fields(table) ? TABLE_YES : TABLE_NO;
    }
    if (table->has_row_names) {
        return table->width >= (table->has_corner   ? 1u
                                : table->has_header ? 2u
                                                    : 4u)
                   ? TABLE_YES
                   : TABLE_NO;
    }
    if (table->has_ends) {
        return TABLE_NO;
    }
    if (table->has_mark || table->width >= WIDE ||
        (table->width > 3 && (table->has_decimals || (is_complete && !table->has_loops))) ||
        (is_small && (table->has_decimals || table->was_open))) {
        return TABLE_YES;
    }
    return is_small && table->width > 1 ? TABLE_UNCLEAR : TABLE_NO;
}

enum table_verdict table_sniff(const char *bytes, size_t size)
{
    const struct graph_options options = {.no_edge = NO_EDGE_NONE};
    enum table_verdict verdict = TABLE_NO;
    struct reader *reader = NULL;
    const enum status status = sniff_read(FORMAT_MATRIX, &options, bytes, size, &reader);

    if (reader != NULL && (status == STATUS_OK || ((struct table *)reader)->is_refused)) {
        verdict = judge_table((struct table *)reader, sniff_is_complete(size));
    }
    reader_destroy(reader);
    return verdict;
}
