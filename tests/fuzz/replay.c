/* Runs a fuzz target on every file of a folder, which is the corpus in ordinary test runs. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define INPUT_LIMIT (1u << 20)

static int replay(const char *folder, const char *name)
{
    static uint8_t room[INPUT_LIMIT];
    char path[4096];
    uint8_t *bytes;
    size_t size;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 0;
    }
    printf("%s\n", path);
    fflush(stdout);
    size = fread(room, 1, sizeof room, file);
    fclose(file);
    /* The buffer has exactly the size of the file, so that a sanitizer detects reads beyond it. */
    bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        abort();
    memcpy(bytes, room, size);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    int count = 0;

    if (folder == NULL) {
        fprintf(stderr, "usage: replay FOLDER\n");
        return EXIT_FAILURE;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.')
            count += replay(argv[1], entry->d_name);
    }
    closedir(folder);
    /* A run without any input would prove nothing, so it fails. */
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
