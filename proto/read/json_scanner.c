#include "proto/read/json_scanner.h"

#include "proto/read/reader.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

enum expected {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* the token before was '[' */
    EXPECT_KEY,
    EXPECT_KEY_OR_END, /* the token before was '{' */
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
};

enum mode {
    MODE_BETWEEN,
    MODE_LITERAL, /* in a number, true, false or null */
    MODE_STRING,
    MODE_ESCAPE /* after a backslash */
};

void json_scanner_init(struct json_scanner *scanner)
{
    *scanner = (struct json_scanner){.expected = EXPECT_VALUE, .place = {1, 1}};
}

void json_scanner_finish(struct json_scanner *scanner)
{
    text_finish(&scanner->text);
}

static enum status refuse_byte(const struct json_scanner *scanner, char c, struct problem *reterr)
{
    static const char *const wanted[] = {
        [EXPECT_VALUE] = "a value",
        [EXPECT_VALUE_OR_END] = "a value or ']'",
        [EXPECT_KEY] = "a name in quotes",
        [EXPECT_KEY_OR_END] = "a name in quotes or '}'",
        [EXPECT_COLON] = "':'",
        [EXPECT_COMMA_OR_END] = "',' or the closing bracket",
        [EXPECT_NOTHING] = "the end of the document",
    };
    const bool is_shown = c >= 0x20 && c < 0x7F;

    return problem_bad_graph(reterr, scanner->place.line, scanner->place.column,
                             is_shown ? "Expected %s but found '%c'."
                                      : "Expected %s but found byte 0x%02X.",
                             wanted[scanner->expected], is_shown ? c : (unsigned char)c);
}

static void begin_token(struct json_scanner *scanner, enum mode mode)
{
    scanner->mode = (int)mode;
    scanner->token_place = scanner->place;
    text_clear(&scanner->text);
}

static enum status emit_token(struct json_scanner *scanner, enum json_token_kind kind,
                              struct problem *reterr)
{
    struct json_token token = {
        .kind = kind,
        .text = scanner->text.bytes == NULL ? "" : scanner->text.bytes,
        .size = scanner->text.size,
        .depth = scanner->depth,
        .place = scanner->token_place,
    };

    STATUS_TRY(text_status(&scanner->text));
    return scanner->take(scanner->context, &token, reterr);
}

static bool in_array(const struct json_scanner *scanner)
{
    return (scanner->is_array >> scanner->depth & 1) != 0;
}

static void after_value(struct json_scanner *scanner)
{
    scanner->mode = MODE_BETWEEN;
    scanner->expected = scanner->depth == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static enum status open_container(struct json_scanner *scanner, bool array, struct problem *reterr)
{
    if (scanner->depth == JSON_DEPTH_LIMIT) {
        return problem_bad_graph(reterr, scanner->place.line, scanner->place.column,
                                 "The document is nested more than 32 levels deep.");
    }
    begin_token(scanner, MODE_BETWEEN);
    const enum status status =
        emit_token(scanner, array ? JSON_TOKEN_ARRAY_BEGIN : JSON_TOKEN_OBJECT_BEGIN, reterr);
    scanner->depth++;
    scanner->is_array &= ~(1ull << scanner->depth);
    scanner->is_array |= (uint64_t)array << scanner->depth;
    scanner->expected = array ? EXPECT_VALUE_OR_END : EXPECT_KEY_OR_END;
    return status;
}

/* Returns whether the text is a number: [ "-" ] int [ frac ] [ exp ], RFC 8259 section 6. */
static bool is_number(const char *at)
{
    static const char digits[] = "0123456789";
    at += *at == '-';
    size_t count = strspn(at, digits);
    bool is_right = count == 1 || (count > 1 && *at != '0');
    at += count;
    if (*at == '.') {
        count = strspn(++at, digits);
        is_right = is_right && count > 0;
        at += count;
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        count = strspn(at, digits);
        is_right = is_right && count > 0;
        at += count;
    }
    return is_right && *at == '\0';
}

static enum status refuse_literal(const struct json_scanner *scanner, struct problem *reterr)
{
    const char *text = scanner->text.bytes;
    const char *word = text + (*text == '-');
    const struct json_place place = scanner->token_place;
    if (strcmp(word, "NaN") == 0 || strcmp(word, "Infinity") == 0) {
        return problem_bad_graph_hint(reterr, place.line, place.column,
                                      "Omit the edge or, in a matrix, write null.",
                                      "%s is not valid JSON.", text);
    }
    return problem_bad_graph(reterr, place.line, place.column, "'%.40s' is not a JSON value.",
                             text);
}

static enum status end_literal(struct json_scanner *scanner, struct problem *reterr)
{
    enum json_token_kind kind = JSON_TOKEN_NUMBER;
    STATUS_TRY(text_status(&scanner->text));
    if (strcmp(scanner->text.bytes, "true") == 0) {
        kind = JSON_TOKEN_TRUE;
    } else if (strcmp(scanner->text.bytes, "false") == 0) {
        kind = JSON_TOKEN_FALSE;
    } else if (strcmp(scanner->text.bytes, "null") == 0) {
        kind = JSON_TOKEN_NULL;
    } else if (!is_number(scanner->text.bytes)) {
        return refuse_literal(scanner, reterr);
    }
    STATUS_TRY(emit_token(scanner, kind, reterr));
    after_value(scanner);
    return STATUS_OK;
}

static bool is_literal_byte(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '+' || c == '.';
}

static bool wants_value(const struct json_scanner *scanner)
{
    return scanner->expected == EXPECT_VALUE || scanner->expected == EXPECT_VALUE_OR_END;
}

static bool wants_key(const struct json_scanner *scanner)
{
    return scanner->expected == EXPECT_KEY || scanner->expected == EXPECT_KEY_OR_END;
}

/* Accepts a structural character: a bracket, a brace, a comma or a colon. */
static enum status accept_structure(struct json_scanner *scanner, char c, struct problem *reterr)
{
    enum status status;
    if ((c == '{' || c == '[') && wants_value(scanner)) {
        return open_container(scanner, c == '[', reterr);
    }
    if ((c == '}' || c == ']') && scanner->depth > 0 && in_array(scanner) == (c == ']') &&
        (scanner->expected == EXPECT_COMMA_OR_END ||
         scanner->expected == (c == ']' ? EXPECT_VALUE_OR_END : EXPECT_KEY_OR_END))) {
        begin_token(scanner, MODE_BETWEEN);
        scanner->depth--;
        status =
            emit_token(scanner, c == ']' ? JSON_TOKEN_ARRAY_END : JSON_TOKEN_OBJECT_END, reterr);
        after_value(scanner);
        return status;
    }
    if (c == '"' && (wants_value(scanner) || wants_key(scanner))) {
        begin_token(scanner, MODE_STRING);
        scanner->is_key = wants_key(scanner);
        scanner->is_coded = false;
        return STATUS_OK;
    }
    if (c == ':' && scanner->expected == EXPECT_COLON) {
        scanner->expected = EXPECT_VALUE;
        return STATUS_OK;
    }
    if (c == ',' && scanner->expected == EXPECT_COMMA_OR_END) {
        scanner->expected = in_array(scanner) ? EXPECT_VALUE : EXPECT_KEY;
        return STATUS_OK;
    }
    if (is_literal_byte(c) && wants_value(scanner)) {
        begin_token(scanner, MODE_LITERAL);
        text_append_char(&scanner->text, c);
        return STATUS_OK;
    }
    return refuse_byte(scanner, c, reterr);
}

/* Checks that the current string is valid UTF-8, and decodes its escapes. */
static enum status decode_string(struct json_scanner *scanner, struct problem *reterr)
{
    struct text *text = &scanner->text;
    const struct json_place place = scanner->token_place;
    const size_t valid = text_utf8_size(text->bytes, text->size);
    struct text quoted = {0};
    if (valid < text->size) {
        return problem_bad_graph(reterr, place.line, place.column + 1 + valid,
                                 "A string is not valid UTF-8.");
    }
    if (memchr(text->bytes, '\\', text->size) == NULL) {
        return STATUS_OK;
    }
    text_append_char(&quoted, '"');
    text_append(&quoted, text->bytes, text->size);
    text_append_char(&quoted, '"');
    const enum status status = text_status(&quoted);
    json_error_t error;
    json_t *string = status == STATUS_OK ? json_loadb(quoted.bytes, quoted.size,
                                                      JSON_DECODE_ANY | JSON_ALLOW_NUL, &error)
                                         : NULL;
    text_finish(&quoted);
    STATUS_TRY(status);
    if (string == NULL && json_error_code(&error) == json_error_out_of_memory) {
        return STATUS_NO_MEMORY;
    }
    if (string == NULL) {
        return problem_bad_graph(reterr, place.line, place.column,
                                 "A string has an escape that JSON does not allow.");
    }
    text_clear(text);
    text_append(text, json_string_value(string), json_string_length(string));
    json_decref(string);
    return text_status(text);
}

static enum status accept_string(struct json_scanner *scanner, char c, struct problem *reterr)
{
    const bool is_escaped = scanner->mode == MODE_ESCAPE;
    if ((unsigned char)c < 0x20) {
        return problem_bad_graph(reterr, scanner->place.line, scanner->place.column,
                                 "There is a control character in a string.");
    }
    if (c != '"' || is_escaped) {
        scanner->mode = c == '\\' && !is_escaped ? MODE_ESCAPE : MODE_STRING;
        scanner->is_coded = true;
        text_append_char(&scanner->text, c);
        return STATUS_OK;
    }
    STATUS_TRY(text_status(&scanner->text));
    STATUS_TRY(scanner->is_coded ? decode_string(scanner, reterr) : STATUS_OK);
    STATUS_TRY(emit_token(scanner, scanner->is_key ? JSON_TOKEN_KEY : JSON_TOKEN_STRING, reterr));
    after_value(scanner);
    scanner->expected = scanner->is_key ? EXPECT_COLON : scanner->expected;
    return STATUS_OK;
}

static enum status parse_between(struct json_scanner *scanner, char c, struct problem *reterr)
{
    /* The document may begin with the three bytes of a UTF-8 byte order mark. */
    if (scanner->marked || (scanner->offset == 0 && c == '\xEF')) {
        if (c != "\xEF\xBB\xBF"[scanner->offset]) {
            return refuse_byte(scanner, c, reterr);
        }
        scanner->marked = scanner->offset < 2;
        if (!scanner->marked) {
            scanner->place.column = 0;
        }
        return STATUS_OK;
    }
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' ? STATUS_OK
                                                           : accept_structure(scanner, c, reterr);
}

static enum status accept_byte(struct json_scanner *scanner, char c, struct problem *reterr)
{
    if (scanner->mode != MODE_BETWEEN && scanner->text.size > READER_LINE_LIMIT) {
        return problem_bad_graph(reterr, scanner->token_place.line, scanner->token_place.column,
                                 "A string or number is longer than 65536 bytes.");
    }
    if (scanner->mode == MODE_STRING || scanner->mode == MODE_ESCAPE) {
        return accept_string(scanner, c, reterr);
    }
    STATUS_TRY(scanner->mode == MODE_LITERAL ? end_literal(scanner, reterr) : STATUS_OK);
    return parse_between(scanner, c, reterr);
}

enum status json_scanner_feed(struct json_scanner *scanner, const char *bytes, size_t size,
                              struct problem *reterr)
{
    const char *const end = bytes + size;
    const char *next;
    for (const char *at = bytes; at < end; at = next) {
        /* Copies a run of bytes without escapes at once. */
        next = at;
        if (scanner->mode == MODE_LITERAL) {
            while (next < end && is_literal_byte(*next)) {
                next++;
            }
        } else if (scanner->mode == MODE_STRING) {
            while (next < end && (signed char)*next >= 0x20 && *next != '"' && *next != '\\') {
                next++;
            }
        }
        if (next > at && scanner->text.size <= READER_LINE_LIMIT) {
            text_append(&scanner->text, at, (size_t)(next - at));
        } else {
            STATUS_TRY(accept_byte(scanner, *at, reterr));
            next = at + 1;
        }
        scanner->offset += (size_t)(next - at);
        scanner->place.column += (size_t)(next - at);
        if (*at == '\n') {
            scanner->place.line++;
            scanner->place.column = 1;
        }
    }
    return STATUS_OK;
}

enum status json_scanner_end(struct json_scanner *scanner, struct problem *reterr)
{
    STATUS_TRY(scanner->mode == MODE_LITERAL ? end_literal(scanner, reterr) : STATUS_OK);
    if (scanner->expected == EXPECT_NOTHING) {
        return STATUS_OK;
    }
    return problem_refuse_at(reterr, STATUS_TRUNCATED, scanner->place.line, scanner->place.column,
                             NULL, "The document is incomplete.");
}

enum status json_token_refuse(const struct json_token *token, const char *detail, const char *hint,
                              struct problem *reterr)
{
    return problem_bad_graph_hint(reterr, token->place.line, token->place.column, hint, "%s",
                                  detail);
}
