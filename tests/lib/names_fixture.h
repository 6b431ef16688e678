/* Vertex names from strings, for tests. */
#pragma once

#include "proto/read/name_table.h"
#include "proto/vertex_names.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct vertex_names *names_of(const char *const *strings, uint32_t count, bool numeric);
