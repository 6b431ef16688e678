/* cmocka, with what it wants included before it. Included by every program of unit tests. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A test function gets a state whether it needs one or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
