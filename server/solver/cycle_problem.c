#include "server/solver/steps.h"

#include <string.h>

/* Vertices of a negative cycle that its problem names, and bytes of each name. */
#define NAMED_VERTICES 8
#define NAMED_BYTES 16

#define CYCLE_HINT                                                                                 \
    "Going round once more is always shorter, so no distance exists: mend the weights."

/* The name of a vertex, cut between two UTF-8 characters. */
static void append_name(const struct graph *graph, uint32_t vertex, char *text, size_t *length)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size = 0;
    const char *name = vertex_names_get(graph->names, vertex, buffer, &size);
    size_t kept = size <= NAMED_BYTES ? size : NAMED_BYTES;
    while (kept < size && kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80) {
        kept--;
    }
    memcpy(text + *length, name, kept);
    *length += kept;
}

static void append_text(const char *word, char *text, size_t *length)
{
    memcpy(text + *length, word, strlen(word));
    *length += strlen(word);
}

/* "a -> b -> c -> a", or the first vertices and "...". */
static void describe_cycle(const struct graph *graph, const uint32_t *cycle, size_t cycle_length,
                           char text[PROBLEM_TEXT_SIZE])
{
    const size_t named = cycle_length < NAMED_VERTICES ? cycle_length : NAMED_VERTICES;
    size_t length = 0;
    _Static_assert((NAMED_VERTICES + 1) * (NAMED_BYTES + 4) + 4 <= PROBLEM_TEXT_SIZE,
                   "all names fit");
    for (size_t index = 0; index < named; index++) {
        append_name(graph, cycle[index], text, &length);
        append_text(" -> ", text, &length);
    }
    if (named < cycle_length) {
        append_text("...", text, &length);
    } else {
        append_name(graph, cycle[0], text, &length);
    }
    text[length] = '\0';
}

enum status cycle_problem_set(const struct graph *graph, const uint32_t *cycle, size_t length,
                              double weight, struct problem *reterr)
{
    char text[PROBLEM_TEXT_SIZE];
    describe_cycle(graph, cycle, length, text);
    const enum status status =
        problem_set(reterr, STATUS_NEGATIVE_CYCLE, "A cycle of %zu edges has length %.17g: %s.",
                    length, weight, text);
    problem_hint(reterr, "%s",
                 graph->directed
                     ? CYCLE_HINT
                     : "An undirected edge below 0 is a cycle by itself: mend the weights, or say "
                       "directed=true.");
    return status;
}

enum status cycle_problem_set_loop(const struct graph *graph, struct problem *reterr)
{
    char name[PROBLEM_TEXT_SIZE];
    size_t length = 0;
    append_name(graph, graph->summary.negative_loop, name, &length);
    name[length] = '\0';
    const enum status status = problem_set(reterr, STATUS_NEGATIVE_CYCLE,
                                           "Vertex %s has an edge to itself below 0.", name);
    problem_hint(reterr, CYCLE_HINT);
    return status;
}
