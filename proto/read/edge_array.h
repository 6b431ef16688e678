/* Memory of arrays that have an element for each edge: large ones in large pages, which are made
 * and reached sooner. Freed with free(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Moves *array_of, a pointer to elements of `size` bytes or NULL, to room for `count` > 0 of them.
 * False without memory: the array stays as it was. */
bool edge_array_resize(void *array_of, uint64_t count, size_t size);
