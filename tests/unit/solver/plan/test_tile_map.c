#include "server/solver/plan/tile_map.h"
#include "tests/lib/range_fixture.h"

static struct tile_map make(uint32_t tile_count)
{
    struct tile_map map = {0};
    assert_int_equal(tile_map_init(&map, tile_count), STATUS_OK);
    assert_int_equal(map.tile_count, tile_count);
    return map;
}

TEST(a_new_map_contains_no_tiles)
{
    struct tile_map map = make(65);
    for (uint32_t i = 0; i < 65; ++i) {
        for (uint32_t j = 0; j < 65; ++j) {
            assert_false(tile_map_has(&map, i, j));
        }
    }
    tile_map_finish(&map);
    tile_map_finish(&map);
}

TEST(an_added_edge_adds_only_its_own_tile)
{
    struct tile_map map = make(70);
    tile_map_add(&map, 1, 64);
    for (uint32_t i = 0; i < 70; ++i) {
        for (uint32_t j = 0; j < 70; ++j) {
            assert_int_equal(tile_map_has(&map, i, j), i == 1 && j == 64);
        }
    }
    tile_map_finish(&map);
}

TEST(joining_a_row_preserves_its_entries)
{
    struct tile_map map = make(130);
    tile_map_add(&map, 2, 5);
    tile_map_add(&map, 7, 129);
    tile_map_add(&map, 7, 64);
    tile_map_join_row(&map, 2, 7);
    assert_true(tile_map_has(&map, 2, 5));
    assert_true(tile_map_has(&map, 2, 64));
    assert_true(tile_map_has(&map, 2, 129));
    assert_false(tile_map_has(&map, 7, 5));
    tile_map_finish(&map);
}

TEST(an_undirected_edge_also_adds_the_mirrored_tile)
{
    static const struct range_edge edges[] = {{0, 3, 1}, {3, 4, 1}};
    static const uint32_t tile_of[] = {0, 0, 1, 2, 2};
    for (int directed = 0; directed < 2; ++directed) {
        struct graph *graph = range_build(5, edges, 2, directed);
        struct tile_map map = make(3);
        tile_map_add_edges(&map, graph, tile_of);
        assert_true(tile_map_has(&map, 0, 2));
        assert_int_equal(tile_map_has(&map, 2, 0), !directed);
        assert_true(tile_map_has(&map, 2, 2));
        assert_false(tile_map_has(&map, 0, 0));
        assert_false(tile_map_has(&map, 1, 2));
        tile_map_finish(&map);
        graph_destroy(graph);
    }
}

TEST(a_packed_map_contains_the_same_tiles)
{
    static const uint32_t sizes[] = {0, 1, 7, 63, 64, 65, 130};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        const uint32_t tiles = sizes[index];
        const size_t words = ((size_t)tiles * tiles + 63) / 64;
        struct tile_map map = make(tiles);
        uint64_t *packed = calloc(words + 1, sizeof(*packed));
        assert_non_null(packed);
        uint64_t seed = 1;
        for (uint32_t bit = 0; bit < tiles * tiles; ++bit) {
            if (range_next(&seed, 3) == 0) {
                tile_map_add(&map, bit / tiles, bit % tiles);
            }
        }
        tile_map_pack(&map, packed);
        for (uint32_t bit = 0; bit < tiles * tiles; ++bit) {
            const bool has = tile_map_has(&map, bit / tiles, bit % tiles);
            assert_int_equal(packed[bit / 64] >> bit % 64 & 1, has);
        }
        assert_int_equal(packed[words], 0);
        free(packed);
        tile_map_finish(&map);
    }
}
