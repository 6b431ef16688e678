#include "proto/read/edge_lines.h"

#include "proto/read/lines.h"

#include <string.h>

/* A letter, three times nine digits, what is between them, CR and LF, and one byte to look ahead.
 */
#define LINE_SIZE 34

/* The loop below is written once and compiled for numbers that are rows and for others. */
#define FOR_EACH_SORT inline __attribute__((always_inline))

/* A vertex in digits alone. NULL also for one that is new, or might be: a zero in front makes
 * another name. */
static FOR_EACH_SORT const char *scan_row(const struct edge_lines *lines, bool has_names,
                                          const char *at, uint32_t *ret_row)
{
    const char *after;
    uint32_t number;

    after = word_scan_ahead(at, &number);
    /* A number below the base wraps around. */
    if (after == NULL || (has_names && *at == '0' && after > at + 1) ||
        number - lines->base >= lines->number_limit) {
        return NULL;
    }
    *ret_row = has_names ? lines->row_of[number] - 1 : number - lines->base;
    return has_names && *ret_row == UINT32_MAX ? NULL : after;
}

/* Where the line ends; NULL for every other line. At least LINE_SIZE bytes. */
static FOR_EACH_SORT const char *scan_line(const struct edge_lines *lines, bool has_names,
                                           const char *at, struct edge_i4 *ret_edge)
{
    uint32_t weight = 1;
    uint32_t ends[2];

    if (lines->letter != 0) {
        if (at[0] != lines->letter || at[1] != ' ') {
            return NULL;
        }
        at += 2;
    }
    if ((at = scan_row(lines, has_names, at, &ends[0])) == NULL || *at != lines->delimiter ||
        (at = scan_row(lines, has_names, at + 1, &ends[1])) == NULL ||
        (lines->has_weight &&
         (*at != lines->delimiter || (at = word_scan_ahead(at + 1, &weight)) == NULL))) {
        return NULL;
    }
    *ret_edge = (struct edge_i4){ends[0], ends[1], (int32_t)weight};
    return word_scan_end(at);
}

/* Returns where the last line ended. */
static FOR_EACH_SORT const char *scan_all(struct edge_lines lines, bool has_names, const char *at,
                                          const char *end, struct edge_i4 *edges, uint64_t room,
                                          uint64_t *ret_count)
{
    const char *next;
    uint64_t count = 0;

    while (count < room && end - at >= LINE_SIZE &&
           (next = scan_line(&lines, has_names, at, &edges[count])) != NULL) {
        at = next;
        count++;
    }
    *ret_count = count;
    return at;
}

uint64_t edge_lines_scan(const struct edge_lines *lines, struct graph_builder *builder,
                         uint64_t limit, const char *bytes, size_t size, size_t *ret_size)
{
    const char *const end = bytes + size;
    const char *at;
    struct edge_i4 *edges;
    uint64_t room;
    uint64_t count;

    limit = limit < size ? limit : size;
    if (limit == 0 || size < LINE_SIZE || !graph_builder_has_integers(builder) ||
        graph_builder_offer(builder, limit, &edges, &room) != STATUS_OK) {
        return 0;
    }
    at = lines->row_of != NULL ? scan_all(*lines, true, bytes, end, edges, room, &count)
                               : scan_all(*lines, false, bytes, end, edges, room, &count);
    graph_builder_commit(builder, count);
    *ret_size = (size_t)(at - bytes);
    return count;
}
