#include "cache/base/hash.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <xxhash.h>

struct hasher {
        struct sha256_ctx context;
};

struct hasher *hasher_new(void)
{
        struct hasher *h = allocate(1, sizeof(*h));

        sha256_init(&h->context);
        return h;
}

void hasher_add(struct hasher *h, const void *data, size_t size)
{
        sha256_update(&h->context, size, data);
}

void hasher_number(struct hasher *h, uint64_t n)
{
        uint8_t bytes[8];

        for (unsigned i = 0; i < 8; i++)
                bytes[i] = (uint8_t)(n >> (8 * i));
        hasher_add(h, bytes, sizeof(bytes));
}

void hasher_field(struct hasher *h, const void *data, size_t size)
{
        hasher_number(h, size);
        hasher_add(h, data, size);
}

void hasher_string(struct hasher *h, const char *s)
{
        if (s)
                hasher_field(h, s, strlen(s));
        else
                hasher_number(h, UINT64_MAX);
}

void hasher_finish(struct hasher *h, struct digest *ret)
{
        sha256_digest(&h->context, DIGEST_SIZE, ret->bytes);
        free(h);
}

void digest_of(const void *data, size_t size, struct digest *ret)
{
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, size, data);
        sha256_digest(&context, DIGEST_SIZE, ret->bytes);
}

int digest_of_fd(int fd, struct digest *ret, uint64_t *ret_size)
{
        struct hasher *h = hasher_new();
        uint64_t offset = 0;
        int r = 0;

        for (;;) {
                char block[1 << 16];
                ssize_t n = TEMP_FAILURE_RETRY(pread(fd, block, sizeof(block), (off_t)offset));

                if (n < 0)
                        r = -errno;
                if (n <= 0)
                        break;
                hasher_add(h, block, (size_t)n);
                offset += (uint64_t)n;
        }
        hasher_finish(h, ret);
        if (ret_size)
                *ret_size = offset;
        return r;
}

void digest_hex(const struct digest *d, char ret[DIGEST_HEX_SIZE])
{
        base16_encode_update(ret, DIGEST_SIZE, d->bytes);
        ret[2 * DIGEST_SIZE] = '\0';
}

struct digest_text digest_text(const struct digest *d)
{
        struct digest_text ret;

        digest_hex(d, ret.s);
        return ret;
}

uint64_t hash_quick(const void *data, size_t size)
{
        return XXH3_64bits(data, size);
}

int digest_compare(const void *a, const void *b)
{
        return memcmp(a, b, DIGEST_SIZE);
}

int digest_parse(const char *hex, struct digest *ret)
{
        struct base16_decode_ctx context;
        size_t size = DIGEST_SIZE;

        if (strlen(hex) != 2 * DIGEST_SIZE || strspn(hex, "0123456789abcdef") != 2 * DIGEST_SIZE) /* no upper case: one spelling per digest */
                return -EINVAL;
        base16_decode_init(&context);
        return base16_decode_update(&context, &size, ret->bytes, 2 * DIGEST_SIZE, hex) ? 0 : -EINVAL;
}

void digest_list_add(struct digest_list *l, const void *bytes)
{
        list_grow(l->list, l->n);
        memcpy(l->list[l->n++].bytes, bytes, DIGEST_SIZE);
}

void digest_list_sort(struct digest_list *l)
{
        sort_list(l->list, l->n, sizeof(*l->list), digest_compare);
}

const struct digest *digest_list_find(const struct digest_list *l, const struct digest *d)
{
        return find_in_list(d, l->list, l->n, sizeof(*l->list), digest_compare);
}

void digest_list_done(struct digest_list *l)
{
        free(l->list);
        *l = (struct digest_list){0};
}
