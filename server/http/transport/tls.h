/* TLS credentials: a certificate and its key, read from files, which can be read again while the
 * server runs.
 *
 * Loaded by one thread, used by all. Earlier credentials are kept until the end, because a
 * handshake may be using them. */
#pragma once

#include "proto/problem.h"

#include <gnutls/abstract.h>

struct credentials;

/* TLS 1.3 and 1.2 with forward secrecy and authenticated ciphers, of GnuTLS's words for them. */
#define CREDENTIALS_PRIORITIES                                                                     \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"   \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-SIGN-RSA-SHA1:%SERVER_PRECEDENCE"

MUST_CHECK enum status tls_create(struct credentials **ret_credentials);
/* No handshake may be under way. NULL is accepted. */
void tls_destroy(struct credentials *credentials);
/* Both files in PEM, the certificate followed by those that sign it. STATUS_CONFIG with words when
 * they cannot be used, all may read the key, or they do not belong together: what was loaded before
 * stays. */
MUST_CHECK enum status tls_load(struct credentials *credentials, const char *certificate,
                                const char *key, struct problem *reterr);
/* The chain and key for the next handshake; any thread. They live as long as the credentials. */
void tls_show(struct credentials *credentials, gnutls_pcert_st **ret_chain, unsigned *ret_count,
              gnutls_privkey_t *ret_key);
