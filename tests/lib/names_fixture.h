/* Makes vertex names from strings, for tests. */
#pragma once

#include "proto/name_table.h"
#include "proto/vertex_names.h"
#include "tests/lib/test.h"

struct vertex_names *names_of(const char *const *strings, uint32_t count, bool numeric);
