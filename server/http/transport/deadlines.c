#include "server/http/transport/deadlines.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* TCP states, from the kernel's tcp_states.h; linux/tcp.h does not define them. */
#define STATE_CLOSE 7
#define STATE_CLOSE_WAIT 8
#define STATE_LAST_ACK 9

void deadlines_start_phase(struct deadlines *deadlines, enum conn_phase phase, double now_s)
{
    deadlines->phase = phase;
    deadlines->since_s = now_s;
    deadlines->checked_s = -1;
    deadlines->produced = 0;
    if (phase == PHASE_HEADERS) {
        deadlines->whole = 0;
    }
}

/* Returns false for a socket that is not TCP. */
static bool read_tcp_info(int descriptor, struct tcp_info *ret_info)
{
    socklen_t size = sizeof(*ret_info);
    memset(ret_info, 0, sizeof(*ret_info));
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, ret_info, &size) == 0;
}

bool deadlines_peer_has_left(int descriptor)
{
    struct tcp_info info;
    return read_tcp_info(descriptor, &info) &&
           (info.tcpi_state == STATE_CLOSE || info.tcpi_state == STATE_CLOSE_WAIT ||
            info.tcpi_state == STATE_LAST_ACK);
}

bool deadlines_is_sending(int descriptor)
{
    struct tcp_info info;
    return read_tcp_info(descriptor, &info) &&
           (info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0);
}

bool deadlines_are_missed(struct deadlines *deadlines, const struct config *config, int descriptor,
                          double now_s)
{
    const bool in_body = deadlines->phase == PHASE_BODY;
    const double most_s = in_body ? config->header_timeout_s : config->stall_timeout_s;
    uint64_t moved = in_body ? deadlines->received : deadlines->produced;
    bool has_left = false;
    struct tcp_info info;
    if (deadlines->phase == PHASE_HANDLER ||
        (deadlines->phase == PHASE_HEADERS &&
         now_s - deadlines->since_s <= config->header_timeout_s)) {
        return false;
    }
    if (read_tcp_info(descriptor, &info)) {
        const bool is_sending = info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0;
        /* While the previous answer is being sent, the deadline for sending applies instead. */
        if (deadlines->phase == PHASE_HEADERS && !is_sending) {
            return true;
        }
        if (deadlines->phase == PHASE_ANSWER && !is_sending) {
            deadlines->checked_s = -1;
            return false;
        }
        moved = in_body ? moved : info.tcpi_bytes_acked;
        /* libmicrohttpd 0.9.75 misses a close that arrives with the client's last bytes. */
        has_left = in_body && info.tcpi_state == STATE_CLOSE_WAIT;
    } else if (deadlines->phase == PHASE_HEADERS) {
        return true;
    } else if (deadlines->phase == PHASE_ANSWER && deadlines->produced == 0) {
        deadlines->checked_s = deadlines->checked_s < 0 ? now_s : deadlines->checked_s;
        return deadlines->whole > 0 && config->rate_floor > 0 &&
               now_s - deadlines->checked_s >
                   config->stall_timeout_s + (double)deadlines->whole / (double)config->rate_floor;
    }
    if (deadlines->checked_s < 0) {
        deadlines->credit_s = most_s;
    } else {
        const uint64_t bytes = moved - deadlines->counted;
        if (has_left && deadlines->had_left && bytes == 0) {
            return true;
        }
        deadlines->credit_s -= now_s - deadlines->checked_s;
        if (config->rate_floor > 0) {
            deadlines->credit_s += (double)bytes / (double)config->rate_floor;
        }
        deadlines->credit_s = deadlines->credit_s < most_s ? deadlines->credit_s : most_s;
    }
    deadlines->checked_s = now_s;
    deadlines->counted = moved;
    deadlines->had_left = has_left;
    return config->rate_floor > 0 && deadlines->credit_s < 0;
}
