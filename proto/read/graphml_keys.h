/* The attributes that the edges of a GraphML document have, and which of them is their weight. Part
 * of graphml.c. */
#pragma once

#include "proto/read/reader.h"
#include "proto/text.h"

struct graphml_keys {
    struct text list; /* the id and the name of each, with their NULs */
    char
        weight[sizeof(((struct reader_notes *)NULL)->weight)]; /* its name; empty = there is none */
    size_t rank; /* of that name: edge_columns_rank; NO_COLUMN = there is none */
};

/* Several keys may have one name: NetworkX writes one for integers and one for decimals. wanted:
 * the name of the weight, or empty. ret_is_better: the weight is this attribute, and no longer one
 * before it. */
MUST_CHECK enum status graphml_keys_add(struct graphml_keys *keys, const char *id, const char *name,
                                        const char *wanted, bool *ret_is_better,
                                        struct problem *reterr);
/* The name of the attribute with this id, NULL where it is none of edges. */
const char *graphml_keys_find(const struct graphml_keys *keys, const char *id);
/* Says which names edges have. */
void graphml_keys_hint(const struct graphml_keys *keys, struct problem *reterr);
