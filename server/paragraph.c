#include "server/paragraph.h"

#include <string.h>

#define COLUMNS 78

void paragraph_print(FILE *stream, const char *prefix, const char *words)
{
    while (*words != '\0') {
        size_t room = COLUMNS - strlen(prefix);
        size_t size = strlen(words);
        if (size > room) {
            size = room;
            while (size > 0 && words[size] != ' ') {
                --size;
            }
            size = size == 0 ? strcspn(words, " ") : size;
        }
        fprintf(stream, "%s%.*s\n", prefix, (int)size, words);
        words += size;
        words += strspn(words, " ");
    }
}
