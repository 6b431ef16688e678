/* The Range header of a request, against the size of what it asks for (RFC 9110 section 14). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum range_outcome {
    RANGE_WHOLE,        /* no range, one that is not understood, or several: send everything */
    RANGE_PART,         /* one range */
    RANGE_UNSATISFIABLE /* it lies outside */
};

/* header may be NULL. ret_first and ret_size are written on RANGE_PART. */
enum range_outcome range_parse(const char *header, uint64_t size, uint64_t *ret_first,
                               uint64_t *ret_size);

/* Whether a list of entity tags, as If-None-Match has it, names the tag (with its quotes), or is
 * "*". Weakness is ignored. */
bool range_list_has_tag(const char *list, const char *tag);
