/* The few shapes of JSON that questions have, walked without a tree: brackets, commas, keys and the
 * names of vertices. Pure. Failures are STATUS_BAD_REQUEST with the column, from 1, in bytes. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

struct json_t;

struct name_scanner {
    const char *first;
    const char *at;
    const char *end;
    const char *shape; /* of the whole, for the words */
};

/* A vertex name: in the body, numbers as they are written, or in memory when it had escapes. */
struct scanned_name {
    const char *bytes;
    size_t size;
    struct json_t *unescaped;
};

void name_scanner_init(struct name_scanner *scanner, const char *bytes, size_t size,
                       const char *shape);
/* Takes the character, past blanks, if it comes next. */
bool name_scanner_take(struct name_scanner *scanner, char c);
MUST_CHECK enum status name_scanner_expect(struct name_scanner *scanner, char c,
                                           struct problem *reterr);
enum status name_scanner_refuse(const struct name_scanner *scanner, const char *wanted,
                                struct problem *reterr);
/* A string or a number; to be finished by name_scanner_release. */
MUST_CHECK enum status name_scanner_name(struct name_scanner *scanner,
                                         struct scanned_name *ret_name, struct problem *reterr);
/* A number as it is written, or null, which has no bytes. */
MUST_CHECK enum status name_scanner_number(struct name_scanner *scanner,
                                           struct scanned_name *ret_number, struct problem *reterr);
/* A key and its colon: one of the known, NULL-terminated. */
MUST_CHECK enum status name_scanner_key(struct name_scanner *scanner, const char *const *known,
                                        size_t *ret_index, struct problem *reterr);
/* Nothing but blanks is left. */
MUST_CHECK enum status name_scanner_end(struct name_scanner *scanner, struct problem *reterr);
void name_scanner_release(struct scanned_name *name);
