#include "proto/json_text.h"

#include <jansson.h>
#include <stdlib.h>

/* Counted first, so that nothing has to grow. */
char *json_text_print(const struct json_t *root, size_t flags)
{
    const size_t size = root != NULL ? json_dumpb(root, NULL, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;

    if (text == NULL) {
        return NULL;
    }
    if (json_dumpb(root, text, size, flags) != size) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}
