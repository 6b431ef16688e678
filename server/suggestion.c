#include "server/suggestion.h"

#include <string.h>

#define WORD_LIMIT 32

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein's distance, row by row; both words are shorter than WORD_LIMIT. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[WORD_LIMIT + 1];
    size_t width = strlen(b);
    for (size_t j = 0; j <= width; ++j) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < width; ++j) {
            size_t changed = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = min3(changed, row[j + 1] + 1, row[j] + 1);
        }
    }
    return row[width];
}

void suggestion_consider(struct suggestion *suggestion, const char *candidate)
{
    size_t typed = strlen(suggestion->typed);
    if (typed >= WORD_LIMIT || strlen(candidate) >= WORD_LIMIT) {
        return;
    }
    size_t distance = edit_distance(suggestion->typed, candidate);
    /* More than a third of the letters wrong is another word. */
    if (3 * distance > typed + 2) {
        return;
    }
    if (suggestion->best == NULL || distance < suggestion->distance) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}
