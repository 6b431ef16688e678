#include "server/http/api/pairs.h"

#include "server/http/api/pair_lines.h"

#include <string.h>

static enum status parse_pair(struct pairs_reader *reader, struct problem *reterr)
{
    struct name_scanner *scanner = &reader->scanner;

    reader->first = scanner->at;
    STATUS_TRY(name_scanner_expect(scanner, '[', reterr));
    STATUS_TRY(name_scanner_name(scanner, &reader->pair[0], reterr));
    STATUS_TRY(name_scanner_expect(scanner, ',', reterr));
    STATUS_TRY(name_scanner_name(scanner, &reader->pair[1], reterr));
    if (reader->is_weighted) {
        STATUS_TRY(name_scanner_expect(scanner, ',', reterr));
        STATUS_TRY(name_scanner_number(scanner, &reader->pair[2], reterr));
    }
    return name_scanner_expect(scanner, ']', reterr);
}

static enum status next_json(struct pairs_reader *reader, struct problem *reterr)
{
    static const char *const keys[] = {"pairs", NULL};
    struct name_scanner *scanner = &reader->scanner;
    const bool begins = scanner->at == scanner->first;
    const bool is_object = !reader->is_weighted;
    size_t key;

    pairs_close(reader);
    if (begins && is_object) {
        STATUS_TRY(name_scanner_expect(scanner, '{', reterr));
        STATUS_TRY(name_scanner_key(scanner, keys, &key, reterr));
    }
    if (begins) {
        STATUS_TRY(name_scanner_expect(scanner, '[', reterr));
        reader->ended = name_scanner_take(scanner, ']');
    } else if (!name_scanner_take(scanner, ',')) {
        reader->ended = true;
        STATUS_TRY(name_scanner_expect(scanner, ']', reterr));
    }
    if (!reader->ended) {
        return parse_pair(reader, reterr);
    }
    if (is_object) {
        STATUS_TRY(name_scanner_expect(scanner, '}', reterr));
    }
    return name_scanner_end(scanner, reterr);
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
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (size >= strlen(starts[i]) && memcmp(bytes, starts[i], strlen(starts[i])) == 0) {
            return PAIRS_P2P;
        }
    }
    return PAIRS_CSV;
}

void pairs_open(struct pairs_reader *reader, enum pairs_form form, const char *bytes, size_t size)
{
    *reader = (struct pairs_reader){
        .form = form,
        .lines = {.at = bytes, .end = bytes + size, .announced = -1},
    };
    name_scanner_init(&reader->scanner, bytes, size, "{\"pairs\":[[source,target],...]}");
}

void pairs_open_weighted(struct pairs_reader *reader, enum pairs_form form, const char *bytes,
                         size_t size)
{
    pairs_open(reader, form, bytes, size);
    reader->is_weighted = true;
    reader->scanner.shape = "[[source,target,weight],...]";
}

void pairs_close(struct pairs_reader *reader)
{
    name_scanner_release(&reader->pair[0]);
    name_scanner_release(&reader->pair[1]);
}

enum status pairs_next(struct pairs_reader *reader, struct problem *reterr)
{
    enum status status = STATUS_OK;

    CHECK(!reader->ended);
    switch (reader->form) {
    case PAIRS_JSON:
        status = next_json(reader, reterr);
        break;
    case PAIRS_CSV:
        status = pair_lines_next_csv(reader, reterr);
        break;
    case PAIRS_P2P:
        status = pair_lines_next_p2p(reader, reterr);
        break;
    case PAIRS_BINARY:
        CHECK(false);
    }
    reader->count += status == STATUS_OK && !reader->ended;
    return status;
}

void pairs_place(const struct pairs_reader *reader, struct problem *problem)
{
    if (reader->form == PAIRS_JSON) {
        problem_at(problem, 0, (uint64_t)(reader->first - reader->scanner.first) + 1);
    } else if (reader->form != PAIRS_BINARY) {
        problem_at(problem, reader->lines.number, 0);
    }
}
