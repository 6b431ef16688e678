#include "proto/write/cells.h"

#include "proto/number.h"
#include "proto/status.h"

#include <math.h>
#include <string.h>

static char *print_word(const char *word, char *to)
{
    const size_t size = strlen(word);

    memcpy(to, word, size);
    return to + size;
}

static char *print_i4(const void *row, uint32_t column, const char *unreachable, char *to)
{
    const int32_t value = ((const int32_t *)row)[column];

    return value == UNREACHABLE_I4 ? print_word(unreachable, to)
                                   : to + number_print_integer(value, to);
}

static char *print_u2(const void *row, uint32_t column, const char *unreachable, char *to)
{
    const uint16_t value = ((const uint16_t *)row)[column];

    return value == UNREACHABLE_U2 ? print_word(unreachable, to)
                                   : to + number_print_integer(value, to);
}

static char *print_f4(const void *row, uint32_t column, const char *unreachable, char *to)
{
    const float value = ((const float *)row)[column];

    return isfinite(value) ? to + number_print_real((double)value, true, to)
                           : print_word(unreachable, to);
}

static char *print_f8(const void *row, uint32_t column, const char *unreachable, char *to)
{
    const double value = ((const double *)row)[column];

    return isfinite(value) ? to + number_print_real(value, false, to) : print_word(unreachable, to);
}

/* Inlined with each printer. */
static inline char *print_run(const void *row, const uint32_t *columns, uint32_t first,
                              uint32_t count, const struct cell_style *style, char *to,
                              char *(*print)(const void *row, uint32_t column,
                                             const char *unreachable, char *to))
{
    for (uint32_t i = 0; i < count; i++) {
        to = print(row, columns != NULL ? columns[i] : first + i, style->unreachable, to);
        *to++ = style->separator;
    }
    return count > 0 ? to - 1 : to;
}

char *cells_print(enum kind kind, const void *row, const uint32_t *columns, uint32_t first,
                  uint32_t count, const struct cell_style *style, char *to)
{
    CHECK(kind != KIND_AUTO && kind != KIND_COUNT);
    switch (kind) {
    case KIND_I4:
        return print_run(row, columns, first, count, style, to, print_i4);
    case KIND_U2:
        return print_run(row, columns, first, count, style, to, print_u2);
    case KIND_F4:
        return print_run(row, columns, first, count, style, to, print_f4);
    case KIND_F8:
        return print_run(row, columns, first, count, style, to, print_f8);
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
    return to;
}
