/* Documents that embed.py embeds at build time; they are constant and never freed. */
#pragma once

#include <stddef.h>

struct page_bytes {
    const unsigned char *bytes;
    size_t size;
};

struct page {
    const char *media_type;
    const char *policy; /* Content-Security-Policy with img-src as the last directive; NULL: none */
    const char *tag;    /* ETag, derived from the bytes */
    struct page_bytes plain; /* the document; not empty */
    struct page_bytes gzip;  /* the document compressed by gzip */
};

extern const struct page page_openapi; /* OpenAPI 3.1 document */
extern const struct page page_docs;    /* viewer of the OpenAPI document */
extern const struct page page_home;    /* home page at / */
extern const struct page page_icon;    /* icon, an SVG image */
