/* The certificate of the server and its key, reloadable while the server runs. The process has one
 * pair, because libmicrohttpd passes no context to the callback that presents it.
 *
 * One thread loads pairs, and all threads use the latest. Old pairs are kept until tls_unload,
 * because a handshake may still be using them. */
#pragma once

#include "proto/problem.h"

#include <gnutls/abstract.h>

/* GnuTLS priorities: TLS 1.3 and 1.2 with forward secrecy and authenticated ciphers only. */
#define TLS_PRIORITIES                                                                             \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"   \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-SIGN-RSA-SHA1:%SERVER_PRECEDENCE"

/* Loads both PEM files. The first holds the server's certificate, then its issuers'. If a
 * file cannot be read or parsed, the key is readable by everybody, or key and certificate do not
 * match, returns STATUS_CONFIG with a message and keeps the old pair in use. */
MUST_CHECK enum status tls_load(const char *certificate, const char *key, struct problem *reterr);
/* Frees all pairs. No handshake may be in progress. */
void tls_unload(void);
/* Returns the chain and key for the next handshake, borrowed until tls_unload. A pair must have
 * been loaded. Any thread. */
void tls_show(gnutls_pcert_st **ret_chain, unsigned *ret_count, gnutls_privkey_t *ret_key);
