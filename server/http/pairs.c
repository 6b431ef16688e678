#include "server/http/pairs.h"

#include "proto/check.h"
#include "server/http/name_scanner.h"
#include "server/http/pair_lines.h"

#include <string.h>

static enum status take_pair(struct name_scanner *scanner, const struct pairs_visitor *visitor,
                             struct problem *reterr)
{
    const char *first = scanner->at;
    struct scanned_name source = {0};
    struct scanned_name target = {0};
    enum status status = name_scanner_expect(scanner, '[', reterr);

    if (status == STATUS_OK) {
        status = name_scanner_name(scanner, &source, reterr);
    }
    if (status == STATUS_OK) {
        status = name_scanner_expect(scanner, ',', reterr);
    }
    if (status == STATUS_OK) {
        status = name_scanner_name(scanner, &target, reterr);
    }
    if (status == STATUS_OK) {
        status = name_scanner_expect(scanner, ']', reterr);
    }
    if (status == STATUS_OK) {
        status = visitor->pair(visitor->context, source.bytes, source.size, target.bytes,
                               target.size, reterr);
        if (status != STATUS_OK) {
            problem_at(reterr, 0, (uint64_t)(first - scanner->first) + 1);
        }
    }
    name_scanner_release(&source);
    name_scanner_release(&target);
    return status;
}

static enum status take_list(struct name_scanner *scanner, const struct pairs_visitor *visitor,
                             struct problem *reterr)
{
    enum status status = name_scanner_expect(scanner, '[', reterr);

    if (status != STATUS_OK || name_scanner_take(scanner, ']')) {
        return status;
    }
    do {
        status = take_pair(scanner, visitor, reterr);
    } while (status == STATUS_OK && name_scanner_take(scanner, ','));
    return status != STATUS_OK ? status : name_scanner_expect(scanner, ']', reterr);
}

static enum status walk_json(const char *bytes, size_t size, const struct pairs_visitor *visitor,
                             struct problem *reterr)
{
    static const char *const keys[] = {"pairs", NULL};
    struct name_scanner scanner;
    size_t key;

    name_scanner_init(&scanner, bytes, size, "{\"pairs\":[[source,target],...]}");
    enum status status = name_scanner_expect(&scanner, '{', reterr);

    if (status == STATUS_OK) {
        status = name_scanner_key(&scanner, keys, &key, reterr);
    }
    if (status == STATUS_OK) {
        status = take_list(&scanner, visitor, reterr);
    }
    if (status == STATUS_OK) {
        status = name_scanner_expect(&scanner, '}', reterr);
    }
    return status == STATUS_OK ? name_scanner_end(&scanner, reterr) : status;
}

enum pairs_form pairs_sniff(const char *bytes, size_t size)
{
    static const char *const starts[] = {"c ", "p aux ", "q "};

    while (size > 0 && strchr(" \t\r\n", *bytes) != NULL) {
        bytes++;
        size--;
    }
    if (size == 0 || strchr("{[", *bytes) != NULL) {
        return PAIRS_JSON;
    }
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (size >= strlen(starts[i]) && memcmp(bytes, starts[i], strlen(starts[i])) == 0) {
            return PAIRS_P2P;
        }
    }
    return PAIRS_CSV;
}

enum status pairs_walk(enum pairs_form form, const char *bytes, size_t size,
                       const struct pairs_visitor *visitor, struct problem *reterr)
{
    CHECK(form != PAIRS_BINARY);
    switch (form) {
    case PAIRS_CSV:
        return pair_lines_csv(bytes, size, visitor, reterr);
    case PAIRS_P2P:
        return pair_lines_p2p(bytes, size, visitor, reterr);
    case PAIRS_JSON:
    case PAIRS_BINARY:
        break;
    }
    return walk_json(bytes, size, visitor, reterr);
}
