#include "proto/read/coordinates_reader.h"

#include "proto/number.h"
#include "proto/read/fields.h"
#include "proto/read/json_scanner.h"
#include "proto/read/lines.h"

#include <inttypes.h>
#include <math.h>
#include <strings.h>

/* DIMACS writes millionths of degrees. */
#define CO_UNIT 1e6
/* Fields of a line of CSV that are looked at. */
#define COLUMN_LIMIT 64

/* Members of GeoJSON that are read, and all others. The names of a vertex come last, the best one
 * at the end. */
enum member {
    MEMBER_OTHER,
    MEMBER_FEATURES,
    MEMBER_TYPE,
    MEMBER_GEOMETRY,
    MEMBER_PROPERTIES,
    MEMBER_COORDINATES,
    MEMBER_NAME,
    MEMBER_ID,
    MEMBER_VERTEX,
    MEMBER_COUNT
};

static const char *const member_names[MEMBER_COUNT] = {
    "", "features", "type", "geometry", "properties", "coordinates", "name", "id", "vertex"};

/* Depths of the keys of a document, of a feature, and of its geometry and properties. */
enum { IN_DOCUMENT = 1, IN_FEATURE = 3, IN_PART = 4, DEPTH_COUNT };

struct coordinates_reader {
    enum coordinates_form form;
    enum coordinates_system system;
    const struct vertex_names *names;
    struct coordinates *coordinates;
    bool is_millionths; /* of a .co file, until a number is beyond */
    bool has_begun;     /* more than blanks has come: the form is found out */
    struct line_splitter lines;
    struct json_scanner json;

    int64_t announced; /* by the problem line; below 0: there was none */
    int64_t listed;

    bool has_header;
    char delimiter;
    unsigned column[3]; /* where vertex, x and y are, from 0 */

    enum member member[DEPTH_COUNT]; /* that the scanner is in, by the depth of its key */
    bool has_features;
    bool has_geometry; /* of the feature at hand, and all below */
    bool is_point;
    unsigned number_count;
    double numbers[2];
    unsigned naming; /* how well it is named; 0 = not */
    uint32_t row;
    bool is_unknown;  /* the graph has no such vertex */
    char unknown[64]; /* and its name, which may begin with a NUL */
    struct json_place place;
};

/* ---- One vertex ---- */

static enum status refuse(const struct coordinates_reader *reader, uint64_t line, uint64_t column,
                          const char *detail, struct problem *reterr)
{
    static const char *const hints[] = {
        [COORDINATES_UNSAID] = "Read here: DIMACS .co, CSV and GeoJSON.",
        [COORDINATES_CO] = "One line 'p aux sp co N' comes before N lines 'v ID X Y'.",
        [COORDINATES_CSV] = "Begin with vertex,lon,lat or vertex,x,y; without such a line say "
                            "system=degrees or system=plane.",
        [COORDINATES_GEOJSON] =
            "Read here: a FeatureCollection of points [lon,lat], each with an id, or a property "
            "vertex, id or name.",
    };
    problem_set(reterr, STATUS_BAD_COORDINATES, "%s", detail);
    problem_at(reterr, line, column);
    problem_hint(reterr, "%s", hints[reader->form]);
    return STATUS_BAD_COORDINATES;
}

static enum status refuse_unknown(uint64_t line, uint64_t column, const char *name, size_t size,
                                  struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_COORDINATES, "The graph has no vertex '%.*s'.",
                size > 60 ? 60 : (int)size, name);
    problem_at(reterr, line, column);
    problem_hint(reterr, "GET vertices lists the names that the graph has.");
    return STATUS_BAD_COORDINATES;
}

static enum status place_vertex(struct coordinates_reader *reader, uint32_t row,
                                const double place[2], uint64_t line, uint64_t column,
                                struct problem *reterr)
{
    const bool is_co = reader->form == COORDINATES_CO;
    const double unit = is_co ? CO_UNIT : 1;
    const bool are_degrees = coordinates_are_degrees(place[0] / unit, place[1] / unit);
    const bool has_range =
        is_co ? reader->system == COORDINATES_DEGREES : reader->system != COORDINATES_PLANE;
    if (has_range && !are_degrees) {
        refuse(reader, line, column,
               "This is not a longitude of -180 to 180 and a latitude of -90 to 90.", reterr);
        problem_hint(reterr, "The longitude comes first; system=plane takes points of a plane.");
        return STATUS_BAD_COORDINATES;
    }
    if (fabs(place[0]) > COORDINATES_LIMIT || fabs(place[1]) > COORDINATES_LIMIT) {
        return refuse(reader, line, column, "The numbers of this place are too large.", reterr);
    }
    if (coordinates_has(reader->coordinates, row)) {
        return refuse(reader, line, column, "This vertex has a place already.", reterr);
    }
    reader->is_millionths = reader->is_millionths && are_degrees;
    reader->coordinates->x[row] = place[0];
    reader->coordinates->y[row] = place[1];
    reader->listed++;
    return STATUS_OK;
}

/* ---- DIMACS ---- */

static enum status read_co_line(struct coordinates_reader *reader, const char *line, size_t size,
                                struct problem *reterr)
{
    static const char *const wanted[] = {"aux", "sp", "co"};
    struct word_cursor cursor = {.begin = line, .at = line, .end = line + size};
    const struct word first = line_word_next(&cursor);
    double place[2];
    uint32_t row;
    if (line_word_is(first, "c")) {
        return STATUS_OK;
    }
    if (line_word_is(first, "p") && reader->announced < 0) {
        for (size_t i = 0; i < 3; i++) {
            const struct word word = line_word_next(&cursor);
            if (!line_word_is(word, wanted[i])) {
                return refuse(reader, 0, word.column,
                              "This is not the line of a file of coordinates.", reterr);
            }
        }
        return line_word_parse_count(line_word_next(&cursor), "the number of vertices",
                                     &reader->announced, reterr);
    }
    if (!line_word_is(first, "v") || reader->announced < 0) {
        return refuse(reader, 0, first.column, "Something else is expected here.", reterr);
    }
    const struct word name = line_word_next(&cursor);
    if (!vertex_names_find(reader->names, name.bytes, name.size, &row)) {
        return refuse_unknown(0, name.column, name.bytes, name.size, reterr);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct word word = line_word_next(&cursor);
        if (!number_parse_real(word.bytes, word.size, &place[i])) {
            return line_word_refuse(word, i == 0 ? "a number for x" : "a number for y", reterr);
        }
    }
    const enum status status = line_word_expect_end(&cursor, reterr);
    return status == STATUS_OK ? place_vertex(reader, row, place, 0, name.column, reterr) : status;
}

/* ---- CSV ---- */

/* The first field that is one of the words, each ended by NUL, or count. */
static unsigned find_field(const struct field *fields, unsigned count, const char *words)
{
    unsigned found = count;
    for (; *words != '\0' && found == count; words += strlen(words) + 1) {
        for (found = 0; found < count; found++) {
            if (strlen(words) == fields[found].size &&
                strncasecmp(words, fields[found].bytes, fields[found].size) == 0) {
                break;
            }
        }
    }
    return found;
}

/* Longitude and latitude go before x and y, where a header has all four. */
static bool take_header(struct coordinates_reader *reader, const struct field *fields,
                        unsigned count)
{
    const unsigned vertex = find_field(fields, count, "vertex\0id\0name\0node\0osmid\0");
    unsigned x = find_field(fields, count, "lon\0lng\0long\0longitude\0");
    unsigned y = find_field(fields, count, "lat\0latitude\0");
    const bool has_degrees = x < count && y < count;
    if (!has_degrees) {
        x = find_field(fields, count, "x\0");
        y = find_field(fields, count, "y\0");
    }
    if (vertex == count || x == count || y == count) {
        return false;
    }
    memcpy(reader->column, (const unsigned[]){vertex, x, y}, sizeof(reader->column));
    if (reader->system == COORDINATES_SYSTEM_UNSAID) {
        reader->system = has_degrees ? COORDINATES_DEGREES : COORDINATES_PLANE;
    }
    return true;
}

static enum status read_csv_row(struct coordinates_reader *reader, const struct field *fields,
                                unsigned count, struct problem *reterr)
{
    const struct field *parts[3];
    double place[2];
    uint32_t row;
    for (size_t i = 0; i < 3; i++) {
        if (reader->column[i] >= count) {
            return refuse(reader, 0, fields[count - 1].column, "The line has too few fields.",
                          reterr);
        }
        parts[i] = &fields[reader->column[i]];
    }
    if (!vertex_names_find(reader->names, parts[0]->bytes, parts[0]->size, &row)) {
        return refuse_unknown(0, parts[0]->column, parts[0]->bytes, parts[0]->size, reterr);
    }
    if (parts[1]->size == 0 && parts[2]->size == 0) {
        return STATUS_OK; /* a vertex without a place */
    }
    for (size_t i = 0; i < 2; i++) {
        if (!number_parse_real(parts[i + 1]->bytes, parts[i + 1]->size, &place[i])) {
            return refuse(reader, 0, parts[i + 1]->column, "This is not a number.", reterr);
        }
    }
    return place_vertex(reader, row, place, 0, parts[0]->column, reterr);
}

/* Without a header the first line is one of data, where the system is said. */
static enum status read_csv_line(struct coordinates_reader *reader, const char *line, size_t size,
                                 struct problem *reterr)
{
    struct field fields[COLUMN_LIMIT];
    struct field_cursor cursor = {.scratch = malloc(size)};
    char *scratch = cursor.scratch;
    const bool is_first = !reader->has_header;
    unsigned count = 0;
    enum status status = scratch == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    double number;
    if (is_first) {
        reader->delimiter = field_delimiter(line, size);
    }
    cursor.delimiter = reader->delimiter;
    field_cursor_begin(&cursor, line, size);
    while (status == STATUS_OK && cursor.more && count < COLUMN_LIMIT) {
        status = field_cursor_next(&cursor, &fields[count], reterr);
        count++;
    }
    reader->has_header = true;
    if (status == STATUS_OK && !(is_first && take_header(reader, fields, count))) {
        const bool is_data =
            !is_first || (reader->system != COORDINATES_SYSTEM_UNSAID && count >= 3 &&
                          number_parse_real(fields[1].bytes, fields[1].size, &number));
        status = is_data
                     ? read_csv_row(reader, fields, count, reterr)
                     : refuse(reader, 0, 1, "The first line does not name the columns.", reterr);
    }
    free(scratch);
    return status;
}

static enum status take_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct coordinates_reader *reader = context;
    size_t blank = 0;
    while (blank < size && field_is_blank(line[blank])) {
        blank++;
    }
    if (blank == size) {
        return STATUS_OK;
    }
    if (reader->form == COORDINATES_UNSAID) {
        const bool is_co = size > 1 && memchr("cpv", line[0], 3) != NULL && field_is_blank(line[1]);
        reader->form = is_co ? COORDINATES_CO : COORDINATES_CSV;
    }
    if (reader->form == COORDINATES_CO) {
        return read_co_line(reader, line, size, reterr);
    }
    return line[0] == '#' ? STATUS_OK : read_csv_line(reader, line, size, reterr);
}

/* ---- GeoJSON ---- */

static enum status refuse_token(const struct coordinates_reader *reader,
                                const struct json_token *token, const char *detail,
                                struct problem *reterr)
{
    return refuse(reader, token->place.line, token->place.column, detail, reterr);
}

static void name_feature(struct coordinates_reader *reader, unsigned naming,
                         const struct json_token *token)
{
    if ((token->kind == JSON_TOKEN_STRING || token->kind == JSON_TOKEN_NUMBER) &&
        naming > reader->naming) {
        reader->naming = naming;
        reader->place = token->place;
        reader->is_unknown =
            !vertex_names_find(reader->names, token->text, token->size, &reader->row);
        if (reader->is_unknown) {
            snprintf(reader->unknown, sizeof(reader->unknown), "%s",
                     token->size > 0 ? token->text : " ");
        }
    }
}

static enum status end_feature(struct coordinates_reader *reader, const struct json_token *token,
                               struct problem *reterr)
{
    const struct json_place *place = &reader->place;
    if (reader->naming == 0) {
        return refuse_token(reader, token, "This feature names no vertex.", reterr);
    }
    if (reader->is_unknown) {
        return refuse_unknown(place->line, place->column, reader->unknown, strlen(reader->unknown),
                              reterr);
    }
    if (reader->has_geometry && (!reader->is_point || reader->number_count < 2)) {
        return refuse_token(reader, token, "The geometry of this feature is not a point.", reterr);
    }
    return !reader->has_geometry ? STATUS_OK
                                 : place_vertex(reader, reader->row, reader->numbers, place->line,
                                                place->column, reterr);
}

/* A value within a feature. */
static enum status take_value(struct coordinates_reader *reader, const struct json_token *token,
                              struct problem *reterr)
{
    const enum member member = reader->member[IN_FEATURE];
    const enum member part = reader->member[IN_PART];
    if (token->depth == IN_FEATURE) {
        if (member == MEMBER_ID) {
            name_feature(reader, MEMBER_COUNT, token);
        }
        reader->has_geometry |= member == MEMBER_GEOMETRY && token->kind != JSON_TOKEN_NULL;
    } else if (member == MEMBER_PROPERTIES && token->depth == IN_PART && part >= MEMBER_NAME) {
        name_feature(reader, part, token);
    } else if (member == MEMBER_GEOMETRY && token->depth == IN_PART && part == MEMBER_TYPE) {
        reader->is_point = token->kind == JSON_TOKEN_STRING && strcmp(token->text, "Point") == 0;
    } else if (member == MEMBER_GEOMETRY && part == MEMBER_COORDINATES &&
               !(token->depth == IN_PART &&
                 (token->kind == JSON_TOKEN_ARRAY_BEGIN || token->kind == JSON_TOKEN_ARRAY_END))) {
        const unsigned index = reader->number_count++;
        if (token->kind != JSON_TOKEN_NUMBER || token->depth != IN_PART + 1 ||
            (index < 2 && !number_parse_real(token->text, token->size, &reader->numbers[index]))) {
            return refuse_token(reader, token, "A point is two or three numbers.", reterr);
        }
    }
    return STATUS_OK;
}

static enum status take_token(void *context, const struct json_token *token, struct problem *reterr)
{
    struct coordinates_reader *reader = context;
    const bool is_object =
        token->kind == JSON_TOKEN_OBJECT_BEGIN || token->kind == JSON_TOKEN_OBJECT_END;
    const bool is_array =
        token->kind == JSON_TOKEN_ARRAY_BEGIN || token->kind == JSON_TOKEN_ARRAY_END;
    const unsigned depth = token->depth;
    if (token->kind == JSON_TOKEN_KEY) {
        enum member member = MEMBER_COUNT;
        while (--member > MEMBER_OTHER && strcmp(member_names[member], token->text) != 0) {
        }
        if (depth < DEPTH_COUNT) {
            reader->member[depth] = member;
        }
        if (depth == IN_FEATURE) {
            reader->member[IN_PART] = MEMBER_OTHER;
        }
        return STATUS_OK;
    }
    if (depth == 0 || reader->member[IN_DOCUMENT] != MEMBER_FEATURES) {
        return STATUS_OK;
    }
    if (depth > 2) {
        return take_value(reader, token, reterr);
    }
    if (depth == 1 ? !is_array : !is_object) {
        return refuse_token(reader, token, "The features are not a list of objects.", reterr);
    }
    if (token->kind == JSON_TOKEN_OBJECT_END) {
        return end_feature(reader, token, reterr);
    }
    reader->has_features = true;
    reader->naming = 0;
    reader->has_geometry = false;
    reader->is_point = false;
    reader->number_count = 0;
    return STATUS_OK;
}

/* ---- The reader ---- */

enum status coordinates_reader_create(enum coordinates_form form, enum coordinates_system system,
                                      const struct vertex_names *names,
                                      struct coordinates_reader **ret_reader)
{
    struct coordinates_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL ||
        coordinates_create(vertex_names_count(names), &reader->coordinates) != STATUS_OK) {
        free(reader);
        return STATUS_NO_MEMORY;
    }
    reader->form = form;
    reader->system = system;
    reader->names = names;
    reader->is_millionths = true;
    reader->announced = -1;
    memcpy(reader->column, (const unsigned[]){0, 1, 2}, sizeof(reader->column));
    reader->lines.take = take_line;
    reader->lines.context = reader;
    json_scanner_init(&reader->json);
    reader->json.take = take_token;
    reader->json.context = reader;
    *ret_reader = reader;
    return STATUS_OK;
}

void coordinates_reader_destroy(struct coordinates_reader *reader)
{
    if (reader != NULL) {
        line_splitter_finish(&reader->lines);
        json_scanner_finish(&reader->json);
        coordinates_destroy(reader->coordinates);
        free(reader);
    }
}

/* The words of lines, fields and JSON are those of graphs. */
static enum status rename_problem(enum status status, struct problem *reterr)
{
    if (status == STATUS_BAD_GRAPH || status == STATUS_TRUNCATED) {
        reterr->status = status = STATUS_BAD_COORDINATES;
    }
    if (status == STATUS_NO_MEMORY) {
        problem_set(reterr, status, "There is no memory for the coordinates.");
    }
    return status;
}

/* A blank, or a byte of a mark where that would be. */
static bool is_blank_before(uint64_t offset, char c)
{
    return memchr(" \t\r\n", c, 4) != NULL || (offset < 3 && c == "\xEF\xBB\xBF"[offset]);
}

/* Blanks and a byte order mark before all else are fed to both, so that each counts its lines. */
enum status coordinates_reader_feed(struct coordinates_reader *reader, const char *bytes,
                                    size_t size, struct problem *reterr)
{
    size_t blank = 0;
    enum status status = STATUS_OK;
    if (!reader->has_begun && reader->form == COORDINATES_UNSAID) {
        while (blank < size && is_blank_before(reader->json.offset + blank, bytes[blank])) {
            blank++;
        }
        status = json_scanner_feed(&reader->json, bytes, blank, reterr);
        if (status == STATUS_OK) {
            status = line_splitter_feed(&reader->lines, bytes, blank, reterr);
        }
        reader->has_begun = blank < size;
        if (blank < size && bytes[blank] == '{') {
            reader->form = COORDINATES_GEOJSON;
        }
    }
    if (status == STATUS_OK) {
        status = reader->form == COORDINATES_GEOJSON
                     ? json_scanner_feed(&reader->json, bytes + blank, size - blank, reterr)
                     : line_splitter_feed(&reader->lines, bytes + blank, size - blank, reterr);
    }
    return rename_problem(status, reterr);
}

static enum status check_end(struct coordinates_reader *reader, struct problem *reterr)
{
    const bool is_json = reader->form == COORDINATES_GEOJSON;
    const enum status status = is_json ? json_scanner_end(&reader->json, reterr)
                                       : line_splitter_end(&reader->lines, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (is_json && !reader->has_features) {
        return refuse(reader, 0, 0, "The document has no list of features.", reterr);
    }
    if (is_json || reader->form == COORDINATES_CSV) {
        return STATUS_OK;
    }
    if (reader->announced < 0) {
        return refuse(reader, 0, 0, "There are no coordinates in the body.", reterr);
    }
    return reader->listed == reader->announced
               ? STATUS_OK
               : problem_set(reterr, STATUS_BAD_COORDINATES,
                             "The file announces %" PRId64 " vertices and has %" PRId64 ".",
                             reader->announced, reader->listed);
}

enum status coordinates_reader_end(struct coordinates_reader *reader,
                                   struct coordinates **ret_coordinates, struct problem *reterr)
{
    struct coordinates *coordinates = reader->coordinates;
    enum status status = check_end(reader, reterr);
    const bool is_co = reader->form == COORDINATES_CO;
    if (is_co && reader->system == COORDINATES_SYSTEM_UNSAID) {
        reader->system = reader->is_millionths ? COORDINATES_DEGREES : COORDINATES_PLANE;
    }
    coordinates->is_plane = reader->system == COORDINATES_PLANE;
    for (uint32_t row = 0; is_co && !coordinates->is_plane && row < coordinates->count; row++) {
        coordinates->x[row] /= CO_UNIT;
        coordinates->y[row] /= CO_UNIT;
    }
    if (status == STATUS_OK) {
        status = coordinates_complete(coordinates);
    }
    if (status == STATUS_OK) {
        *ret_coordinates = coordinates;
        reader->coordinates = NULL;
    }
    return rename_problem(status, reterr);
}
