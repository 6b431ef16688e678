#include "server/job/desk_internal.h"

#include <sys/epoll.h>
#include <unistd.h>

/* Looked at in one turn of the loop; the rest keep it turning. */
#define LEAVING_AT_ONCE 64

/* The connection is suspended, so nobody else looks at its socket. A client that has only closed
 * its sending side, as some do after their request, is answered too: now, and not later. */
static void look(uv_poll_t *leaving, int error, int events)
{
    struct desk *desk = leaving->data;
    struct epoll_event event;
    (void)events;
    for (int i = 0; error == 0 && i < LEAVING_AT_ONCE; i++) {
        /* One by one: an answer takes its ask out of the set. */
        if (epoll_wait(desk->leave_epoll, &event, 1, 0) != 1) {
            return;
        }
        struct ask *ask = event.data.ptr;
        ask->client_left = true;
        log_write(LOG_DEBUG, "client_left", LOG_TEXT("job", ask->job->id));
        desk_wait_release(desk, ask);
    }
}

enum status desk_leave_open(struct desk *desk)
{
    int descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (descriptor < 0) {
        return STATUS_NO_MEMORY;
    }
    if (uv_poll_init(desk->loop, &desk->leaving, descriptor) != 0) {
        close(descriptor);
        return STATUS_NO_MEMORY;
    }
    desk->leave_epoll = descriptor;
    desk->leaving.data = desk;
    desk->handles_open++;
    return uv_poll_start(&desk->leaving, UV_READABLE, look) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

void desk_leave_close(struct desk *desk)
{
    if (desk->leave_epoll > 0) {
        close(desk->leave_epoll);
    }
}

void desk_leave_watch(struct desk *desk, const struct ask *ask)
{
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.ptr = (void *)ask};
    if (ask->client_socket > 0 &&
        epoll_ctl(desk->leave_epoll, EPOLL_CTL_ADD, ask->client_socket, &event) != 0) {
        log_write(LOG_DEBUG, "client_not_watched", LOG_TEXT("job", ask->job->id));
    }
}

void desk_leave_forget(struct desk *desk, const struct ask *ask)
{
    struct epoll_event ignored = {0};
    if (ask->client_socket > 0) {
        (void)epoll_ctl(desk->leave_epoll, EPOLL_CTL_DEL, ask->client_socket, &ignored);
    }
}
