/* apsp as a client of a running service, by libcurl: one connection, one request at a time. */
#pragma once

#include "proto/text.h"
#include "server/command/command.h"

#include <curl/curl.h>

/* The longest that the service is asked to hold an answer, in seconds. */
#define CLIENT_HOLD_S 30
/* The exit code where the service is not there or refuses. */
#define EXIT_SERVICE 4

/* The first flags of every command that asks a service. */
enum client_flag { CLIENT_URL, CLIENT_JSON, CLIENT_COUNT };

#define CLIENT_FLAGS                                                                               \
    [CLIENT_URL] = {"url", "URL",                                                                  \
                    "Address of the service. Else APSPD_URL, else http://127.0.0.1:8080;\n"        \
                    "      unix:PATH is a Unix socket. APSPD_KEY is the key to show."},            \
    [CLIENT_JSON] = {"json", NULL,                                                                 \
                     "Print the answer of the service, one JSON object as the last line."}

/* One answer, valid until the next request. */
struct client_answer {
    long http_status;
    struct text body;
    json_t *document; /* of a body in JSON, or NULL */
    bool is_silent;   /* nothing came for so long that the request was ended */
};

struct client {
    struct command_call *call;
    CURL *curl;
    struct curl_slist *headers; /* of the next request */
    char base[512];             /* of every address, without a slash at its end */
    const char *socket_path;    /* of a Unix socket, or NULL */
    struct client_answer answer;
    /* Receives the bytes of an answer of 200 or 206 instead of its body; NULL = none. */
    bool (*sink)(void *context, const char *bytes, size_t size);
    void *sink_context;
};

/* Runs the ask of the command with a client for the address of --url, else APSPD_URL, else the
 * default, and the key of APSPD_KEY. */
MUST_CHECK enum status client_run(struct command_call *call, struct problem *reterr);

/* Adds a header to the next request: "Name: value". */
void client_add_header(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "/v1/<collection>", then, unless the key is NULL, "/<key><rest>". */
struct text client_path(const struct client *client, const char *collection, const char *key,
                        const char *rest);
/* A parameter, unless the value is NULL. */
void client_append_parameter(const struct client *client, struct text *path, const char *name,
                             const char *value);

/* Sends a request and waits for its answer, again where the service says when (429, 503 with
 * Retry-After). Frees the path. file: the body, or NULL. STATUS_OK for answers below 300, with a
 * sink for 200 and 206 only. A service that is not there, or refuses, sets the exit code 4 of the
 * call, but for a graph that is wrong. */
MUST_CHECK enum status client_ask(struct client *client, const char *method, struct text *path,
                                  FILE *file, struct problem *reterr);
/* client_ask, with a JSON document as the answer, which is valid until the next request. */
MUST_CHECK enum status client_ask_json(struct client *client, const char *method, struct text *path,
                                       FILE *file, json_t **ret_document, struct problem *reterr);
/* A header of the answer, also while its body is still coming; empty = none. */
const char *client_header(const struct client *client, const char *name);
/* Prints the document as a line where --json asks for it, and in words otherwise. */
MUST_CHECK enum status client_print(const struct client *client, json_t *document,
                                    void (*print_words)(const json_t *document),
                                    struct problem *reterr);
/* A string or a number of a document; empty or 0 where it has none of that name. */
const char *client_member(const json_t *document, const char *name);
double client_number(const json_t *document, const char *name);
/* Prints client_member on standard output, controls escaped. */
void client_print_member(const json_t *document, const char *name);
