#include "server/http/api/pairs.h"

#include "proto/format.h"
#include "proto/read/columns.h"

#include <inttypes.h>
#include <string.h>

/* Maximum length of a CSV row that has line breaks inside quotes. */
#define JOINED_LIMIT ((size_t)6 * VERTEX_NAME_LIMIT)

static enum status parse_pair(struct pairs_reader *reader, struct problem *reterr)
{
    struct name_scanner *scanner = &reader->scanner;
    reader->first = scanner->at;
    STATUS_TRY(name_scanner_expect(scanner, '[', reterr));
    STATUS_TRY(name_scanner_name(scanner, &reader->pair[0], reterr));
    STATUS_TRY(name_scanner_expect(scanner, ',', reterr));
    STATUS_TRY(name_scanner_name(scanner, &reader->pair[1], reterr));
    if (reader->is_weighted) {
        STATUS_TRY(name_scanner_expect(scanner, ',', reterr));
        STATUS_TRY(name_scanner_number(scanner, &reader->pair[2], reterr));
    }
    return name_scanner_expect(scanner, ']', reterr);
}

static enum status next_json(struct pairs_reader *reader, struct problem *reterr)
{
    static const char *const keys[] = {"pairs", NULL};
    struct name_scanner *scanner = &reader->scanner;
    const bool begins = reader->count == 0;
    const bool is_object = !reader->is_weighted;
    size_t key;
    if (begins && is_object) {
        STATUS_TRY(name_scanner_expect(scanner, '{', reterr));
        STATUS_TRY(name_scanner_key(scanner, keys, &key, reterr));
    }
    if (begins) {
        STATUS_TRY(name_scanner_expect(scanner, '[', reterr));
        reader->ended = name_scanner_accept(scanner, ']');
    } else if (!name_scanner_accept(scanner, ',')) {
        reader->ended = true;
        STATUS_TRY(name_scanner_expect(scanner, ']', reterr));
    }
    if (!reader->ended) {
        return parse_pair(reader, reterr);
    }
    if (is_object) {
        STATUS_TRY(name_scanner_expect(scanner, '}', reterr));
    }
    return name_scanner_end(scanner, reterr);
}

static enum status refuse_line(const struct pairs_reader *reader, uint64_t column,
                               const char *words, struct problem *reterr)
{
    return problem_refuse_at(reterr, STATUS_BAD_REQUEST, reader->line, column, NULL, "%s", words);
}

/* Reads the next line without its line break. Returns false at the end of the body. */
static bool next_line(struct pairs_reader *reader, const char **ret_line, size_t *ret_size)
{
    const char *line = reader->at;
    const char *stop = memchr(line, '\n', (size_t)(reader->end - line));
    if (line == reader->end) {
        return false;
    }
    reader->at = stop == NULL ? reader->end : stop + 1;
    reader->next_line++;
    stop = stop == NULL ? reader->end : stop;
    *ret_line = line;
    *ret_size = (size_t)(stop - line) - (stop > line && stop[-1] == '\r');
    return true;
}

/* Reads the next row that is not empty, joining the lines of a quoted field. */
static enum status next_row(struct pairs_reader *reader, bool *ret_found, struct problem *reterr)
{
    struct field_cursor cursor = {0};
    const char *line;
    size_t size = 0;
    text_clear(&reader->joined);
    *ret_found = true;
    do {
        reader->line = reader->joined.size > 0 ? reader->line : reader->next_line;
        if (!next_line(reader, &line, &size)) {
            *ret_found = false;
            return reader->joined.size > 0
                       ? refuse_line(reader, 0, "The closing quote is missing.", reterr)
                       : STATUS_OK;
        }
        if (reader->delimiter == '\0' && size > 0) {
            reader->delimiter = reader->is_weighted ? field_delimiter(line, size, false) : ',';
        }
        if (reader->joined.size > JOINED_LIMIT) {
            return refuse_line(reader, 0, "A quoted field is too long.", reterr);
        }
    } while (!field_join(&reader->joined, reader->delimiter, &line, &size) || size == 0);
    if (memchr(line, '"', size) != NULL) {
        text_clear(&reader->unquoted);
        cursor.scratch = text_reserve(&reader->unquoted, size);
        if (cursor.scratch == NULL) {
            return problem_set(reterr, STATUS_NO_MEMORY,
                               "There is not enough memory for the request.");
        }
    }
    cursor.delimiter = reader->delimiter;
    struct problem problem;
    return field_cut_row(&reader->row, &cursor, line, size, &problem) == STATUS_OK
               ? STATUS_OK
               : refuse_line(reader, problem.column, problem.detail, reterr);
}

/* Returns whether the row is a header. If it is one with weights, sets the columns. */
static bool is_header(struct pairs_reader *reader)
{
    const struct field *fields = reader->row.fields;
    return reader->is_weighted ? columns_find_known(&reader->row, reader->columns)
                               : fields[0].size == 6 && fields[1].size == 6 &&
                                     strncasecmp(fields[0].bytes, "source", 6) == 0 &&
                                     strncasecmp(fields[1].bytes, "target", 6) == 0;
}

static enum status next_csv(struct pairs_reader *reader, struct problem *reterr)
{
    const size_t count = reader->is_weighted ? 3 : 2;
    bool found;
    STATUS_TRY(next_row(reader, &found, reterr));
    if (found && reader->row.count != count) {
        return refuse_line(reader, 0,
                           reader->is_weighted
                               ? "Each line must have the form source,target,weight."
                               : "Each line must have the form source,target.",
                           reterr);
    }
    if (found && reader->count == 0 && !reader->has_header && is_header(reader)) {
        reader->has_header = true;
        return next_csv(reader, reterr);
    }
    for (size_t i = 0; found && i < count; i++) {
        const struct field *field = &reader->row.fields[reader->columns[i]];
        reader->pair[i] = (struct scanned_name){.bytes = field->bytes, .size = field->size};
    }
    reader->ended = !found;
    return STATUS_OK;
}

enum pairs_form pairs_find_form(const char *media_type, const char *const *types, const char *bytes,
                                size_t size)
{
    for (size_t i = 0; types[i] != NULL; i++) {
        if (format_media_type_is(media_type, types[i])) {
            return (enum pairs_form)i;
        }
    }
    while (size > 0 && strchr(" \t\r\n", *bytes) != NULL) {
        bytes++;
        size--;
    }
    return size == 0 || strchr("{[", *bytes) != NULL ? PAIRS_JSON : PAIRS_CSV;
}

void pairs_open(struct pairs_reader *reader, enum pairs_form form, const char *bytes, size_t size)
{
    *reader = (struct pairs_reader){.form = form, .end = bytes + size};
    name_scanner_init(&reader->scanner, bytes, size, "{\"pairs\":[[source,target],...]}");
    pairs_rewind(reader);
}

void pairs_open_weighted(struct pairs_reader *reader, enum pairs_form form, const char *bytes,
                         size_t size)
{
    pairs_open(reader, form, bytes, size);
    reader->is_weighted = true;
    reader->scanner.shape = "[[source,target,weight],...]";
}

static void release_names(struct pairs_reader *reader)
{
    name_scanner_release(&reader->pair[0]);
    name_scanner_release(&reader->pair[1]);
}

void pairs_rewind(struct pairs_reader *reader)
{
    const char *first = reader->scanner.first;
    const size_t mark =
        reader->form == PAIRS_BINARY ? 0 : text_mark_size(first, (size_t)(reader->end - first));
    release_names(reader);
    reader->at = reader->scanner.at = first + mark;
    reader->next_line = 1;
    reader->count = 0;
    reader->has_header = reader->ended = false;
    for (size_t i = 0; i < 3; i++) {
        reader->columns[i] = i;
    }
}

void pairs_close(struct pairs_reader *reader)
{
    release_names(reader);
    text_finish(&reader->joined);
    text_finish(&reader->unquoted);
}

enum status pairs_next(struct pairs_reader *reader, struct problem *reterr)
{
    CHECK(!reader->ended);
    release_names(reader);
    const enum status status =
        reader->form == PAIRS_JSON ? next_json(reader, reterr) : next_csv(reader, reterr);
    reader->count += status == STATUS_OK && !reader->ended;
    return status;
}

void pairs_place(const struct pairs_reader *reader, struct problem *problem)
{
    if (reader->form == PAIRS_JSON) {
        problem_at(problem, 0, (uint64_t)(reader->first - reader->scanner.first) + 1);
    } else if (reader->form != PAIRS_BINARY) {
        problem_at(problem, reader->line, 0);
    }
}

static enum status read_binary(struct pairs_reader *reader, uint32_t vertex_count, size_t room,
                               uint32_t ret_rows[][2], size_t *ret_count, struct problem *reterr)
{
    struct name_scanner *body = &reader->scanner;
    const size_t left = (size_t)(body->end - body->at) / PAIR_SIZE;
    const size_t count = left < room ? left : room;
    if ((size_t)(body->end - body->first) % PAIR_SIZE != 0) {
        return problem_set(
            reterr, STATUS_BAD_REQUEST,
            "The body has %zu bytes, which is not a multiple of 8, the size of a pair.",
            (size_t)(body->end - body->first));
    }
    memcpy(ret_rows, body->at, count * PAIR_SIZE);
    body->at += count * PAIR_SIZE;
    for (size_t i = 0; i < count; i++) {
        if (ret_rows[i][0] >= vertex_count || ret_rows[i][1] >= vertex_count) {
            return problem_set(reterr, STATUS_NO_SUCH_VERTEX,
                               "Pair %" PRIu64 " is (%" PRIu32 ", %" PRIu32
                               "), but the matrix has %" PRIu32 " rows, counted from 0.",
                               reader->count + i, ret_rows[i][0], ret_rows[i][1], vertex_count);
        }
    }
    reader->count += count;
    reader->ended = left <= room;
    *ret_count = count;
    return STATUS_OK;
}

static enum status find_rows(const struct pairs_reader *reader, const struct vertex_names *names,
                             uint32_t ret_rows[2], struct problem *reterr)
{
    for (int i = 0; i < 2; i++) {
        const struct scanned_name *name = &reader->pair[i];
        const enum status status =
            vertex_names_require(names, name->bytes, name->size, &ret_rows[i], reterr);
        if (status != STATUS_OK) {
            pairs_place(reader, reterr);
            problem_index(reterr, reader->count - 1);
            return status;
        }
    }
    return STATUS_OK;
}

enum status pairs_read_rows(struct pairs_reader *reader, const struct vertex_names *names,
                            size_t room, uint32_t ret_rows[][2], size_t *ret_count,
                            struct problem *reterr)
{
    if (reader->form == PAIRS_BINARY) {
        return read_binary(reader, vertex_names_count(names), room, ret_rows, ret_count, reterr);
    }
    *ret_count = 0;
    while (*ret_count < room && !reader->ended) {
        STATUS_TRY(pairs_next(reader, reterr));
        if (!reader->ended) {
            STATUS_TRY(find_rows(reader, names, ret_rows[*ret_count], reterr));
            ++*ret_count;
        }
    }
    return STATUS_OK;
}
