/* The traceparent header of W3C Trace Context (https://www.w3.org/TR/trace-context/, section 3.2).
 * Pure. */
#pragma once

#include "proto/job_document.h"

#include <stdbool.h>

/* False for what is no traceparent, which is then ignored, as the standard has it. One of a later
 * version is read as far as it is like version 00, and printed as that. */
bool trace_read(const char *header, char ret_traceparent[TRACEPARENT_SIZE]);
