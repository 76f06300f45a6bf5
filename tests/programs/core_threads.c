/* The tracer's core on many threads at once, without wrappers. This allows a build with ThreadSanitizer, whose
 * runtime calls the wrappers before it is initialised.
 * usage: core_threads FOLDER; needs the tracer's environment. */
#include "state/library_copies.h"
#include "tracer.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS 400

static struct iotide_site SITE(work) = {.layer = LAYER_OTHER, .kind = KIND_WRITE,
                                        SITE_TEXT("work", "work(text:s,number:i)")};
static struct iotide_site SITE(cos) = {.layer = LAYER_OTHER, .gate = 1, SITE_TEXT("cos", "cos(x:g)")};
static struct iotide_gate gates[2];
static void *next_of(const char *symbol) {
    return dlsym(RTLD_DEFAULT, symbol);
}
static const struct iotide_library library = {.anchor = "cos", .next = next_of, .gates = gates, .gate_count = 2};
static const char *folder;

static void *work(void *number) {
    char path[4096], text[64];
    for (int round = 0; round < ROUNDS; round++) {
        snprintf(path, sizeof path, "%s/%d", folder, round % 50);
        snprintf(text, sizeof text, "text %d", round % 70);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        if (fd < 0)
            exit(2);
        struct iotide_target target = iotide_register_open(fd, AT_FDCWD, path);
        uint32_t handle = iotide_new_handle();
        struct iotide_span span = iotide_push(&SITE(work), handle);
        iotide_bind(LAYER_OTHER, (uint64_t)(round % 90), target);
        iotide_object(LAYER_OTHER, (uint64_t)(round % 60));
        if (round % 7 == 0)
            iotide_unbind(LAYER_OTHER, (uint64_t)(round % 90));
        if (!iotide_real_for_caller(&library, &SITE(cos), __builtin_return_address(0)))
            exit(3);
        iotide_descriptor_target(fd);
        iotide_stream_target(fd);
        iotide_register_duplicate(fd, fd + 100);
        iotide_set_rank((int32_t)(long)number, THREADS);
        iotide_pop(span);
        if (span.start_ns) {
            uint64_t words[2] = {iotide_define_string(text), (uint64_t)round};
            struct iotide_facts facts = {.target = target, .offset = -1, .requested = 10, .bytes = 10, .descriptor = fd,
                                         .kind = KIND_WRITE};
            iotide_leave(span, &SITE(work), facts, words, 2);
        }
        iotide_unregister_descriptor(fd);
        close(fd);
    }
    return NULL;
}

int main(int count, char **words) {
    if (count != 2)
        return 1;
    folder = words[1];
    for (int wave = 0; wave < 4; wave++) {
        pthread_t all[THREADS];
        for (long i = 0; i < THREADS; i++)
            if (pthread_create(&all[i], NULL, work, (void *)i) != 0)
                return 2;
        for (int i = 0; i < THREADS; i++)
            pthread_join(all[i], NULL);
    }
    puts("done");
    return 7;
}
