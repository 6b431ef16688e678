/* Scans the few JSON shapes that queries have (brackets, commas, keys and vertex names) without
 * building a tree. Pure functions. Errors are STATUS_BAD_REQUEST with a column, in bytes from 1. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

struct name_scanner {
    const char *first;
    const char *at;
    const char *end;
    const char *shape; /* shape of the whole body, for messages */
};

/* A vertex name. bytes points into the body (numbers as they are written), or into `unescaped` when
 * the string had escapes. */
struct scanned_name {
    const char *bytes;
    size_t size;
    struct json_t *unescaped;
};

void name_scanner_init(struct name_scanner *scanner, const char *bytes, size_t size,
                       const char *shape);
/* Skips whitespace. If the next character is c, consumes it and returns true. */
bool name_scanner_accept(struct name_scanner *scanner, char c);
MUST_CHECK enum status name_scanner_expect(struct name_scanner *scanner, char c,
                                           struct problem *reterr);
enum status name_scanner_refuse(const struct name_scanner *scanner, const char *wanted,
                                struct problem *reterr);
/* Reads a string or a number; release it with name_scanner_release. */
MUST_CHECK enum status name_scanner_name(struct name_scanner *scanner,
                                         struct scanned_name *ret_name, struct problem *reterr);
/* Reads a number without converting it, or null, whose size is 0. */
MUST_CHECK enum status name_scanner_number(struct name_scanner *scanner,
                                           struct scanned_name *ret_number, struct problem *reterr);
/* Reads a key and its colon. The key must be in known, which ends with NULL. */
MUST_CHECK enum status name_scanner_key(struct name_scanner *scanner, const char *const *known,
                                        size_t *ret_index, struct problem *reterr);
/* Checks that only whitespace is left. */
MUST_CHECK enum status name_scanner_end(struct name_scanner *scanner, struct problem *reterr);
void name_scanner_release(struct scanned_name *name);
