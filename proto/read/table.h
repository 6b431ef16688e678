/* Detects a square table of numbers, the format `matrix`. Pure functions for any thread. */
#pragma once

#include <stddef.h>

/* TABLE_UNCLEAR: the bytes may also be a list of edges. */
enum table_verdict { TABLE_NO, TABLE_YES, TABLE_UNCLEAR };

/* Returns whether the first READER_SNIFF_SIZE bytes, or a shorter whole body, are a matrix. */
enum table_verdict table_sniff(const char *bytes, size_t size);
