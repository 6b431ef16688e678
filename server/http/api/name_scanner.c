#include "server/http/api/name_scanner.h"

#include "proto/number.h"
#include "proto/text.h"

#include <jansson.h>
#include <string.h>

void name_scanner_init(struct name_scanner *scanner, const char *bytes, size_t size,
                       const char *shape)
{
    *scanner =
        (struct name_scanner){bytes, bytes + text_mark_size(bytes, size), bytes + size, shape};
}

enum status name_scanner_refuse(const struct name_scanner *scanner, const char *wanted,
                                struct problem *reterr)
{
    return problem_refuse_at(reterr, STATUS_BAD_REQUEST, 0,
                             (uint64_t)(scanner->at - scanner->first) + 1, NULL,
                             "The body does not have the form %s: %s.", scanner->shape, wanted);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct name_scanner *scanner)
{
    while (scanner->at < scanner->end && is_blank(*scanner->at)) {
        scanner->at++;
    }
}

bool name_scanner_accept(struct name_scanner *scanner, char c)
{
    skip_blanks(scanner);
    if (scanner->at == scanner->end || *scanner->at != c) {
        return false;
    }
    scanner->at++;
    return true;
}

enum status name_scanner_expect(struct name_scanner *scanner, char c, struct problem *reterr)
{
    char wanted[] = "expected ' '";
    if (name_scanner_accept(scanner, c)) {
        return STATUS_OK;
    }
    wanted[10] = c;
    return name_scanner_refuse(scanner, wanted, reterr);
}

/* Scans a string from its opening quote; jansson decodes it if it has escapes. */
static enum status scan_string(struct name_scanner *scanner, struct scanned_name *ret_name,
                               struct problem *reterr)
{
    const char *first = scanner->at;
    const char *at = first + 1;
    bool escaped = false;
    while (at < scanner->end && *at != '"' && (unsigned char)*at >= 0x20) {
        escaped |= *at == '\\';
        at += *at == '\\' && at + 1 < scanner->end ? 2 : 1;
    }
    if (at >= scanner->end || *at != '"') {
        return name_scanner_refuse(scanner, "a string has no closing quote", reterr);
    }
    *ret_name = (struct scanned_name){.bytes = first + 1, .size = (size_t)(at - first) - 1};
    if (escaped) {
        ret_name->unescaped =
            json_loadb(first, (size_t)(at - first) + 1, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        if (ret_name->unescaped == NULL) {
            return name_scanner_refuse(scanner, "a string has an invalid escape", reterr);
        }
        ret_name->bytes = json_string_value(ret_name->unescaped);
        ret_name->size = json_string_length(ret_name->unescaped);
    }
    scanner->at = at + 1;
    return STATUS_OK;
}

static bool ends_number(const struct name_scanner *scanner)
{
    return scanner->at == scanner->end || *scanner->at == ',' || *scanner->at == ']' ||
           *scanner->at == '}' || is_blank(*scanner->at);
}

/* Scans a number without converting it, or the word null if with_null is true. */
static enum status scan_number(struct name_scanner *scanner, bool with_null, const char *wanted,
                               struct scanned_name *ret_number, struct problem *reterr)
{
    const char *first = scanner->at;
    double value;
    /* Scan digits first, because nearly all numbers consist of digits only. */
    while (scanner->at < scanner->end && *scanner->at >= '0' && *scanner->at <= '9') {
        scanner->at++;
    }
    if (scanner->at > first && ends_number(scanner)) {
        *ret_number = (struct scanned_name){.bytes = first, .size = (size_t)(scanner->at - first)};
        return STATUS_OK;
    }
    while (!ends_number(scanner)) {
        scanner->at++;
    }
    const size_t size = (size_t)(scanner->at - first);
    const bool is_null = with_null && size == 4 && memcmp(first, "null", 4) == 0;
    if (!is_null && !number_parse_real(first, size, &value)) {
        scanner->at = first;
        return name_scanner_refuse(scanner, wanted, reterr);
    }
    *ret_number = (struct scanned_name){.bytes = first, .size = is_null ? 0 : size};
    return STATUS_OK;
}

enum status name_scanner_name(struct name_scanner *scanner, struct scanned_name *ret_name,
                              struct problem *reterr)
{
    skip_blanks(scanner);
    return scanner->at < scanner->end && *scanner->at == '"'
               ? scan_string(scanner, ret_name, reterr)
               : scan_number(scanner, false, "a vertex must be a string or a number", ret_name,
                             reterr);
}

enum status name_scanner_number(struct name_scanner *scanner, struct scanned_name *ret_number,
                                struct problem *reterr)
{
    skip_blanks(scanner);
    return scan_number(scanner, true, "a weight must be a number or null", ret_number, reterr);
}

enum status name_scanner_key(struct name_scanner *scanner, const char *const *known,
                             size_t *ret_index, struct problem *reterr)
{
    struct scanned_name key = {0};
    size_t index = 0;
    skip_blanks(scanner);
    const char *first = scanner->at;
    if (first == scanner->end || *first != '"') {
        return name_scanner_refuse(scanner, "a key is expected", reterr);
    }
    STATUS_TRY(scan_string(scanner, &key, reterr));
    while (known[index] != NULL &&
           (strlen(known[index]) != key.size || memcmp(known[index], key.bytes, key.size) != 0)) {
        index++;
    }
    name_scanner_release(&key);
    if (known[index] == NULL) {
        scanner->at = first;
        return name_scanner_refuse(scanner, "the key is unknown", reterr);
    }
    *ret_index = index;
    return name_scanner_expect(scanner, ':', reterr);
}

enum status name_scanner_end(struct name_scanner *scanner, struct problem *reterr)
{
    skip_blanks(scanner);
    return scanner->at == scanner->end
               ? STATUS_OK
               : name_scanner_refuse(scanner, "there is text after the object", reterr);
}

void name_scanner_release(struct scanned_name *name)
{
    if (name->unescaped != NULL) {
        json_decref(name->unescaped);
        name->unescaped = NULL;
    }
}
