/* Elements of matrices, numbers and vertices as text. */
#pragma once

#include "proto/matrix.h"
#include "proto/text.h"
#include "proto/vertex_names.h"

/* One element as JSON: an integer, the shortest decimal, or null when unreachable. */
void writer_append_distance(struct text *text, enum kind kind, const void *element);
/* A finite number as JSON: the shortest decimal, of a float when it is single. */
void writer_append_real(struct text *text, double value, bool single);
/* A vertex as JSON: a number when the names are numeric, else a string. */
void writer_append_vertex(struct text *text, const struct vertex_names *names, uint32_t row);
/* A vertex as a field of CSV. */
void writer_append_field(struct text *text, const struct vertex_names *names, uint32_t row);
