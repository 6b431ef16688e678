#include "proto/read/fields.h"

#include "proto/number.h"

#include <string.h>
#include <strings.h>

/* Cuts a quoted field and returns the position after the closing quote, or NULL if there is none.
 * Doubled quotes are replaced by single ones in scratch. */
static const char *cut_quoted(struct field_cursor *cursor, struct field *ret_field)
{
    const char *at = cursor->at + 1;

    *ret_field = (struct field){.bytes = cursor->scratch};
    for (; at < cursor->end; at++) {
        if (*at == '"') {
            if (at + 1 == cursor->end || at[1] != '"') {
                break;
            }
            at++;
        }
        if (cursor->scratch != NULL) {
            *cursor->scratch++ = *at;
            ret_field->size++;
        }
    }
    return at < cursor->end ? at + 1 : NULL;
}

static const char *cut_plain(const struct field_cursor *cursor, struct field *ret_field)
{
    const char *at = cursor->at;

    /* A loop is faster here than memchr, because fields are short. */
    while (at < cursor->end && *at != cursor->delimiter &&
           (*at != '\t' || cursor->delimiter != ' ')) {
        at++;
    }
    const char *last = at;
    while (last > cursor->at && field_is_blank(last[-1])) {
        last--;
    }
    ret_field->bytes = cursor->at;
    ret_field->size = (size_t)(last - cursor->at);
    return at;
}

static const char *skip_blanks(char delimiter, const char *at, const char *end)
{
    while (at < end && field_is_blank(*at) && (delimiter == ' ' || *at != delimiter)) {
        at++;
    }
    return at;
}

void field_cursor_begin(struct field_cursor *cursor, const char *line, size_t size)
{
    cursor->begin = line;
    cursor->end = line + size;
    cursor->at = skip_blanks(cursor->delimiter, line, cursor->end);
    cursor->more = true;
}

enum status field_cursor_next(struct field_cursor *cursor, struct field *ret_field,
                              struct problem *reterr)
{
    const uint64_t column = (uint64_t)(cursor->at - cursor->begin) + 1;
    const bool quoted = cursor->at < cursor->end && *cursor->at == '"';
    const char *after = quoted ? cut_quoted(cursor, ret_field) : cut_plain(cursor, ret_field);

    ret_field->column = column;
    ret_field->line = 0;
    if (after == NULL) {
        return problem_bad_graph(reterr, 0, column, "The closing quote is missing.");
    }
    cursor->at = skip_blanks(cursor->delimiter, after, cursor->end);
    cursor->more = cursor->at < cursor->end;
    if (cursor->more &&
        (cursor->delimiter == ' ' ? cursor->at == after : *cursor->at != cursor->delimiter)) {
        return problem_bad_graph(reterr, 0, (uint64_t)(cursor->at - cursor->begin) + 1,
                                 "There is text after the closing quote.");
    }
    if (cursor->more && cursor->delimiter != ' ') {
        cursor->at = skip_blanks(cursor->delimiter, cursor->at + 1, cursor->end);
    }
    return STATUS_OK;
}

enum status field_cut_row(struct table_row *row, struct field_cursor *cursor, const char *line,
                          size_t size, struct problem *reterr)
{
    row->count = 0;
    field_cursor_begin(cursor, line, size);
    while (cursor->more) {
        if (row->count == TABLE_COLUMN_LIMIT) {
            return problem_bad_graph(reterr, 0, (uint64_t)(cursor->at - line) + 1,
                                     "There are more than %d columns.", TABLE_COLUMN_LIMIT);
        }
        STATUS_TRY(field_cursor_next(cursor, &row->fields[row->count++], reterr));
    }
    return STATUS_OK;
}

static size_t count_unquoted(const char *line, size_t size, char wanted)
{
    bool quoted = false;
    size_t count = 0;

    for (size_t i = 0; i < size; i++) {
        if (line[i] == '"') {
            quoted = !quoted;
        }
        count += !quoted && line[i] == wanted;
    }
    return count;
}

/* Returns whether the line consists of numbers separated by spaces or tabs. Such a line has no
 * other delimiter, because a word that contained one would not be a number. */
static bool is_all_numbers(const char *line, size_t size)
{
    size_t at = 0;

    while (at < size) {
        size_t begin = at;
        double value;

        while (at < size && !field_is_blank(line[at])) {
            at++;
        }
        if (at > begin && !number_parse_real(line + begin, at - begin, &value)) {
            return false;
        }
        at += at < size;
    }
    return true;
}

char field_delimiter(const char *line, size_t size, bool has_decimal_comma)
{
    if (is_all_numbers(line, size)) {
        return ' ';
    }
    if (count_unquoted(line, size, '\t') > 0) {
        return '\t';
    }
    const size_t commas = count_unquoted(line, size, ',');
    const size_t semicolons = count_unquoted(line, size, ';');
    /* In "1;2;3,5" the comma is a decimal comma. In "1 2 3,5" it is one if the request says so. */
    if (semicolons > commas || (semicolons > 0 && has_decimal_comma)) {
        return ';';
    }
    /* Only the weight can have a decimal comma, so there are more separating spaces than commas. */
    if (has_decimal_comma && count_unquoted(line, size, ' ') > commas &&
        memchr(line, '"', size) == NULL) {
        return ' ';
    }
    if (commas == 0 && count_unquoted(line, size, ' ') == 0 &&
        count_unquoted(line, size, '|') > 0) {
        return '|';
    }
    return commas > 0 ? ',' : ' ';
}

/* Returns whether the line ends inside a quoted field. Quotes within comments do not count. */
static bool ends_open(char delimiter, const char *line, size_t size)
{
    struct field_cursor cursor = {.delimiter = delimiter};
    struct field field;

    if (memchr(line, '"', size) == NULL) {
        return false;
    }
    field_cursor_begin(&cursor, line, size);
    if (*cursor.at == '#' || *cursor.at == '%') {
        return false;
    }
    while (cursor.more) {
        const char *begin = cursor.at;

        if (field_cursor_next(&cursor, &field, NULL) != STATUS_OK) {
            return cursor.at == begin;
        }
    }
    return false;
}

bool field_join(struct text *joined, char delimiter, const char **line, size_t *size)
{
    const bool is_joined = joined->size > 0;

    if (!is_joined && !ends_open(delimiter != 0 ? delimiter : field_delimiter(*line, *size, false),
                                 *line, *size)) {
        return true;
    }
    text_append(joined, "\n", is_joined);
    text_append(joined, *line, *size);
    if (text_status(joined) != STATUS_OK ||
        ends_open(delimiter != 0 ? delimiter : field_delimiter(joined->bytes, joined->size, false),
                  joined->bytes, joined->size)) {
        return false;
    }
    *line = joined->bytes;
    *size = joined->size;
    return true;
}

char field_announced_delimiter(const char *line, size_t size)
{
    return size == 5 && strncasecmp(line, "sep=", 4) == 0 && strchr(",;\t|", line[4]) != NULL
               ? line[4]
               : '\0';
}

const char *field_delimiter_name(char delimiter)
{
    return delimiter == '\t'  ? "tabs"
           : delimiter == ' ' ? "spaces"
           : delimiter == ',' ? "commas"
           : delimiter == '|' ? "bars"
                              : "semicolons";
}
