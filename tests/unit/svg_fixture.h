/* Is a text well-formed XML, as far as pictures need: elements nested and closed, attributes in
 * quotes, no bare & or <. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SVG_DEPTH 8
#define SVG_NAME 32

static inline bool svg_fixture_entity(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (size_t i = 0; i < 4; ++i) {
        if (strncmp(at, known[i], strlen(known[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* The tag from its name to behind its >; NULL when it is broken. */
static inline const char *svg_fixture_tag(const char *at, bool *ret_empty)
{
    bool quoted = false;
    for (; *at != '\0' && (quoted || *at != '>'); ++at) {
        quoted = *at == '"' ? !quoted : quoted;
        if (*at == '<' || (*at == '&' && !svg_fixture_entity(at))) {
            return NULL;
        }
    }
    *ret_empty = at[-1] == '/';
    return *at == '>' ? at + 1 : NULL;
}

static inline bool svg_fixture_is_well_formed(const char *text)
{
    char open[SVG_DEPTH][SVG_NAME];
    int depth = 0;
    bool seen = false;
    while (*text != '\0') {
        if (*text == '&' && !svg_fixture_entity(text)) {
            return false;
        }
        if (*text != '<') {
            ++text;
            continue;
        }
        const bool closing = text[1] == '/';
        const char *name = text + 1 + closing;
        const int size = (int)strcspn(name, " />\n");
        bool empty = false;
        text = svg_fixture_tag(name, &empty);
        if (text == NULL || size == 0 || size >= SVG_NAME || depth == SVG_DEPTH) {
            return false;
        }
        if (closing && (depth == 0 || strncmp(open[depth - 1], name, (size_t)size) != 0 ||
                        open[depth - 1][size] != '\0')) {
            return false;
        }
        if (closing) {
            --depth;
        } else if (!empty) {
            snprintf(open[depth++], SVG_NAME, "%.*s", size, name);
        }
        seen = true;
    }
    return seen && depth == 0;
}
