/* An order, a struct exec_order with descriptors beside it (SCM_RIGHTS): from the caller to the helper. Inside the helper it also carries a seccomp
 * listener from a new process to the thread that serves it (exec_watch.c). */
#include "core/sandbox/exec_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
        struct cmsghdr head;
        char space[CMSG_SPACE(EXEC_FDS_MOST * sizeof(int))];
};

int order_send(int socket, const int *fds, size_t n)
{
        struct exec_order order = {.magic = exec_magic};
        struct iovec text = {.iov_base = &order, .iov_len = sizeof(order)};
        union control control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(n * sizeof(int))}};
        struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = CMSG_SPACE(n * sizeof(int))};

        memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
        return sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(order) ? 0 : -errno;
}

int order_receive(int socket, int flags, int ret_fds[EXEC_FDS_MOST])
{
        struct exec_order order = {0};
        struct iovec text = {.iov_base = &order, .iov_len = sizeof(order)};
        union control control = {0};
        struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)};
        ssize_t size = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | flags);
        struct cmsghdr *c;
        size_t n;

        if (size < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        c = size == sizeof(order) && order.magic == exec_magic ? CMSG_FIRSTHDR(&m) : NULL;
        if (!c || c->cmsg_type != SCM_RIGHTS)
                return -1;
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(ret_fds, CMSG_DATA(c), n * sizeof(int));
        return (int)n;
}
