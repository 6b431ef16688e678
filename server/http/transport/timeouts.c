#include "server/http/transport/timeouts.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* States of a TCP connection, from the kernel's tcp_states.h: linux/tcp.h does not name them. */
#define STATE_CLOSE 7
#define STATE_CLOSE_WAIT 8
#define STATE_LAST_ACK 9

void timeouts_start(struct timeouts *timeouts, enum timeouts_phase phase, double now_s)
{
    timeouts->phase = phase;
    timeouts->since_s = now_s;
    timeouts->checked_s = -1;
    timeouts->produced = 0;
}

/* False for a socket of another kind. */
static bool read_tcp_info(int descriptor, struct tcp_info *ret_info)
{
    socklen_t size = sizeof(*ret_info);

    memset(ret_info, 0, sizeof(*ret_info));
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, ret_info, &size) == 0;
}

bool timeouts_peer_has_left(int descriptor)
{
    struct tcp_info info;

    return read_tcp_info(descriptor, &info) &&
           (info.tcpi_state == STATE_CLOSE || info.tcpi_state == STATE_CLOSE_WAIT ||
            info.tcpi_state == STATE_LAST_ACK);
}

bool timeouts_is_sending(int descriptor)
{
    struct tcp_info info;

    return read_tcp_info(descriptor, &info) &&
           (info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0);
}

bool timeouts_is_late(struct timeouts *timeouts, const struct timeouts_rules *rules, int descriptor,
                      double now_s)
{
    const bool in_body = timeouts->phase == TIMEOUTS_BODY;
    const double most_s = in_body ? rules->header_s : rules->stall_s;
    uint64_t moved = in_body ? timeouts->received : timeouts->produced;
    bool has_left = false;
    struct tcp_info info;

    if (timeouts->phase == TIMEOUTS_HANDLER ||
        (timeouts->phase == TIMEOUTS_HEADERS && now_s - timeouts->since_s <= rules->header_s)) {
        return false;
    }
    if (read_tcp_info(descriptor, &info)) {
        const bool is_sending = info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0;

        /* The end of the last answer may still be on its way: it has its own deadline. */
        if (timeouts->phase == TIMEOUTS_HEADERS && !is_sending) {
            return true;
        }
        if (timeouts->phase == TIMEOUTS_ANSWER && !is_sending) {
            timeouts->checked_s = -1;
            return false;
        }
        moved = in_body ? moved : info.tcpi_bytes_acked;
        /* libmicrohttpd 0.9.75 overlooks the end of a connection that came with the last bytes. */
        has_left = in_body && info.tcpi_state == STATE_CLOSE_WAIT;
    } else if (timeouts->phase == TIMEOUTS_HEADERS) {
        return true;
    } else if (timeouts->phase == TIMEOUTS_ANSWER && timeouts->produced == 0) {
        return false;
    }
    if (timeouts->checked_s < 0) {
        timeouts->credit_s = most_s;
    } else {
        const uint64_t bytes = moved - timeouts->counted;

        if (has_left && timeouts->had_left && bytes == 0) {
            return true;
        }
        timeouts->credit_s -= now_s - timeouts->checked_s;
        if (rules->rate_floor > 0) {
            timeouts->credit_s += (double)bytes / (double)rules->rate_floor;
        }
        timeouts->credit_s = timeouts->credit_s < most_s ? timeouts->credit_s : most_s;
    }
    timeouts->checked_s = now_s;
    timeouts->counted = moved;
    timeouts->had_left = has_left;
    return rules->rate_floor > 0 && timeouts->credit_s < 0;
}
