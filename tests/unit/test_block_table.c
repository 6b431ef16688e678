#include "server/store/block_table.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK BLOCK_TABLE_BLOCK_SIZE
/* Three blocks, of which the last has one byte. */
#define COVERED (2 * BLOCK + 1)

static const char name[] = "file";

static int open_file(const struct fixture *fixture)
{
    int descriptor = openat(fixture->folder, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(descriptor >= 0);
    return descriptor;
}

/* The file with its checksums, whose checksum is returned. */
static uint64_t write_file(int descriptor)
{
    struct block_table *table;
    uint64_t checksum;
    assert_int_equal(pwrite(descriptor, "x", 1, COVERED - 1), 1);
    assert_int_equal(block_table_create(COVERED, &table), STATUS_OK);
    assert_true(block_table_is_sound(table, 0, COVERED));
    assert_int_equal(block_table_write(table, descriptor), STATUS_OK);
    checksum = block_table_checksum(table);
    block_table_destroy(table);
    return checksum;
}

static struct block_table *read_table(int descriptor, uint64_t checksum)
{
    struct block_table *table;
    assert_int_equal(block_table_create(COVERED, &table), STATUS_OK);
    assert_int_equal(block_table_read(table, descriptor, checksum), STATUS_OK);
    return table;
}

static void there_is_a_checksum_for_every_block_begun(void **state)
{
    (void)state;
    assert_int_equal(block_table_size(0), 0);
    assert_int_equal(block_table_size(1), 8);
    assert_int_equal(block_table_size(BLOCK), 8);
    assert_int_equal(block_table_size(BLOCK + 1), 16);
    assert_int_equal(block_table_size(COVERED), 24);
}

static void only_blocks_that_were_read_are_sound(void **state)
{
    const struct fixture *fixture = *state;
    int file = open_file(fixture);
    struct block_table *table = read_table(file, write_file(file));
    assert_false(block_table_is_sound(table, 0, 1));
    assert_true(block_table_is_sound(table, 5, 0));
    assert_int_equal(block_table_verify(table, file, BLOCK - 1, 1), STATUS_OK);
    assert_true(block_table_is_sound(table, 0, BLOCK));
    assert_false(block_table_is_sound(table, 0, BLOCK + 1));
    assert_int_equal(block_table_verify(table, file, 0, COVERED), STATUS_OK);
    assert_true(block_table_is_sound(table, 0, COVERED));
    block_table_destroy(table);
    close(file);
}

static void a_flipped_byte_is_found_in_its_block_alone(void **state)
{
    const struct fixture *fixture = *state;
    const long places[] = {0, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK};
    int file = open_file(fixture);
    uint64_t checksum = write_file(file);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const uint64_t bad = (uint64_t)places[i] / BLOCK;
        struct block_table *table = read_table(file, checksum);
        fixture_flip(fixture->folder, name, places[i]);
        for (uint64_t block = 0; block < 3; block++) {
            assert_int_equal(block_table_verify(table, file, block * BLOCK, 1),
                             block == bad ? STATUS_CORRUPT : STATUS_OK);
        }
        assert_false(block_table_is_sound(table, 0, COVERED));
        fixture_flip(fixture->folder, name, places[i]);
        assert_int_equal(block_table_verify(table, file, 0, COVERED), STATUS_OK);
        block_table_destroy(table);
    }
    close(file);
}

static void flipped_checksums_are_refused(void **state)
{
    const struct fixture *fixture = *state;
    int file = open_file(fixture);
    uint64_t checksum = write_file(file);
    struct block_table *table = read_table(file, checksum);
    assert_int_equal(block_table_read(table, file, checksum ^ 1), STATUS_CORRUPT);
    fixture_flip(fixture->folder, name, COVERED + 3);
    assert_int_equal(block_table_read(table, file, checksum), STATUS_CORRUPT);
    assert_int_equal(ftruncate(file, COVERED + 23), 0);
    assert_int_equal(block_table_read(table, file, checksum), STATUS_CORRUPT);
    block_table_destroy(table);
    close(file);
}

static void blocks_read_elsewhere_are_compared(void **state)
{
    const struct fixture *fixture = *state;
    static unsigned char bytes[BLOCK];
    int file = open_file(fixture);
    struct block_table *table = read_table(file, write_file(file));
    assert_int_equal(block_table_block(table, 0), BLOCK);
    assert_int_equal(block_table_block(table, 2), 1);
    assert_int_equal(block_table_block(table, 3), 0);
    assert_true(block_table_matches(table, 1, bytes));
    assert_false(block_table_matches(table, 2, bytes));
    bytes[BLOCK - 1] = 1;
    assert_false(block_table_matches(table, 1, bytes));
    bytes[0] = 'x';
    assert_true(block_table_matches(table, 2, bytes));
    block_table_destroy(table);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_a_checksum_for_every_block_begun),
        FIXTURE_TEST(only_blocks_that_were_read_are_sound),
        FIXTURE_TEST(a_flipped_byte_is_found_in_its_block_alone),
        FIXTURE_TEST(flipped_checksums_are_refused),
        FIXTURE_TEST(blocks_read_elsewhere_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
