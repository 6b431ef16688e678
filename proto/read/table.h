/* A square table of numbers: how an upload is told to be one. */
#pragma once

#include <stddef.h>

/* TABLE_UNCLEAR: it may be a list of edges as well. */
enum table_verdict { TABLE_NO, TABLE_YES, TABLE_UNCLEAR };

/* Whether the first bytes are those of a matrix. As many bytes as sniff_format wants to see, or a
 * whole body. */
enum table_verdict table_sniff(const char *bytes, size_t size);
