#include "server/http/request/trace.h"

#include <string.h>

/* 00-<trace id>-<parent id>-<flags> */
#define ID_AT 3
#define ID_SIZE 32
#define PARENT_AT 36
#define PARENT_SIZE 16
#define FLAGS_AT 53
#define SAMPLED 1

static bool is_lower_hex(const char *text, size_t size)
{
    return strspn(text, "0123456789abcdef") >= size;
}

static bool is_zero(const char *text, size_t size)
{
    return strspn(text, "0") >= size;
}

static bool has_shape(const char *header)
{
    return is_lower_hex(header, 2) && header[2] == '-' && is_lower_hex(header + ID_AT, ID_SIZE) &&
           header[ID_AT + ID_SIZE] == '-' && is_lower_hex(header + PARENT_AT, PARENT_SIZE) &&
           header[PARENT_AT + PARENT_SIZE] == '-' && is_lower_hex(header + FLAGS_AT, 2);
}

/* Version ff is none; only a later one than 00 may go on, behind another dash. */
static bool has_end(const char *header)
{
    const char end = header[TRACEPARENT_SIZE - 1];

    return strncmp(header, "ff", 2) != 0 &&
           (end == '\0' || (end == '-' && strncmp(header, "00", 2) != 0));
}

/* Clears all flags but "sampled", the only one that version 00 of the format defines. */
static char sampled_alone(char digit)
{
    const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;

    return (value & SAMPLED) != 0 ? '1' : '0';
}

bool trace_read(const char *header, char ret_traceparent[TRACEPARENT_SIZE])
{
    if (strlen(header) < TRACEPARENT_SIZE - 1 || !has_shape(header) || !has_end(header) ||
        is_zero(header + ID_AT, ID_SIZE) || is_zero(header + PARENT_AT, PARENT_SIZE)) {
        return false;
    }
    memcpy(ret_traceparent, header, TRACEPARENT_SIZE - 1);
    ret_traceparent[TRACEPARENT_SIZE - 1] = '\0';
    if (strncmp(header, "00", 2) != 0) {
        memcpy(ret_traceparent, "00", 2);
        ret_traceparent[FLAGS_AT] = '0';
        ret_traceparent[FLAGS_AT + 1] = sampled_alone(header[FLAGS_AT + 1]);
    }
    return true;
}
