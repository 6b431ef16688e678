/* An address that is listened on, with the daemon of libmicrohttpd that answers there. */
#pragma once

#include "server/config.h"
#include "server/http/credentials.h"
#include "server/http/listener.h"

#include <microhttpd.h>

#define GATE_URL_SIZE 192

struct http;

/* Zeroed, it is not open. */
struct gate {
    struct http *http; /* for whom the callbacks are called */
    struct MHD_Daemon *daemon;
    struct listener listener;
    unsigned doors;  /* which routes are answered here */
    bool is_counted; /* its connections count against the limits */
    bool is_encrypted;
    char url[GATE_URL_SIZE]; /* "http://HOST:PORT" with the port really taken, "unix:PATH" */
};

/* What a gate is opened with. The callbacks get the gate as their context. */
struct gate_plan {
    const struct config *config;
    struct credentials *credentials; /* NULL: no TLS */
    bool has_keys;
    uint32_t threads;
    uint32_t connections;
    MHD_AccessHandlerCallback request_came;
    void *(*request_started)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback request_ended;
    MHD_NotifyConnectionCallback connection_changed;
};

/* With its listener, doors and http set. STATUS_CONFIG with words when other machines reach it and
 * it has not what config->network asks for; its listener is closed then. Answers from then on. */
MUST_CHECK enum status gate_open(struct gate *gate, const struct gate_plan *plan,
                                 struct problem *reterr);
/* From the callback of a connection that has come or gone, on its thread. */
void gate_count_connection(bool has_come);
/* No new connections; one that is not open is left alone, here and below. */
void gate_quiesce(struct gate *gate);
/* After gate_quiesce: ends all connections and the threads. */
void gate_stop(struct gate *gate);
