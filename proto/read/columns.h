/* The meaning of the fields of an edge, in every format whose fields have names or positions: edge
 * lists, JSON, JGF and GraphML. A record has fields, and each field has a role. Roles come from the
 * parameters (weight=, source_column=, target_column=), from known names, or from position. An
 * unused field is named in a warning; contradictory fields are refused with the parameter that
 * resolves the conflict. Embedded in a reader, which produces the records, and used by its thread.
 */
#pragma once

#include "proto/read/fields.h"
#include "proto/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit on the attributes of the edges of a document. */
#define COLUMN_LIMIT 256
#define COLUMN_NAME_SIZE 64
/* Limit on the length of a value in a document, with NUL. */
#define COLUMN_VALUE_SIZE 512
#define NO_COLUMN SIZE_MAX

struct reader;

enum column_role {
    ROLE_UNUSED,
    ROLE_SOURCE,
    ROLE_TARGET,
    ROLE_WEIGHT,
    ROLE_REVERSE, /* pgRouting's cost of the reverse direction */
    ROLE_ONE_WAY, /* whether the edge is directed */
    ROLE_TYPE,    /* Gephi's type, Directed or Undirected, the same in every record */
    ROLE_COUNT
};

/* The kind of values of a column that has no role. */
enum column_look { LOOK_EMPTY, LOOK_WORDS, LOOK_NUMBER, LOOK_UNREADABLE_NUMBER };

struct column {
    char name[COLUMN_NAME_SIZE]; /* name, cut to this size; in a table without header the number of
                                    the column */
    enum column_role role;
    enum column_look look;
    bool is_nested; /* below the object that has the weight; weight= does not apply */
    bool is_id;
    bool is_text;       /* its first number is a JSON string, which is not a weight */
    bool is_plural;     /* a name known for weights with one more letter, such as "weights" */
    size_t rank;        /* index in the list of names known for weights, or NO_COLUMN */
    struct field first; /* first number; its bytes are in sample */
    char sample[32];
};

/* One edge: the values by role. bytes is NULL if the record has no such value. */
struct edge_record {
    uint32_t ends[2];
    struct field place; /* position where the record begins */
    struct field values[ROLE_COUNT];
    size_t from[ROLE_COUNT]; /* columns of the values, in a document */
};

/* How the columns of source and target were chosen. */
enum column_ends { ENDS_KNOWN, ENDS_BY_PARAMETER, ENDS_BY_POSITION };

struct columns {
    struct reader *reader; /* borrowed, for its options, warnings and edges */
    enum column_ends ends;
    bool is_unweighted; /* weight=none was given: every edge counts 1 */
    bool has_header;
    size_t count;
    size_t last; /* column found last, where the next search starts: most records have the same
                    order */
    size_t roles[ROLE_COUNT];   /* column of each role, or NO_COLUMN */
    enum column_role last_role; /* highest role in use */
    size_t rival;               /* second column that may be the weight, or NO_COLUMN */
    struct field unweighted;    /* position of the first edge without a weight */
    bool has_unweighted;
    bool has_reversed; /* OSMnx: each direction has its own edge, so oneway is ignored */
    bool undirected;   /* the type of the edges is Undirected */
    uint64_t both_ways;
    uint64_t back_ways;
    uint64_t no_ways;
    struct column list[COLUMN_LIMIT];
    char values[ROLE_COUNT][COLUMN_VALUE_SIZE]; /* values of the current record, in a document */
};

void columns_init(struct columns *columns, struct reader *reader);

/* ---- Tables: all columns are known from the first lines ---- */

/* Whether the row has known names for source and target, or the names that the parameters give. */
bool columns_know_header(const struct columns *columns, const struct table_row *row);
/* Whether the column holds sources or targets: by the parameters, else one of the first two. */
bool columns_is_end(const struct columns *columns, const struct table_row *row, size_t index);
/* Returns whether the row has known names for source and target and a third field that names a
 * weight: no number, null, nothing or name of edge numbers; returns their columns. */
bool columns_find_known(const struct table_row *header, size_t ret_columns[3]);
/* Returns the column of the name, compared without case, blanks, '_' and '-'; or NO_COLUMN. */
size_t columns_find_name(const struct table_row *row, const char *name);
/* Returns whether the header has columns of this kind; returns them. */
enum places { PLACES_DEGREES, PLACES_PLANE, PLACES_NODES };
bool columns_find_places(const struct table_row *header, enum places kind, size_t ret_columns[2]);
/* Whether the header belongs to a table of places or nodes. first: the row after the header. */
bool columns_are_places(const struct table_row *header, const struct table_row *first);
/* Whether the field begins like a number: a digit, or a sign or currency mark before a digit. */
bool columns_look_numeric(struct field field);
bool columns_is_number(const struct columns *columns, struct field field);
/* Chooses the roles of the columns. header may be NULL; first is the first row of data. has_time:
 * columns 3 and 4 are weight and time. STATUS_BAD_PARAMETER when a parameter names no column;
 * STATUS_BAD_GRAPH when the ends or the weight are ambiguous. */
MUST_CHECK enum status columns_choose(struct columns *columns, const struct table_row *header,
                                      const struct table_row *first, bool has_time,
                                      struct problem *reterr);
/* Reads the values of a row into the record, which is zero before the first row. */
MUST_CHECK enum status columns_read_row(struct columns *columns, const struct table_row *row,
                                        struct edge_record *record, struct problem *reterr);

/* ---- Documents: fields come with their names ---- */

/* Returns the column of the name, which may be new. STATUS_BAD_GRAPH beyond the limit. */
MUST_CHECK enum status columns_find(struct columns *columns, const char *name, size_t size,
                                    bool is_nested, size_t *ret_index, struct problem *reterr);
/* Accepts the value of a field, whose line is set, and copies it into the record if it has a role.
 * STATUS_BAD_GRAPH when the record already has the field. */
MUST_CHECK enum status columns_accept_value(struct columns *columns, size_t index,
                                            struct field value, struct edge_record *record,
                                            struct problem *reterr);

/* Excludes the column from being the weight, even if its values look like numbers. */
void columns_bar_numbers(struct columns *columns, size_t index);

/* ---- Both ---- */

/* Adds the edge of the record in its direction, in the reverse direction, in both, or in neither.
 * is_undirected: in both, whatever its columns say. */
MUST_CHECK enum status columns_add_edge(struct columns *columns, const struct edge_record *record,
                                        bool is_undirected, struct problem *reterr);
/* Ends the edges: refuses unused columns that look like weights, warns about other unused columns,
 * and notes the name of the weight. */
MUST_CHECK enum status columns_finish(struct columns *columns, struct problem *reterr);
