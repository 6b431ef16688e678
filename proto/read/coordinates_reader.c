#include "proto/read/coordinates_reader.h"

#include "proto/number.h"
#include "proto/read/columns.h"
#include "proto/read/fields.h"
#include "proto/read/lines.h"

#include <inttypes.h>
#include <math.h>

/* Units per degree: DIMACS files store millionths of degrees. */
#define CO_UNIT 1e6
enum form { FORM_UNKNOWN, FORM_CO, FORM_CSV };

/* The meaning of x and y. SYSTEM_OPEN: degrees if all numbers are in the range of degrees,
 * otherwise points of a plane. */
enum system { SYSTEM_OPEN, SYSTEM_DEGREES, SYSTEM_PLANE };

struct coordinates_reader {
    enum form form;
    enum system system;
    const struct vertex_names *names;
    struct coordinates *coordinates;
    struct line_splitter lines;

    int64_t announced; /* number of vertices declared by the p line of a .co file; -1 before it */
    int64_t listed;

    char delimiter;
    size_t column[3]; /* column numbers of vertex, x and y, from 0 */
};

static enum status refuse_line(const struct coordinates_reader *reader, uint64_t column,
                               const char *detail, struct problem *reterr)
{
    return problem_refuse_at(reterr, STATUS_BAD_COORDINATES, 0, column,
                             reader->form == FORM_CO
                                 ? "Write one line 'p aux sp co N' and then N lines 'v ID X Y'."
                                 : "Begin the file with a header vertex,lon,lat or vertex,x,y, or "
                                   "send a DIMACS .co file.",
                             "%s", detail);
}

static enum status place_vertex(struct coordinates_reader *reader, uint32_t row,
                                const double place[2], uint64_t column, struct problem *reterr)
{
    const double unit = reader->form == FORM_CO ? CO_UNIT : 1;
    if (!coordinates_are_degrees(place[0] / unit, place[1] / unit)) {
        if (reader->system == SYSTEM_DEGREES) {
            return problem_refuse_at(
                reterr, STATUS_BAD_COORDINATES, 0, column,
                "Write the longitude in the column lon and the latitude in the column lat. For "
                "planar coordinates, name the columns x and y.",
                "A longitude must be from -180 to 180, and a latitude from -90 to 90.");
        }
        reader->system = SYSTEM_PLANE;
    }
    if (fabs(place[0]) > COORDINATES_LIMIT || fabs(place[1]) > COORDINATES_LIMIT) {
        return refuse_line(reader, column, "A coordinate must be from -1e100 to 1e100.", reterr);
    }
    if (coordinates_has(reader->coordinates, row)) {
        return refuse_line(reader, column, "This vertex already has coordinates.", reterr);
    }
    reader->coordinates->x[row] = place[0];
    reader->coordinates->y[row] = place[1];
    reader->listed++;
    return STATUS_OK;
}

/* Finds the row of the vertex that a line names. The reader knows the column of the name. */
static enum status read_row(struct coordinates_reader *reader, const struct field *fields,
                            unsigned count, struct problem *reterr)
{
    const struct field *parts[3];
    double place[2];
    uint32_t row;
    for (size_t i = 0; i < 3; i++) {
        if (reader->column[i] >= count) {
            return refuse_line(reader, fields[count - 1].column, "The line has too few fields.",
                               reterr);
        }
        parts[i] = &fields[reader->column[i]];
    }
    if (!vertex_names_find(reader->names, parts[0]->bytes, parts[0]->size, &row)) {
        return problem_refuse_at(reterr, STATUS_BAD_COORDINATES, 0, parts[0]->column,
                                 "GET /v1/graphs/{g}/vertices lists the names of the vertices.",
                                 "The graph has no vertex '%.*s'.",
                                 parts[0]->size > 60 ? 60 : (int)parts[0]->size, parts[0]->bytes);
    }
    if (parts[1]->size == 0 && parts[2]->size == 0) {
        return STATUS_OK; /* the vertex is listed without coordinates */
    }
    for (size_t i = 0; i < 2; i++) {
        if (!number_parse_real(parts[i + 1]->bytes, parts[i + 1]->size, &place[i])) {
            return refuse_line(reader, parts[i + 1]->column, "The value is not a number.", reterr);
        }
    }
    return place_vertex(reader, row, place, parts[0]->column, reterr);
}

/* Parses a line of a .co file: "p aux sp co N" once, then "v ID X Y". */
static enum status read_co_line(struct coordinates_reader *reader, const struct field *fields,
                                unsigned count, struct problem *reterr)
{
    if (reader->announced < 0 && count == 5 && line_word_is(fields[0], "p") &&
        line_word_is(fields[1], "aux") && line_word_is(fields[2], "sp") &&
        line_word_is(fields[3], "co") &&
        number_parse_integer(fields[4].bytes, fields[4].size, &reader->announced) &&
        reader->announced >= 0) {
        return STATUS_OK;
    }
    if (reader->announced >= 0 && count == 4 && line_word_is(fields[0], "v")) {
        return read_row(reader, fields, count, reterr);
    }
    return refuse_line(reader, fields[0].column,
                       "This line is neither 'p aux sp co N' nor 'v ID X Y'.", reterr);
}

static enum status read_header(struct coordinates_reader *reader, const struct table_row *row,
                               struct problem *reterr)
{
    static const char *const vertices[] = {"vertex", "id",     "node", "osmid",
                                           "stopid", "nodeid", "name"};
    size_t vertex = NO_COLUMN;
    size_t places[2];
    const bool is_degrees = columns_find_places(row, PLACES_DEGREES, places);

    for (size_t i = 0; i < sizeof(vertices) / sizeof(vertices[0]) && vertex == NO_COLUMN; i++) {
        vertex = columns_find_name(row, vertices[i]);
    }
    if (vertex == NO_COLUMN || (!is_degrees && !columns_find_places(row, PLACES_PLANE, places))) {
        return refuse_line(reader, 1, "The first line does not name the columns.", reterr);
    }
    reader->system = is_degrees                                  ? SYSTEM_DEGREES
                     : columns_find_name(row, "osmid") == vertex ? SYSTEM_OPEN
                                                                 : SYSTEM_PLANE;
    memcpy(reader->column, (const size_t[]){vertex, places[0], places[1]}, sizeof(reader->column));
    return STATUS_OK;
}

static enum status read_fields(struct coordinates_reader *reader, bool is_first, const char *line,
                               size_t size, struct problem *reterr)
{
    struct table_row row;
    struct field_cursor cursor = {.scratch = malloc(size), .delimiter = reader->delimiter};
    char *scratch = cursor.scratch;
    enum status status =
        scratch == NULL ? STATUS_NO_MEMORY : field_cut_row(&row, &cursor, line, size, reterr);
    if (status == STATUS_OK) {
        const unsigned count = (unsigned)row.count;

        status = reader->form == FORM_CO ? read_co_line(reader, row.fields, count, reterr)
                 : is_first              ? read_header(reader, &row, reterr)
                                         : read_row(reader, row.fields, count, reterr);
    }
    free(scratch);
    return status;
}

static enum status read_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct coordinates_reader *reader = context;
    const bool is_first = reader->form == FORM_UNKNOWN;
    const size_t blanks = field_skip_blanks(line, 0, size);
    const bool is_co_line =
        size > 1 && memchr("cpv", line[0], 3) != NULL && field_is_blank(line[1]);
    if (blanks == size || (reader->form != FORM_CO && line[0] == '#')) {
        return STATUS_OK;
    }
    if (is_first) {
        reader->form = is_co_line ? FORM_CO : FORM_CSV;
        reader->delimiter = is_co_line ? ' ' : field_delimiter(line, size, false);
    }
    if (reader->form == FORM_CO && line[0] == 'c' && (size == 1 || is_co_line)) {
        return STATUS_OK;
    }
    return read_fields(reader, is_first, line, size, reterr);
}

enum status coordinates_reader_create(const struct vertex_names *names,
                                      struct coordinates_reader **ret_reader)
{
    struct coordinates_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL ||
        coordinates_create(vertex_names_count(names), &reader->coordinates) != STATUS_OK) {
        free(reader);
        return STATUS_NO_MEMORY;
    }
    reader->names = names;
    reader->announced = -1;
    memcpy(reader->column, (const size_t[]){1, 2, 3},
           sizeof(reader->column)); /* columns of a .co file */
    reader->lines.take = read_line;
    reader->lines.context = reader;
    *ret_reader = reader;
    return STATUS_OK;
}

void coordinates_reader_destroy(struct coordinates_reader *reader)
{
    if (reader != NULL) {
        line_splitter_finish(&reader->lines);
        coordinates_destroy(reader->coordinates);
        free(reader);
    }
}

/* Replaces STATUS_BAD_GRAPH, from functions of graph readers, by STATUS_BAD_COORDINATES. */
static enum status rename_problem(enum status status, struct problem *reterr)
{
    if (status == STATUS_BAD_GRAPH) {
        reterr->status = status = STATUS_BAD_COORDINATES;
    }
    return status;
}

enum status coordinates_reader_feed(struct coordinates_reader *reader, const char *bytes,
                                    size_t size, struct problem *reterr)
{
    const struct line_splitter *lines = &reader->lines;
    if (lines->line == 0 && lines->pending.size == 0 && size > 0 && bytes[0] == '{') {
        refuse_line(reader, 1, "Coordinates in JSON or GeoJSON are not supported.", reterr);
        problem_at(reterr, 1, 1);
        return STATUS_BAD_COORDINATES;
    }
    return rename_problem(line_splitter_feed(&reader->lines, bytes, size, reterr), reterr);
}

enum status coordinates_reader_end(struct coordinates_reader *reader,
                                   struct coordinates **ret_coordinates, struct problem *reterr)
{
    struct coordinates *coordinates = reader->coordinates;
    STATUS_TRY(rename_problem(line_splitter_end(&reader->lines, reterr), reterr));
    if (reader->form == FORM_UNKNOWN || (reader->form == FORM_CO && reader->announced < 0)) {
        return refuse_line(reader, 0, "The body contains no coordinates.", reterr);
    }
    if (reader->form == FORM_CO && reader->listed != reader->announced) {
        return problem_set(reterr, STATUS_BAD_COORDINATES,
                           "The p line declares %" PRId64 " vertices, but %" PRId64 " were found.",
                           reader->announced, reader->listed);
    }
    coordinates->is_plane = reader->system == SYSTEM_PLANE;
    if (reader->form == FORM_CO && !coordinates->is_plane) {
        for (uint32_t row = 0; row < coordinates->count; row++) {
            coordinates->x[row] /= CO_UNIT;
            coordinates->y[row] /= CO_UNIT;
        }
    }
    coordinates_complete(coordinates);
    *ret_coordinates = coordinates;
    reader->coordinates = NULL;
    return STATUS_OK;
}
