/* The value of a Host header: RFC 9110 section 7.2, RFC 3986 section 3.2. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A name or an address, and a port if there is one; empty is one too, as the RFC has it. */
bool guard_host_is_valid(const char *value, size_t size);
