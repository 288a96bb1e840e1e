/* A worker's hello of ours, for a launch that says it: "cat hello; cat >/dev/null; exit 0". */
#pragma once

#include "core/remote/message.h"
#include "core/run/host.h"
#include "tests/support/test.h"

static inline void write_hello(const struct remote_hello *h)
{
        cleanup_buffer struct buffer body = {0}, packet = {0};

        message_write(PACKET_HELLO, (void *)h, &body);
        assert_ok(packet_write(PACKET_HELLO, 0, 0, SLICE(body.data, body.size), &packet));
        assert_ok(write_file_atomic("hello", packet.data, packet.size, 0600));
}

static inline void write_node(const char *host, uint64_t ns, const char *toolchain)
{
        json_t *facts = host_facts();

        write_hello(&(struct remote_hello){.protocol = REMOTE_PROTOCOL,
                                           .version = (char *)"0.1.0",
                                           .host = (char *)host,
                                           .cpu = (char *)"Abacus",
                                           .kernel = (char *)"Linux 1",
                                           .libc = (char *)json_string_value(json_object_get(facts, "libc")),
                                           .facts = (char *)"{}",
                                           .cores = 1,
                                           .slots = 1,
                                           .toolchain = (char *)toolchain,
                                           .probe_ns = ns,
                                           .left_ns = UINT64_MAX});
        json_decref(facts);
}

static inline void write_probe(const char *host, uint64_t ns)
{
        write_node(host, ns, "compilers");
}
