#include "proto/read/charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define INPUT_SIZE ((size_t)4 << 10)
/* Size of the output buffer. It suffices for a full input buffer, because in UTF-8 a character
 * takes at most four times the bytes that it takes in these charsets. */
#define OUTPUT_SIZE (4 * INPUT_SIZE)
#define NO_DESCRIPTOR ((iconv_t)-1)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct charset_converter {
    const char *charset;
    charset_take take;
    void *context;
    iconv_t descriptor;
    uint64_t line; /* line number of the next output byte */
    uint64_t column;
    size_t kept; /* number of input bytes kept, the beginning of a character */
    char input[INPUT_SIZE];
    char output[OUTPUT_SIZE];
};

/* The charsets that graph files use. The C library knows a thousand more names, mostly of
 * converters that are rarely used. */
static const char *const charsets[] = {
    "utf-8",        "utf-16",       "utf-16le",     "utf-16be",    "iso-8859-1",   "iso-8859-2",
    "iso-8859-5",   "iso-8859-7",   "iso-8859-9",   "iso-8859-15", "windows-1250", "windows-1251",
    "windows-1252", "windows-1253", "windows-1254", "koi8-r",      "shift_jis",    "euc-jp",
    "gb18030",      "big5",         "euc-kr",       NULL,
};
#define CHARSET_COUNT (COUNT(charsets) - 1)

static const char *const aliases[][2] = {
    {"utf8", "utf-8"}, {"us-ascii", "utf-8"}, {"latin1", "iso-8859-1"}, {"cp1252", "windows-1252"}};

enum status charset_choose(const char *name, char ret_charset[CHARSET_NAME_SIZE],
                           struct problem *reterr)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        name = strcasecmp(name, aliases[i][0]) == 0 ? aliases[i][1] : name;
    }
    for (size_t i = 0; i < CHARSET_COUNT; i++) {
        if (strcasecmp(name, charsets[i]) == 0) {
            memcpy(ret_charset, charsets[i], strlen(charsets[i]) + 1);
            return STATUS_OK;
        }
    }
    problem_set(reterr, STATUS_BAD_PARAMETER, "The charset \"%.40s\" is not supported.", name);
    problem_hint_list(reterr, "The supported charsets are", charsets);
    return STATUS_BAD_PARAMETER;
}

void charset_load(void)
{
    /* A descriptor of each charset, which stays open to keep the charset's converter loaded. */
    static iconv_t loaded[CHARSET_COUNT];

    for (size_t i = 0; i < CHARSET_COUNT; i++) {
        loaded[i] = loaded[i] == NULL ? iconv_open("utf-8", charsets[i]) : loaded[i];
    }
}

enum status charset_converter_create(const char *charset, charset_take take, void *context,
                                     struct charset_converter **ret_converter)
{
    struct charset_converter *converter = malloc(sizeof(*converter));

    if (converter == NULL) {
        return STATUS_NO_MEMORY;
    }
    converter->charset = charset;
    converter->take = take;
    converter->context = context;
    converter->line = 1;
    converter->column = 1;
    converter->kept = 0;
    converter->descriptor = iconv_open("utf-8", charset);
    if (converter->descriptor == NO_DESCRIPTOR) {
        const bool is_unknown = errno == EINVAL;

        free(converter);
        return is_unknown ? STATUS_BAD_PARAMETER : STATUS_NO_MEMORY;
    }
    *ret_converter = converter;
    return STATUS_OK;
}

void charset_converter_destroy(struct charset_converter *converter)
{
    if (converter == NULL) {
        return;
    }
    iconv_close(converter->descriptor);
    free(converter);
}

static enum status hand_on(struct charset_converter *converter, size_t size, struct problem *reterr)
{
    const char *at = converter->output;
    const char *end = at + size;
    const char *line;

    while ((line = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        converter->line++;
        converter->column = 1;
        at = line + 1;
    }
    converter->column += (uint64_t)(end - at);
    return size == 0 ? STATUS_OK
                     : converter->take(converter->context, converter->output, size, reterr);
}

static enum status refuse_bytes(const struct charset_converter *converter, struct problem *reterr)
{
    return problem_bad_graph_hint(
        reterr, converter->line, converter->column,
        "Specify the charset of the text with charset=, or send the text in UTF-8.",
        "The body contains bytes that are not valid in %s.", converter->charset);
}

enum status charset_converter_feed(struct charset_converter *converter, const char *bytes,
                                   size_t size, struct problem *reterr)
{
    while (size > 0) {
        const size_t room = INPUT_SIZE - converter->kept;
        const size_t piece = size < room ? size : room;
        size_t left = converter->kept + piece;
        size_t free_bytes = OUTPUT_SIZE;
        char *from = converter->input;
        char *to = converter->output;

        memcpy(converter->input + converter->kept, bytes, piece);
        bytes += piece;
        size -= piece;
        const bool failed =
            iconv(converter->descriptor, &from, &left, &to, &free_bytes) == (size_t)-1;
        const bool is_wrong = failed && errno == EILSEQ;
        STATUS_TRY(hand_on(converter, OUTPUT_SIZE - free_bytes, reterr));
        if (is_wrong || left == INPUT_SIZE) {
            return refuse_bytes(converter, reterr);
        }
        memmove(converter->input, from, left);
        converter->kept = left;
    }
    return STATUS_OK;
}

enum status charset_converter_end(struct charset_converter *converter, struct problem *reterr)
{
    size_t free_bytes = OUTPUT_SIZE;
    char *to = converter->output;

    if (converter->kept > 0 ||
        iconv(converter->descriptor, NULL, NULL, &to, &free_bytes) == (size_t)-1) {
        return refuse_bytes(converter, reterr);
    }
    return hand_on(converter, OUTPUT_SIZE - free_bytes, reterr);
}
