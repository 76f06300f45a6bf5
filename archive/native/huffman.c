/* Encodes bytes as a deflate block of literals with a dynamic Huffman code (RFC 1951); integers.py is its interface.
 * Equivalent to zlib with Z_HUFFMAN_ONLY, in a third of the time. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define SYMBOLS 257 /* bytes, and the end of the block */
#define END 256
#define LONGEST 15
#define LENGTHS 19 /* symbols that encode the lengths of codes */

struct leaf {
    uint32_t count;
    uint16_t symbol;
};

static int by_count(const void *one, const void *two) {
    const struct leaf *a = one, *b = two;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return (int)a->symbol - (int)b->symbol;
}

/* Computes code lengths by a Huffman tree over the symbols that occur; returns the longest. Leaves are sorted by
 * count, and so are the inner nodes as they are created, so the next node is the first of either list. */
static unsigned tree_lengths(const uint32_t *counts, uint8_t *lengths) {
    struct leaf leaves[SYMBOLS];
    uint32_t weight[2 * SYMBOLS];
    uint16_t parent[2 * SYMBOLS];
    unsigned used = 0, longest = 0;
    for (unsigned symbol = 0; symbol < SYMBOLS; symbol++)
        if (counts[symbol])
            leaves[used++] = (struct leaf){counts[symbol], (uint16_t)symbol};
    qsort(leaves, used, sizeof *leaves, by_count);
    for (unsigned i = 0; i < used; i++)
        weight[i] = leaves[i].count;
    unsigned leaf = 0, node = used, made = used;
    while (made < 2 * used - 1) {
        uint32_t sum = 0;
        for (int child = 0; child < 2; child++) {
            unsigned least = leaf < used && (node == made || weight[leaf] <= weight[node]) ? leaf++ : node++;
            sum += weight[least];
            parent[least] = (uint16_t)made;
        }
        weight[made++] = sum;
    }
    memset(lengths, 0, SYMBOLS);
    uint8_t depth[2 * SYMBOLS];
    depth[made - 1] = used == 1; /* a single code has one bit, too */
    if (used == 1)
        lengths[leaves[0].symbol] = longest = 1;
    for (unsigned i = made - 1; i-- > 0;) {
        depth[i] = (uint8_t)(depth[parent[i]] + 1);
        if (i < used) {
            lengths[leaves[i].symbol] = depth[i];
            longest = depth[i] > longest ? depth[i] : longest;
        }
    }
    return longest;
}

/* Computes lengths of at most LONGEST bits. */
static void code_lengths(uint32_t *counts, uint8_t *lengths) {
    while (tree_lengths(counts, lengths) > LONGEST)
        for (unsigned symbol = 0; symbol < SYMBOLS; symbol++)
            counts[symbol] = (counts[symbol] + 1) / 2; /* makes the tree less deep, at the cost of some bits */
}

/* Assigns ascending codes to each length, with their bits in writing order. */
static void make_codes(const uint8_t *lengths, uint16_t *codes) {
    unsigned of_length[LONGEST + 1] = {0}, next[LONGEST + 2] = {0};
    for (unsigned symbol = 0; symbol < SYMBOLS; symbol++)
        of_length[lengths[symbol]]++;
    of_length[0] = 0;
    for (unsigned length = 1; length <= LONGEST; length++)
        next[length + 1] = (next[length] + of_length[length]) << 1;
    for (unsigned symbol = 0; symbol < SYMBOLS; symbol++) {
        unsigned code = lengths[symbol] ? next[lengths[symbol]]++ : 0, turned = 0;
        for (unsigned bit = 0; bit < lengths[symbol]; bit++)
            turned |= (code >> bit & 1) << (lengths[symbol] - 1 - bit);
        codes[symbol] = (uint16_t)turned;
    }
}

struct bits {
    uint8_t *to;
    uint64_t held;
    unsigned count;
};

static inline void put(struct bits *bits, uint64_t value, unsigned count) {
    bits->held |= value << bits->count;
    bits->count += count;
}

/* Writes whole bytes; up to 7 bits remain buffered. */
static inline void flush(struct bits *bits) {
    while (bits->count >= 8) {
        *bits->to++ = (uint8_t)bits->held;
        bits->held >>= 8;
        bits->count -= 8;
    }
}

/* The same for many bits, if there is room after them. */
static inline void flush_many(struct bits *bits) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(bits->to, &bits->held, sizeof bits->held); /* only the whole bytes are kept */
    bits->to += bits->count >> 3;
    bits->held >>= bits->count & ~7u;
    bits->count &= 7;
#else
    flush(bits);
#endif
}

static void put_header(struct bits *bits, const uint8_t *lengths) {
    put(bits, 0, 1);           /* not the last block */
    put(bits, 2, 2);           /* with dynamic codes */
    put(bits, SYMBOLS - 257, 5);
    put(bits, 0, 5);           /* one distance code, which is unused */
    put(bits, LENGTHS - 4, 4);
    flush(bits);
    for (int i = 0; i < LENGTHS; i++) { /* 16, 17 and 18 encode repetitions, and come first: each other one has four
                                         * bits */
        put(bits, i < 3 ? 0 : 4, 3);
        flush(bits);
    }
    for (unsigned i = 0; i <= SYMBOLS; i++) {
        unsigned length = i < SYMBOLS ? lengths[i] : 0; /* and that of the distance */
        put(bits, (length & 1) << 3 | (length & 2) << 1 | (length & 4) >> 1 | length >> 3, 4);
        flush(bits);
    }
}

/* Writes a block of at most 2^31 bytes and an empty one to reach a byte boundary. to has room for twice as many
 * bytes plus 512. Returns the size written. */
EXPORT uint64_t huffman_block(const uint8_t *bytes, uint64_t count, uint8_t *to) {
    uint32_t counts[4][SYMBOLS] = {{0}}; /* neighbours are often equal: a single counter would stall */
    uint8_t lengths[SYMBOLS];
    uint16_t codes[SYMBOLS];
    struct bits bits = {to, 0, 0};
    uint64_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int at = 0; at < 4; at++)
            counts[at][bytes[i + at]]++;
    for (; i < count; i++)
        counts[0][bytes[i]]++;
    for (unsigned symbol = 0; symbol < SYMBOLS; symbol++)
        counts[0][symbol] += counts[1][symbol] + counts[2][symbol] + counts[3][symbol];
    counts[0][END] = 1;
    code_lengths(counts[0], lengths);
    make_codes(lengths, codes);
    put_header(&bits, lengths);
    for (i = 0; i + 3 <= count; i += 3) {
        for (int at = 0; at < 3; at++)
            put(&bits, codes[bytes[i + at]], lengths[bytes[i + at]]);
        flush_many(&bits);
    }
    for (; i < count; i++) {
        put(&bits, codes[bytes[i]], lengths[bytes[i]]);
        flush(&bits);
    }
    put(&bits, codes[END], lengths[END]);
    put(&bits, 0, 3); /* a stored block, not the last */
    flush(&bits);
    if (bits.count)
        *bits.to++ = (uint8_t)bits.held;
    static const uint8_t empty[] = {0, 0, 0xff, 0xff};
    memcpy(bits.to, empty, sizeof empty);
    return (uint64_t)(bits.to - to) + sizeof empty;
}
