/* The meaning of the fields of an edge, in every format whose fields have names or positions: edge
 * lists, JSON, JGF and GraphML. A record has fields, and each field has a role. Roles come from the
 * parameters (weight=, source_column=, target_column=), from known names, or from position. A
 * warning names unused fields; contradictory fields are refused with the parameter that resolves
 * the conflict. A struct columns is part of a reader and used by its thread. */
#pragma once

#include "proto/read/fields.h"
#include "proto/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of distinct edge attributes in one document. */
#define COLUMN_LIMIT 256
#define COLUMN_NAME_SIZE 64
/* Maximum length of a value in a document, including NUL. */
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

/* The kind of values found in a column that has no role. */
enum column_look { LOOK_EMPTY, LOOK_WORDS, LOOK_NUMBER, LOOK_UNREADABLE_NUMBER };

struct column {
    char name[COLUMN_NAME_SIZE]; /* truncated name; the column number if there is no header */
    enum column_role role;
    enum column_look look;
    bool is_nested; /* belongs to a nested object, to which weight= does not apply */
    bool is_id;
    bool is_text;       /* the first number is a JSON string, so the column is not the weight */
    bool is_plural;     /* whether the name is a known name of weights plus a letter: "weights" */
    size_t rank;        /* index in the list of known names of weights, or NO_COLUMN */
    struct field first; /* first number in the column; its bytes are in sample */
    char sample[32];
};

/* The values of one edge, by role. A value whose bytes are NULL is missing. */
struct edge_record {
    uint32_t ends[2];
    struct field place; /* position where the record begins */
    struct field values[ROLE_COUNT];
    size_t from[ROLE_COUNT]; /* column of each value, in a document */
};

/* How the columns of source and target were chosen: by known names, parameters or position. */
enum column_ends { ENDS_KNOWN, ENDS_BY_PARAMETER, ENDS_BY_POSITION };

struct columns {
    struct reader *reader; /* borrowed, for its options, warnings and edges */
    enum column_ends ends;
    bool is_unweighted; /* weight=none was given: every edge has weight 1 */
    bool has_header;
    size_t count;
    size_t last; /* last column found; the next search starts there, because records are alike */
    size_t roles[ROLE_COUNT];   /* column of each role, or NO_COLUMN */
    enum column_role last_role; /* highest role that a column has */
    size_t rival;               /* another column that may be the weight, or NO_COLUMN */
    struct field unweighted;    /* position of the first edge without a weight */
    bool has_unweighted;
    bool has_reversed; /* OSMnx lists each direction as an edge, so the column oneway is ignored */
    bool undirected;   /* whether the column type says Undirected */
    uint64_t both_ways;
    uint64_t back_ways;
    uint64_t no_ways;
    struct column list[COLUMN_LIMIT];
    char values[ROLE_COUNT][COLUMN_VALUE_SIZE]; /* in a document: values of the current record */
};

void columns_init(struct columns *columns, struct reader *reader);

/* Returns whether the row has names of the source and target columns, known or from parameters. */
bool columns_know_header(const struct columns *columns, const struct table_row *row);
/* Returns whether the column contains sources or targets: it is named by a parameter or, without
 * parameters, is one of the first two. */
bool columns_is_end(const struct columns *columns, const struct table_row *row, size_t index);
/* Returns whether the row has known names for source and target, and a third field that can name
 * a weight: neither empty nor null, and neither a number nor a known name for edge IDs.
 * ret_columns: the indexes of source, target and weight. */
bool columns_find_known(const struct table_row *header, size_t ret_columns[3]);
/* Returns the column with this name, or NO_COLUMN; ignores case, spaces, '_' and '-'. */
size_t columns_find_name(const struct table_row *row, const char *name);
/* Returns whether the header has the two columns of this kind of table, and their indexes. */
enum places { PLACES_DEGREES, PLACES_PLANE, PLACES_NODES };
bool columns_find_places(const struct table_row *header, enum places kind, size_t ret_columns[2]);
/* Returns whether the header belongs to a table of places or nodes. first: the row after it. */
bool columns_are_places(const struct table_row *header, const struct table_row *first);
/* Returns whether the field begins with a digit, or with a sign or currency mark and a digit. */
bool columns_look_numeric(struct field field);
/* Chooses the roles of the columns. header may be NULL; first is the first row of data. has_time:
 * columns 3 and 4 are weight and time. STATUS_BAD_PARAMETER if a parameter names a column that does
 * not exist; STATUS_BAD_GRAPH if the columns of the endpoints or the weight are ambiguous. */
MUST_CHECK enum status columns_choose(struct columns *columns, const struct table_row *header,
                                      const struct table_row *first, bool has_time,
                                      struct problem *reterr);
/* Reads the values of a row into the record, which must be zeroed before the first row. */
MUST_CHECK enum status columns_read_row(struct columns *columns, const struct table_row *row,
                                        struct edge_record *record, struct problem *reterr);

/* Returns the column with this name, adding a new column. STATUS_BAD_GRAPH beyond COLUMN_LIMIT. */
MUST_CHECK enum status columns_find(struct columns *columns, struct field name, bool is_nested,
                                    size_t *ret_index, struct problem *reterr);
/* Accepts the value of a field, with its line number. Copies the value into the record if its
 * column has a role. STATUS_BAD_GRAPH if the record already has a value of this column. */
MUST_CHECK enum status columns_accept_value(struct columns *columns, size_t index,
                                            struct field value, struct edge_record *record,
                                            struct problem *reterr);

/* Marks a column as not the weight, even if its values look like numbers. */
void columns_bar_numbers(struct columns *columns, size_t index);

/* Adds the record as an edge in its own direction, the reverse direction, both or neither, as its
 * columns say. is_undirected: adds both directions, whatever the columns say. */
MUST_CHECK enum status columns_add_edge(struct columns *columns, const struct edge_record *record,
                                        bool is_undirected, struct problem *reterr);
/* Called after the last edge: refuses unused columns that look like weights, warns about other
 * unused columns, and records the name of the weight. */
MUST_CHECK enum status columns_finish(struct columns *columns, struct problem *reterr);
