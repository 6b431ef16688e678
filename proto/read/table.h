/* A square table of numbers: how an upload is told to be one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the first bytes are those of a matrix, and of no list of edges. As many bytes as
 * reader_sniff wants to see, or a whole body. */
bool table_sniff(const char *bytes, size_t size);
