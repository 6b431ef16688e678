#include "proto/read/json_scanner.h"

#include "proto/read/reader.h"

#include <string.h>

enum expected {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* after '[' */
    EXPECT_KEY,
    EXPECT_KEY_OR_END, /* after '{' */
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
};

enum mode {
    MODE_BETWEEN,
    MODE_LITERAL, /* a number, true, false, null */
    MODE_STRING,
    MODE_ESCAPE, /* after a backslash */
    MODE_HEX
};

void json_scanner_init(struct json_scanner *scanner)
{
    *scanner = (struct json_scanner){.expected = EXPECT_VALUE, .place = {1, 1}};
}

void json_scanner_finish(struct json_scanner *scanner)
{
    text_finish(&scanner->text);
}

/* STATUS_BAD_GRAPH at the byte at hand. */
static enum status refuse(const struct json_scanner *scanner, const char *detail,
                          struct problem *reterr)
{
    return problem_bad_graph(reterr, scanner->place.line, scanner->place.column, "%s", detail);
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
    unsigned char byte = (unsigned char)c;

    if (byte >= 0x20 && byte < 0x7F) {
        return problem_bad_graph(reterr, scanner->place.line, scanner->place.column,
                                 "There is '%c' where %s should be.", c, wanted[scanner->expected]);
    }
    return problem_bad_graph(reterr, scanner->place.line, scanner->place.column,
                             "There is byte 0x%02X where %s should be.", byte,
                             wanted[scanner->expected]);
}

static void begin_token(struct json_scanner *scanner, enum mode mode)
{
    scanner->mode = (int)mode;
    scanner->token_place = scanner->place;
    text_clear(&scanner->text);
}

static enum status emit(struct json_scanner *scanner, enum json_token_kind kind,
                        struct problem *reterr)
{
    struct json_token token = {
        .kind = kind,
        .text = scanner->text.bytes == NULL ? "" : scanner->text.bytes,
        .size = scanner->text.size,
        .depth = scanner->depth,
        .place = scanner->token_place,
    };

    if (text_status(&scanner->text) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for a string.");
    }
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
    enum status status;

    if (scanner->depth == JSON_DEPTH_LIMIT) {
        return refuse(scanner, "There are more than 32 levels of nesting.", reterr);
    }
    begin_token(scanner, MODE_BETWEEN);
    status = emit(scanner, array ? JSON_TOKEN_ARRAY_BEGIN : JSON_TOKEN_OBJECT_BEGIN, reterr);
    scanner->depth++;
    scanner->is_array &= ~(1ull << scanner->depth);
    scanner->is_array |= (uint64_t)array << scanner->depth;
    scanner->expected = array ? EXPECT_VALUE_OR_END : EXPECT_KEY_OR_END;
    return status;
}

/* number = [ "-" ] int [ frac ] [ exp ], RFC 8259 section 6. */
static bool is_number(const char *at)
{
    at += *at == '-';
    if (*at == '0') {
        at++;
    } else if (*at >= '1' && *at <= '9') {
        at += strspn(at, "0123456789");
    } else {
        return false;
    }
    if (*at == '.') {
        size_t digits = strspn(at + 1, "0123456789");

        if (digits == 0) {
            return false;
        }
        at += 1 + digits;
    }
    if (*at == 'e' || *at == 'E') {
        size_t digits;

        at++;
        at += *at == '+' || *at == '-';
        digits = strspn(at, "0123456789");
        if (digits == 0) {
            return false;
        }
        at += digits;
    }
    return *at == '\0';
}

static enum status refuse_literal(const struct json_scanner *scanner, struct problem *reterr)
{
    const char *text = scanner->text.bytes;
    const char *word = text + (*text == '-');
    const struct json_place place = scanner->token_place;

    if (strcmp(word, "NaN") == 0 || strcmp(word, "Infinity") == 0) {
        problem_bad_graph(reterr, place.line, place.column, "%s is not JSON.", text);
        problem_hint(reterr, "Leave the edge out: what is not listed is unreachable.");
        return STATUS_BAD_GRAPH;
    }
    return problem_bad_graph(reterr, place.line, place.column, "'%.40s' is no JSON value.", text);
}

static enum status end_literal(struct json_scanner *scanner, struct problem *reterr)
{
    enum json_token_kind kind = JSON_TOKEN_NUMBER;
    enum status status;

    if (text_status(&scanner->text) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for a number.");
    }
    if (strcmp(scanner->text.bytes, "true") == 0) {
        kind = JSON_TOKEN_TRUE;
    } else if (strcmp(scanner->text.bytes, "false") == 0) {
        kind = JSON_TOKEN_FALSE;
    } else if (strcmp(scanner->text.bytes, "null") == 0) {
        kind = JSON_TOKEN_NULL;
    } else if (!is_number(scanner->text.bytes)) {
        return refuse_literal(scanner, reterr);
    }
    status = emit(scanner, kind, reterr);
    after_value(scanner);
    return status;
}

static bool is_literal_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

static bool wants_value(const struct json_scanner *scanner)
{
    return scanner->expected == EXPECT_VALUE || scanner->expected == EXPECT_VALUE_OR_END;
}

static bool wants_key(const struct json_scanner *scanner)
{
    return scanner->expected == EXPECT_KEY || scanner->expected == EXPECT_KEY_OR_END;
}

/* A byte between tokens, other than white space. */
static enum status take_structure(struct json_scanner *scanner, char c, struct problem *reterr)
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
        status = emit(scanner, c == ']' ? JSON_TOKEN_ARRAY_END : JSON_TOKEN_OBJECT_END, reterr);
        after_value(scanner);
        return status;
    }
    if (c == '"' && (wants_value(scanner) || wants_key(scanner))) {
        begin_token(scanner, MODE_STRING);
        scanner->is_key = wants_key(scanner);
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

static void append_utf8(struct text *text, uint32_t code)
{
    unsigned char bytes[4];
    size_t size = 0;

    if (code < 0x80) {
        bytes[size++] = (unsigned char)code;
    } else if (code < 0x800) {
        bytes[size++] = (unsigned char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        bytes[size++] = (unsigned char)(0xE0 | code >> 12);
        bytes[size++] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
    } else {
        bytes[size++] = (unsigned char)(0xF0 | code >> 18);
        bytes[size++] = (unsigned char)(0x80 | (code >> 12 & 0x3F));
        bytes[size++] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80) {
        bytes[size++] = (unsigned char)(0x80 | (code & 0x3F));
    }
    text_append(text, bytes, size);
}

static enum status take_escape(struct json_scanner *scanner, char c, struct problem *reterr)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = strchr(letters, c);

    if (c == 'u') {
        scanner->mode = MODE_HEX;
        scanner->escape_digits = 4;
        scanner->escape_value = 0;
        return STATUS_OK;
    }
    if (scanner->surrogate != 0) {
        return refuse(scanner, "There is a high surrogate without its low one.", reterr);
    }
    if (c == '\0' || letter == NULL) {
        return refuse(scanner, "There is an unknown escape.", reterr);
    }
    text_append_char(&scanner->text, meanings[letter - letters]);
    scanner->mode = MODE_STRING;
    return STATUS_OK;
}

static enum status end_hex(struct json_scanner *scanner, struct problem *reterr)
{
    uint32_t value = scanner->escape_value;
    bool low = value >= 0xDC00 && value <= 0xDFFF;

    scanner->mode = MODE_STRING;
    if (scanner->surrogate != 0 && !low) {
        return refuse(scanner, "There is a high surrogate without its low one.", reterr);
    }
    if (scanner->surrogate == 0 && low) {
        return refuse(scanner, "There is a low surrogate without its high one.", reterr);
    }
    if (value >= 0xD800 && value <= 0xDBFF) {
        scanner->surrogate = value;
        return STATUS_OK;
    }
    if (low) {
        value = 0x10000 + ((scanner->surrogate - 0xD800) << 10) + (value - 0xDC00);
    }
    scanner->surrogate = 0;
    append_utf8(&scanner->text, value);
    return STATUS_OK;
}

static enum status take_hex(struct json_scanner *scanner, char c, struct problem *reterr)
{
    uint32_t digit;

    if (c >= '0' && c <= '9') {
        digit = (uint32_t)(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = (uint32_t)((c | 0x20) - 'a' + 10);
    } else {
        return refuse(scanner, "An escape needs four hexadecimal digits.", reterr);
    }
    scanner->escape_value = scanner->escape_value << 4 | digit;
    scanner->escape_digits--;
    return scanner->escape_digits == 0 ? end_hex(scanner, reterr) : STATUS_OK;
}

/* RFC 3629, byte by byte: a lead byte sets the range of the next one. */
static bool take_utf8(struct json_scanner *scanner, unsigned char byte)
{
    if (scanner->utf8_rest > 0) {
        if (byte < scanner->utf8_low || byte > scanner->utf8_high) {
            return false;
        }
        scanner->utf8_rest--;
        scanner->utf8_low = 0x80;
        scanner->utf8_high = 0xBF;
        return true;
    }
    if (byte < 0x80) {
        return true;
    }
    if (byte < 0xC2 || byte > 0xF4) {
        return false;
    }
    scanner->utf8_rest = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    scanner->utf8_low = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
    scanner->utf8_high = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
    return true;
}

static enum status take_string(struct json_scanner *scanner, char c, struct problem *reterr)
{
    enum status status;

    if (!take_utf8(scanner, (unsigned char)c)) {
        return refuse(scanner, "A string is not valid UTF-8.", reterr);
    }
    if (scanner->surrogate != 0 && c != '\\') {
        return refuse(scanner, "There is a high surrogate without its low one.", reterr);
    }
    if (c == '"') {
        status = emit(scanner, scanner->is_key ? JSON_TOKEN_KEY : JSON_TOKEN_STRING, reterr);
        after_value(scanner);
        scanner->expected = scanner->is_key ? EXPECT_COLON : scanner->expected;
        return status;
    }
    if ((unsigned char)c < 0x20) {
        return refuse(scanner, "There is a control character in a string.", reterr);
    }
    if (c == '\\') {
        scanner->mode = MODE_ESCAPE;
        return STATUS_OK;
    }
    text_append_char(&scanner->text, c);
    return STATUS_OK;
}

static enum status take_between(struct json_scanner *scanner, char c, struct problem *reterr)
{
    /* The three bytes of a UTF-8 byte order mark may begin the document. */
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
                                                           : take_structure(scanner, c, reterr);
}

static enum status take_byte(struct json_scanner *scanner, char c, struct problem *reterr)
{
    enum status status = STATUS_OK;

    if (scanner->mode == MODE_LITERAL && !is_literal_byte(c)) {
        status = end_literal(scanner, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (scanner->mode != MODE_BETWEEN && scanner->text.size > READER_LINE_LIMIT) {
        return problem_bad_graph(reterr, scanner->token_place.line, scanner->token_place.column,
                                 "A string or number is longer than 65536 bytes.");
    }
    switch ((enum mode)scanner->mode) {
    case MODE_BETWEEN:
        return take_between(scanner, c, reterr);
    case MODE_LITERAL:
        text_append_char(&scanner->text, c);
        return STATUS_OK;
    case MODE_STRING:
        return take_string(scanner, c, reterr);
    case MODE_ESCAPE:
        return take_escape(scanner, c, reterr);
    case MODE_HEX:
        return take_hex(scanner, c, reterr);
    }
    return STATUS_OK;
}

enum status json_scanner_feed(struct json_scanner *scanner, const char *bytes, size_t size,
                              struct problem *reterr)
{
    for (size_t i = 0; i < size; i++) {
        enum status status = take_byte(scanner, bytes[i], reterr);

        if (status != STATUS_OK) {
            return status;
        }
        scanner->offset++;
        scanner->place.column++;
        if (bytes[i] == '\n') {
            scanner->place.line++;
            scanner->place.column = 1;
        }
    }
    return STATUS_OK;
}

enum status json_scanner_end(struct json_scanner *scanner, struct problem *reterr)
{
    enum status status = STATUS_OK;

    if (scanner->mode == MODE_LITERAL) {
        status = end_literal(scanner, reterr);
    }
    if (status != STATUS_OK || scanner->expected == EXPECT_NOTHING) {
        return status;
    }
    problem_set(reterr, STATUS_TRUNCATED, "The document ends in the middle.");
    problem_at(reterr, scanner->place.line, scanner->place.column);
    return STATUS_TRUNCATED;
}
