/* The meaning of the fields of an edge, in every format whose fields have names or places: edge
 * lists, JSON, JGF and GraphML. A record has fields, and each field has a role. Roles come from the
 * parameters (weight=, source_column=, target_column=), from known names, or from position; a field
 * that is left over is named in a warning, and one that contradicts is refused with the parameter
 * that resolves it. A reader of a format only produces records. Embedded in a reader. */
#pragma once

#include "proto/read/fields.h"
#include "proto/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A document whose edges have more attributes is refused. */
#define COLUMN_LIMIT 256
#define COLUMN_NAME_SIZE 64
/* A longer weight is refused in a document. */
#define COLUMN_VALUE_SIZE 512
#define NO_COLUMN SIZE_MAX

struct reader;

enum column_role {
    ROLE_UNUSED,
    ROLE_SOURCE,
    ROLE_TARGET,
    ROLE_WEIGHT,
    ROLE_REVERSE, /* pgRouting's cost of the way back */
    ROLE_ONE_WAY, /* whether the edge leads one way */
    ROLE_TYPE,    /* Gephi's: Directed or Undirected, the same in every record */
    ROLE_COUNT
};

/* The look of the values of a column that has no role. */
enum column_look { LOOK_EMPTY, LOOK_WORDS, LOOK_NUMBER, LOOK_UNREADABLE_NUMBER };

struct column {
    char name[COLUMN_NAME_SIZE]; /* cut; of a table without names, the number of the column */
    enum column_role role;
    enum column_look look;
    bool is_nested; /* below the object that has the weight, where weight= does not reach */
    bool is_id;
    bool is_text;       /* its first number is a string of JSON, which is no weight */
    bool is_plural;     /* a name known for weights, with one letter more, as in "weights" */
    size_t rank;        /* of the name among those known for weights, or NO_COLUMN */
    struct field first; /* the first number, bytes in sample */
    char sample[32];
};

/* One edge: the values of its roles; bytes NULL where the record has none. */
struct edge_record {
    uint32_t ends[2];
    struct field place; /* where the record begins */
    struct field values[ROLE_COUNT];
    size_t from[ROLE_COUNT]; /* columns of these, in a document */
};

/* The source of the roles of source and target. */
enum column_ends { ENDS_KNOWN, ENDS_BY_PARAMETER, ENDS_BY_POSITION };

struct columns {
    struct reader *reader; /* borrowed: its options, warnings and edges */
    enum column_ends ends;
    bool is_unweighted; /* by weight=none: every edge counts 1 */
    bool has_header;
    size_t count;
    size_t last;                /* found last: the fields of most records come in one order */
    size_t roles[ROLE_COUNT];   /* column of each role, or NO_COLUMN */
    enum column_role last_role; /* the highest that some column has */
    size_t rival;               /* another column that may be the weight, or NO_COLUMN */
    struct field
        unweighted; /* place of the first edge without a weight; line 0 and column 0: none */
    bool has_unweighted;
    bool has_reversed; /* OSMnx: each direction has an edge of its own, whatever oneway says */
    bool undirected;   /* by the type of the edges */
    uint64_t both_ways;
    uint64_t back_ways;
    uint64_t no_ways;
    struct column list[COLUMN_LIMIT];
    char values[ROLE_COUNT][COLUMN_VALUE_SIZE]; /* of the record at hand in a document */
};

void columns_init(struct columns *columns, struct reader *reader);

/* ---- Tables: all columns are known from the first lines ---- */

/* Whether the row has names known for source and target, or those that the parameters give. */
bool columns_know_header(const struct columns *columns, const struct table_row *row);
/* Whether a row of three fields has names known for source, target and weight: their columns. */
bool columns_find_known(const struct table_row *header, size_t ret_columns[3]);
/* Whether the header names a table of places or of nodes, whose first row is given. */
bool columns_are_places(const struct table_row *header, const struct table_row *first);
/* Whether the field begins as a number does: with a digit, a sign or a currency mark. */
bool columns_look_numeric(struct field field);
bool columns_is_number(const struct columns *columns, struct field field);
/* header may be NULL; first is the first row of data. has_time: columns 3 and 4 are weight and
 * time. STATUS_BAD_PARAMETER when a parameter names no column; STATUS_BAD_GRAPH when the ends or
 * the weight are not clear. */
MUST_CHECK enum status columns_choose(struct columns *columns, const struct table_row *header,
                                      const struct table_row *first, bool has_time,
                                      struct problem *reterr);
/* The values of a row of the same columns. The record is zero before the first row. */
MUST_CHECK enum status columns_take_row(struct columns *columns, const struct table_row *row,
                                        struct edge_record *record, struct problem *reterr);

/* ---- Documents: fields come with their names ---- */

/* The column of the name, new when it was not seen before. STATUS_BAD_GRAPH beyond the limit. */
MUST_CHECK enum status columns_find(struct columns *columns, const char *name, size_t size,
                                    bool is_nested, size_t *ret_index, struct problem *reterr);
/* The value of a field, whose line is set; one of a role is copied into the record.
 * STATUS_BAD_GRAPH when the record has it already. */
MUST_CHECK enum status columns_take(struct columns *columns, size_t index, struct field value,
                                    struct edge_record *record, struct problem *reterr);

/* Says that the column has no numbers, whatever its values look like: it is not the weight. */
void columns_bar_numbers(struct columns *columns, size_t index);

/* ---- Both ---- */

/* Adds what the record says: an edge, its way back, both, or neither. */
MUST_CHECK enum status columns_add_edge(struct columns *columns, const struct edge_record *record,
                                        struct problem *reterr);
/* The end of the edges: refuses what is left over and looks like weights, warns of all else that is
 * not used, and notes the name of the weight. */
MUST_CHECK enum status columns_finish(struct columns *columns, struct problem *reterr);
