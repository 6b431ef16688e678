/* Documents that the program carries: made at build time by embed.py, constant, never freed. */
#pragma once

#include <stddef.h>

struct page_bytes {
    const unsigned char *bytes;
    size_t size;
};

struct page {
    const char *media_type;
    const char *policy;      /* its Content-Security-Policy, img-src last; NULL without one */
    const char *tag;         /* changes with the bytes */
    struct page_bytes plain; /* not empty */
    struct page_bytes gzip;  /* the same in gzip */
};

extern const struct page page_openapi; /* OpenAPI 3.1 */
extern const struct page page_docs;    /* its viewer */
extern const struct page page_home;    /* what / shows to people */
