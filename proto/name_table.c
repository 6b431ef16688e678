#include "proto/name_table.h"

#include "proto/number.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 256
#define SHORT_SIZE sizeof(uint64_t)

struct name {
    uint64_t head; /* the bytes of a short name, or the offset of a long name in text */
    uint32_t size;
    uint32_t hash;
};

struct name_table {
    bool is_numeric;
    uint32_t count;
    uint32_t capacity;
    struct name *names; /* one entry per row */
    char *text;         /* bytes of the long names */
    size_t text_size;
    size_t text_capacity;
    uint32_t *slots; /* row + 1, or 0 = free; at most half of the slots are in use */
    uint64_t slot_mask;
    uint64_t seed;
    uint32_t *direct; /* row + 1 of each small integer as a name; 0 = look in slots */
    uint32_t direct_size;
};

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
    table->is_numeric = true;
    table->slot_mask = FIRST_SLOTS - 1;
    /* At early boot the kernel may have no entropy yet. The table's address is then the seed. */
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
    free(table->names);
    free(table->text);
    free(table->slots);
    free(table->direct);
    free(table);
}

uint64_t name_table_memory(const struct name_table *table)
{
    return 2 * ((uint64_t)table->capacity * sizeof(*table->names) + table->text_capacity +
                (table->slot_mask + 1) * sizeof(*table->slots) +
                (uint64_t)table->direct_size * sizeof(*table->direct) +
                (uint64_t)table->count * sizeof(uint32_t));
}

uint32_t name_table_count(const struct name_table *table)
{
    return table->count;
}

bool name_table_is_numeric(const struct name_table *table)
{
    return table->is_numeric;
}

const char *name_table_get(const struct name_table *table, uint32_t row, size_t *ret_size)
{
    CHECK(row < table->count);
    const struct name *name = &table->names[row];

    *ret_size = name->size;
    return name->size <= SHORT_SIZE ? (const char *)&name->head : table->text + name->head;
}

int64_t name_table_number(const struct name_table *table, uint32_t row)
{
    int64_t number = 0;
    size_t size;
    const char *name = name_table_get(table, row, &size);

    CHECK(number_is_canonical_integer(name, size, &number));
    return number;
}

/* Makes an entry for a name. A long name has no offset yet, because it is not in text yet. */
static struct name make_name(const struct name_table *table, const char *bytes, size_t size)
{
    struct name name = {.size = (uint32_t)size};

    if (size > SHORT_SIZE) {
        name.hash = (uint32_t)XXH3_64bits_withSeed(bytes, size, table->seed);
        return name;
    }
    for (size_t i = 0; i < size; i++) {
        ((char *)&name.head)[i] = bytes[i];
    }
    name.hash = (uint32_t)XXH3_64bits_withSeed(&name.head, sizeof(name.head), table->seed);
    return name;
}

/* Returns the slot of the name, or the free slot where it belongs. */
static uint64_t find_slot(const struct name_table *table, struct name name, const char *bytes)
{
    uint64_t slot = name.hash & table->slot_mask;

    for (; table->slots[slot] != 0; slot = (slot + 1) & table->slot_mask) {
        const struct name *other = &table->names[table->slots[slot] - 1];

        if (other->hash == name.hash && other->size == name.size &&
            (name.size <= SHORT_SIZE ? other->head == name.head
                                     : memcmp(table->text + other->head, bytes, name.size) == 0)) {
            break;
        }
    }
    return slot;
}

static enum status grow_slots(struct name_table *table)
{
    const uint64_t mask = table->slot_mask * 2 + 1;
    uint32_t *slots = calloc(mask + 1, sizeof(*slots));

    if (slots == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t row = 0; row < table->count; row++) {
        uint64_t slot = table->names[row].hash & mask;

        while (slots[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        slots[slot] = row + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = mask;
    return STATUS_OK;
}

/* Makes room for one more row, keeping half of the slots free, and for text_size bytes of text. */
static enum status grow_table(struct name_table *table, size_t text_size)
{
    if (table->count == UINT32_MAX - 1) {
        return STATUS_TOO_LARGE;
    }
    if (table->count == table->capacity) {
        const uint64_t capacity = table->capacity == 0 ? 128 : (uint64_t)table->capacity * 2;
        struct name *names = reallocarray(table->names, capacity, sizeof(*names));

        if (names == NULL) {
            return STATUS_NO_MEMORY;
        }
        table->names = names;
        table->capacity = capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;
    }
    if (text_size > table->text_capacity - table->text_size) {
        const size_t capacity = (table->text_size + text_size) * 2;
        char *text = realloc(table->text, capacity);

        if (text == NULL) {
            return STATUS_NO_MEMORY;
        }
        table->text = text;
        table->text_capacity = capacity;
    }
    return (uint64_t)table->count * 2 >= table->slot_mask ? grow_slots(table) : STATUS_OK;
}

static enum status intern_name(struct name_table *table, const char *bytes, size_t size,
                               uint32_t *ret_row)
{
    struct name name = make_name(table, bytes, size);
    uint64_t slot = find_slot(table, name, bytes);

    if (table->slots[slot] == 0) {
        const size_t text_size = size > SHORT_SIZE ? size : 0;

        STATUS_TRY(grow_table(table, text_size));
        if (text_size > 0) {
            name.head = table->text_size;
            memcpy(table->text + table->text_size, bytes, text_size);
            table->text_size += text_size;
        }
        table->is_numeric =
            table->is_numeric && number_is_canonical_integer(bytes, size, &(int64_t){0});
        slot = find_slot(table, name, bytes);
        table->names[table->count++] = name;
        table->slots[slot] = table->count;
    }
    *ret_row = table->slots[slot] - 1;
    return STATUS_OK;
}

/* Parses a canonical integer of at most 8 digits; returns UINT32_MAX for any other name. */
static uint32_t small_number(const char *bytes, size_t size)
{
    int64_t number = -1;

    return size <= 8 && number_is_canonical_integer(bytes, size, &number) && number >= 0
               ? (uint32_t)number
               : UINT32_MAX;
}

/* Records the row of a small number in `direct`, unless most of `direct` would be empty. */
static void remember_number(struct name_table *table, uint32_t number, uint32_t row)
{
    if (number != UINT32_MAX && number >= table->direct_size &&
        number < 2 * (uint64_t)table->count + FIRST_SLOTS) {
        const uint32_t size = 2 * number + FIRST_SLOTS;
        uint32_t *direct = reallocarray(table->direct, size, sizeof(*direct));

        if (direct != NULL) {
            memset(direct + table->direct_size, 0, (size - table->direct_size) * sizeof(*direct));
            table->direct = direct;
            table->direct_size = size;
        }
    }
    if (number < table->direct_size) {
        table->direct[number] = row + 1;
    }
}

/* Most names in large files are small integers that occurred before. A lookup in `direct`, which
 * fits in a cache, takes a third of the time of a lookup in `slots`. */
enum status name_table_intern(struct name_table *table, const char *bytes, size_t size,
                              uint32_t *ret_row)
{
    const uint32_t number = small_number(bytes, size);
    const uint32_t known = name_table_find_integer(table, number);

    if (known != UINT32_MAX) {
        *ret_row = known;
        return STATUS_OK;
    }
    STATUS_TRY(intern_name(table, bytes, size, ret_row));
    remember_number(table, number, *ret_row);
    return STATUS_OK;
}

uint32_t name_table_find_integer(const struct name_table *table, uint32_t integer)
{
    return integer < table->direct_size ? table->direct[integer] - 1 : UINT32_MAX;
}

bool name_table_find(const struct name_table *table, const char *bytes, size_t size,
                     uint32_t *ret_row)
{
    const uint64_t slot = find_slot(table, make_name(table, bytes, size), bytes);

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

enum status name_table_order(const struct name_table *table, uint32_t *ret_row_of)
{
    struct numbered *sorted = calloc((size_t)table->count + 1, sizeof(*sorted));

    if (sorted == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t row = 0; row < table->count; row++) {
        sorted[row] = (struct numbered){name_table_number(table, row), row};
    }
    qsort(sorted, table->count, sizeof(*sorted), compare_numbers);
    for (uint32_t row = 0; row < table->count; row++) {
        ret_row_of[sorted[row].row] = row;
    }
    free(sorted);
    return STATUS_OK;
}

enum status name_table_permute(struct name_table *table, const uint32_t *row_of)
{
    struct name *names = calloc((size_t)table->capacity + 1, sizeof(*names));

    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t row = 0; row < table->count; row++) {
        names[row_of[row]] = table->names[row];
    }
    free(table->names);
    table->names = names;
    free(table->direct);
    table->direct = NULL;
    table->direct_size = 0;
    for (uint64_t slot = 0; slot <= table->slot_mask; slot++) {
        if (table->slots[slot] != 0) {
            table->slots[slot] = row_of[table->slots[slot] - 1] + 1;
        }
    }
    return STATUS_OK;
}
