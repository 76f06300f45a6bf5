/* A tracer for FTIO: pushes bursts as MessagePack maps {ranks, b, ts, te} and waits for replies of two doubles.
 *
 * ftio_sender REPLY_ENDPOINT: binds a PULL socket there and prints "reply ENDPOINT". Then it reads commands
 * from standard input:
 *   to ENDPOINT                connects its PUSH socket
 *   send FIRST COUNT RANKS     pushes bursts FIRST .. FIRST+COUNT-1, one message for each of RANKS ranks:
 *                              ten writes of 0.1 s at 1e7 bytes/s from second 10 * burst on
 *   raw HEX                    pushes these bytes
 * and answers each command with "done". Each reply is printed as "FREQUENCY CONFIDENCE BYTES". Ends with its input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { WRITES = 10 };

static unsigned char message[4096];
static size_t length;

static void put(const void *bytes, size_t count) {
    memcpy(message + length, bytes, count);
    length += count;
}

static void put_byte(unsigned value) {
    message[length++] = (unsigned char)value;
}

static void put_text(const char *text) {
    put_byte(0xa0 | (unsigned)strlen(text));
    put(text, strlen(text));
}

static void put_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_byte(0xcb);
    for (int shift = 56; shift >= 0; shift -= 8)
        put_byte((unsigned)(bits >> shift) & 0xff);
}

static void pack(int burst, int ranks) {
    const char *names[] = {"b", "ts", "te"};
    length = 0;
    put_byte(0x84);
    put_text("ranks");
    put_byte((unsigned)ranks);
    for (int array = 0; array < 3; array++) {
        put_text(names[array]);
        put_byte(0x90 | WRITES);
        for (int at = 0; at < WRITES; at++) {
            double start = 10.0 * burst + 0.1 * at;
            put_double(array == 0 ? 1e7 : array == 1 ? start : start + 0.1);
        }
    }
}

static void push(void *socket) {
    if (zmq_send(socket, message, length, 0) < 0) {
        fprintf(stderr, "send: %s\n", zmq_strerror(zmq_errno()));
        exit(1);
    }
}

static void obey(void *socket, char *order) {
    int first, count, ranks;
    unsigned byte;
    order[strcspn(order, "\n")] = 0;
    if (strncmp(order, "to ", 3) == 0) {
        if (zmq_connect(socket, order + 3) != 0) {
            fprintf(stderr, "connect: %s\n", zmq_strerror(zmq_errno()));
            exit(1);
        }
    } else if (sscanf(order, "send %d %d %d", &first, &count, &ranks) == 3) {
        for (int burst = first; burst < first + count; burst++)
            for (int rank = 0; rank < ranks; rank++) {
                pack(burst, ranks);
                push(socket);
            }
    } else if (strncmp(order, "raw ", 4) == 0) {
        length = 0;
        for (const char *hex = order + 4; sscanf(hex, "%2x", &byte) == 1; hex += 2)
            put_byte(byte);
        push(socket);
    }
    puts("done");
}

int main(int argc, char **argv) {
    char endpoint[256], order[8192];
    size_t size = sizeof endpoint;
    void *context = zmq_ctx_new(), *in = zmq_socket(context, ZMQ_PULL), *out = zmq_socket(context, ZMQ_PUSH);
    int linger = 1000;
    zmq_setsockopt(out, ZMQ_LINGER, &linger, sizeof linger);
    if (argc != 2 || zmq_bind(in, argv[1]) != 0)
        return 2;
    zmq_getsockopt(in, ZMQ_LAST_ENDPOINT, endpoint, &size);
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stdin, NULL, _IONBF, 0); /* so that poll on descriptor 0 reports all input */
    printf("reply %s\n", endpoint);
    for (;;) {
        zmq_pollitem_t items[] = {{in, 0, ZMQ_POLLIN, 0}, {NULL, 0, ZMQ_POLLIN, 0}};
        zmq_poll(items, 2, -1);
        if (items[0].revents) {
            double reply[2] = {0, 0};
            int bytes = zmq_recv(in, reply, sizeof reply, 0);
            printf("%.17g %.17g %d\n", reply[0], reply[1], bytes);
        }
        if (items[1].revents) {
            if (fgets(order, sizeof order, stdin) == NULL)
                break;
            obey(out, order);
        }
    }
    zmq_close(out);
    zmq_close(in);
    zmq_ctx_term(context);
    return 0;
}
