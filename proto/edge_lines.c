#include "proto/edge_lines.h"

#include "proto/line_words.h"

/* Three times nine digits and a delimiter, CR and LF, and one byte to look ahead. */
#define LINE_SIZE 33

/* In digits alone, with no zero in front. NULL for a vertex that is new, too. */
static inline const char *scan_row(const struct edge_lines *lines, const char *at,
                                   uint32_t *ret_row)
{
    const char *after;
    uint32_t number;

    after = word_scan_ahead(at, &number);
    if (after == NULL || (*at == '0' && after > at + 1) || number >= lines->number_limit) {
        return NULL;
    }
    *ret_row = lines->row_of != NULL ? lines->row_of[number] - 1 : number;
    return *ret_row == UINT32_MAX ? NULL : after;
}

/* Where the line ends; NULL for every other line. At least LINE_SIZE bytes. */
static inline const char *scan_line(const struct edge_lines *lines, const char *at,
                                    struct edge_i4 *ret_edge)
{
    uint32_t weight = 1;
    uint32_t ends[2];

    if ((at = scan_row(lines, at, &ends[0])) == NULL || *at != lines->delimiter ||
        (at = scan_row(lines, at + 1, &ends[1])) == NULL ||
        (lines->has_weight &&
         (*at != lines->delimiter || (at = word_scan_ahead(at + 1, &weight)) == NULL))) {
        return NULL;
    }
    *ret_edge = (struct edge_i4){ends[0], ends[1], (int32_t)weight};
    return word_scan_end(at);
}

uint64_t edge_lines_scan(const struct edge_lines *lines, const char *bytes, size_t size,
                         struct edge_i4 *edges, uint64_t room, size_t *ret_size)
{
    const char *end = bytes + size;
    const char *at = bytes;
    const char *next;
    uint64_t count = 0;

    while (count < room && end - at >= LINE_SIZE &&
           (next = scan_line(lines, at, &edges[count])) != NULL) {
        at = next;
        count++;
    }
    *ret_size = (size_t)(at - bytes);
    return count;
}
