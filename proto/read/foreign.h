/* Formats of graphs that are not read, told by name with a way to convert them. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* STATUS_BAD_GRAPH, with the name of the format and a line that converts it in the hint, when the
 * first bytes of a file are of a format that is known here and not read; else STATUS_OK. */
MUST_CHECK enum status foreign_refuse(const char *bytes, size_t size, struct problem *reterr);
