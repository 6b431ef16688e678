#include "proto/read/name_table.h"

#include "proto/number.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 256

struct name_table {
    bool textual;
    uint32_t count;
    uint32_t capacity;
    int64_t *numbers; /* while not textual */
    uint64_t *offset; /* when textual: capacity + 1 */
    char *text;
    size_t text_capacity;
    uint32_t *slots; /* row + 1, 0 = free; at most half are taken */
    uint64_t slot_mask;
    uint64_t seed;
};

static uint64_t hash_number(const struct name_table *table, int64_t number)
{
    return XXH3_64bits_withSeed(&number, sizeof(number), table->seed);
}

static uint64_t hash_text(const struct name_table *table, const char *name, size_t size)
{
    return XXH3_64bits_withSeed(name, size, table->seed);
}

enum status name_table_create(struct name_table **ret_table)
{
    struct name_table *table = calloc(1, sizeof(*table));

    if (table == NULL) {
        return STATUS_NO_MEMORY;
    }
    table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
    if (table->slots == NULL) {
        free(table);
        return STATUS_NO_MEMORY;
    }
    table->slot_mask = FIRST_SLOTS - 1;
    /* Without entropy at early boot the address has to do. */
    if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) != sizeof(table->seed)) {
        table->seed = (uint64_t)(uintptr_t)table;
    }
    *ret_table = table;
    return STATUS_OK;
}

void name_table_destroy(struct name_table *table)
{
    if (table == NULL) {
        return;
    }
    free(table->numbers);
    free(table->offset);
    free(table->text);
    free(table->slots);
    free(table);
}

uint64_t name_table_memory(const struct name_table *table)
{
    return (uint64_t)table->capacity * sizeof(*table->numbers) + table->text_capacity +
           (table->slot_mask + 1) * sizeof(*table->slots);
}

uint32_t name_table_count(const struct name_table *table)
{
    return table->count;
}

bool name_table_numbers(const struct name_table *table, const int64_t **ret_numbers)
{
    if (table->textual) {
        return false;
    }
    if (ret_numbers != NULL) {
        *ret_numbers = table->numbers;
    }
    return true;
}

const char *name_table_get(const struct name_table *table, uint32_t row,
                           char buffer[NAME_NUMBER_BUFFER], size_t *ret_size)
{
    char digits[NUMBER_PRINT_SIZE];

    CHECK(row < table->count);
    if (table->textual) {
        *ret_size = (size_t)(table->offset[row + 1] - table->offset[row]);
        return table->text + table->offset[row];
    }
    *ret_size = number_print_integer(table->numbers[row], digits);
    memcpy(buffer, digits, *ret_size);
    return buffer;
}

static bool row_is_text(const struct name_table *table, uint32_t row, const char *name, size_t size)
{
    return table->offset[row + 1] - table->offset[row] == size &&
           memcmp(table->text + table->offset[row], name, size) == 0;
}

/* The slot that holds the number, or the free one where it belongs. */
static uint64_t number_slot(const struct name_table *table, int64_t number)
{
    uint64_t slot = hash_number(table, number) & table->slot_mask;

    while (table->slots[slot] != 0 && table->numbers[table->slots[slot] - 1] != number) {
        slot = (slot + 1) & table->slot_mask;
    }
    return slot;
}

static uint64_t text_slot(const struct name_table *table, const char *name, size_t size)
{
    uint64_t slot = hash_text(table, name, size) & table->slot_mask;

    while (table->slots[slot] != 0 && !row_is_text(table, table->slots[slot] - 1, name, size)) {
        slot = (slot + 1) & table->slot_mask;
    }
    return slot;
}

static void insert_all(struct name_table *table)
{
    for (uint32_t row = 0; row < table->count; row++) {
        uint64_t slot = table->textual
                            ? text_slot(table, table->text + table->offset[row],
                                        (size_t)(table->offset[row + 1] - table->offset[row]))
                            : number_slot(table, table->numbers[row]);

        table->slots[slot] = row + 1;
    }
}

static enum status grow_slots(struct name_table *table)
{
    uint64_t count = (table->slot_mask + 1) * 2;
    uint32_t *slots = calloc(count, sizeof(*slots));

    if (slots == NULL) {
        return STATUS_NO_MEMORY;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = count - 1;
    insert_all(table);
    return STATUS_OK;
}

/* Room for one more row, so that half of the slots stay free. */
static enum status grow(struct name_table *table)
{
    uint64_t capacity = table->capacity == 0 ? 128 : (uint64_t)table->capacity * 2;

    if (table->count == UINT32_MAX - 1) {
        return STATUS_TOO_LARGE;
    }
    if (table->count == table->capacity) {
        if (capacity >= UINT32_MAX) {
            capacity = UINT32_MAX - 1;
        }
        if (table->textual) {
            uint64_t *offset = reallocarray(table->offset, capacity + 1, sizeof(*offset));

            if (offset == NULL) {
                return STATUS_NO_MEMORY;
            }
            table->offset = offset;
        } else {
            int64_t *numbers = reallocarray(table->numbers, capacity, sizeof(*numbers));

            if (numbers == NULL) {
                return STATUS_NO_MEMORY;
            }
            table->numbers = numbers;
        }
        table->capacity = (uint32_t)capacity;
    }
    if ((uint64_t)table->count * 2 >= table->slot_mask) {
        return grow_slots(table);
    }
    return STATUS_OK;
}

static enum status reserve_text(struct name_table *table, uint64_t used, size_t size)
{
    size_t needed;
    char *text;

    if (__builtin_add_overflow(used, size, &needed) || needed > SIZE_MAX / 2) {
        return STATUS_NO_MEMORY;
    }
    if (needed <= table->text_capacity) {
        return STATUS_OK;
    }
    text = realloc(table->text, needed * 2);
    if (text == NULL) {
        return STATUS_NO_MEMORY;
    }
    table->text = text;
    table->text_capacity = needed * 2;
    return STATUS_OK;
}

/* The numbers so far become strings; half-way failures leave the table fit for destroy only. */
static enum status become_textual(struct name_table *table)
{
    uint64_t *offset = calloc((size_t)table->capacity + 1, sizeof(*offset));
    char digits[NUMBER_PRINT_SIZE];

    if (offset == NULL) {
        return STATUS_NO_MEMORY;
    }
    free(table->offset);
    table->offset = offset;
    /* Empty names need bytes to point at, too. */
    if (reserve_text(table, 0, 1) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t row = 0; row < table->count; row++) {
        size_t size = number_print_integer(table->numbers[row], digits);

        if (reserve_text(table, offset[row], size) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        memcpy(table->text + offset[row], digits, size);
        offset[row + 1] = offset[row] + size;
    }
    table->textual = true;
    free(table->numbers);
    table->numbers = NULL;
    memset(table->slots, 0, (table->slot_mask + 1) * sizeof(*table->slots));
    insert_all(table);
    return STATUS_OK;
}

static enum status intern_number(struct name_table *table, int64_t number, uint32_t *ret_row)
{
    uint64_t slot = number_slot(table, number);

    if (table->slots[slot] == 0) {
        STATUS_TRY(grow(table));
        slot = number_slot(table, number);
        table->numbers[table->count++] = number;
        table->slots[slot] = table->count;
    }
    *ret_row = table->slots[slot] - 1;
    return STATUS_OK;
}

static enum status intern_text(struct name_table *table, const char *name, size_t size,
                               uint32_t *ret_row)
{
    uint64_t slot = text_slot(table, name, size);

    if (table->slots[slot] == 0) {
        STATUS_TRY(grow(table));
        STATUS_TRY(reserve_text(table, table->offset[table->count], size));
        slot = text_slot(table, name, size);
        if (size > 0) {
            memcpy(table->text + table->offset[table->count], name, size);
        }
        table->offset[table->count + 1] = table->offset[table->count] + size;
        table->count++;
        table->slots[slot] = table->count;
    }
    *ret_row = table->slots[slot] - 1;
    return STATUS_OK;
}

enum status name_table_intern(struct name_table *table, const char *name, size_t size,
                              uint32_t *ret_row)
{
    int64_t number;

    if (!table->textual) {
        if (number_is_canonical_integer(name, size, &number)) {
            return intern_number(table, number, ret_row);
        }
        if (become_textual(table) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
    }
    return intern_text(table, name, size, ret_row);
}

bool name_table_find(const struct name_table *table, const char *name, size_t size,
                     uint32_t *ret_row)
{
    uint64_t slot;
    int64_t number;

    if (table->textual) {
        slot = text_slot(table, name, size);
    } else if (number_is_canonical_integer(name, size, &number)) {
        slot = number_slot(table, number);
    } else {
        return false;
    }
    if (table->slots[slot] == 0) {
        return false;
    }
    *ret_row = table->slots[slot] - 1;
    return true;
}

struct numbered {
    int64_t number;
    uint32_t row;
};

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = ((const struct numbered *)a)->number;
    int64_t y = ((const struct numbered *)b)->number;

    return (x > y) - (x < y);
}

enum status name_table_order(const struct name_table *table, uint32_t *ret_order,
                             uint32_t *ret_place)
{
    const uint32_t count = table->count;
    struct numbered *sorted = calloc((size_t)count + 1, sizeof(*sorted));

    CHECK(!table->textual);
    if (sorted == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t row = 0; row < count; row++) {
        sorted[row] = (struct numbered){table->numbers[row], row};
    }
    qsort(sorted, count, sizeof(*sorted), compare_numbers);
    for (uint32_t row = 0; row < count; row++) {
        ret_order[row] = sorted[row].row;
        ret_place[sorted[row].row] = row;
    }
    free(sorted);
    return STATUS_OK;
}
