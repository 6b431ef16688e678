/* TLS credentials: a certificate and its key, reloadable while the server runs.
 *
 * One thread loads credentials, and all threads use them. Old credentials are kept until
 * tls_destroy, because a handshake may still be using them. */
#pragma once

#include "proto/problem.h"

#include <gnutls/abstract.h>

struct credentials;

/* GnuTLS priorities: TLS 1.3 and 1.2 with forward secrecy and authenticated ciphers only. */
#define CREDENTIALS_PRIORITIES                                                                     \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"   \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-SIGN-RSA-SHA1:%SERVER_PRECEDENCE"

MUST_CHECK enum status tls_create(struct credentials **ret_credentials);
/* Frees all credentials. No handshake may be in progress. Accepts NULL. */
void tls_destroy(struct credentials *credentials);
/* Loads both PEM files. The first holds the server's certificate, then its issuers'. If a
 * file cannot be read or parsed, the key is readable by everybody, or key and certificate do not
 * match, returns STATUS_CONFIG with a message and keeps the old pair in use. */
MUST_CHECK enum status tls_load(struct credentials *credentials, const char *certificate,
                                const char *key, struct problem *reterr);
/* Returns the chain and key for the next handshake, borrowed until tls_destroy. Any thread. */
void tls_show(struct credentials *credentials, gnutls_pcert_st **ret_chain, unsigned *ret_count,
              gnutls_privkey_t *ret_key);
