/* I/O before main and after it: static objects, constructor and destructor functions, atexit, objects of threads.
 * usage: IOTIDE_TEST_FILE=FILE early_late; calls are counted as in counted.h. */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "past_libc.h"

enum { CREATE = 1, DESTROY = 3, WRITE = 8, KINDS = 10 };

static std::atomic<uint64_t> *made() {
    static std::atomic<uint64_t> *counters;
    if (!counters) {
        std::string name = std::string(getenv("IOTIDE_TEST_FILE")) + ".made";
        int fd = (int)syscall(SYS_openat, AT_FDCWD, name.c_str(), O_CREAT | O_RDWR, 0600);
        if (fd < 0 || syscall(SYS_ftruncate, fd, KINDS * sizeof *counters) != 0)
            _exit(2);
        counters = (std::atomic<uint64_t> *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        syscall(SYS_close, fd);
    }
    return counters;
}

static void write_own(const char *suffix) {
    std::string name = std::string(getenv("IOTIDE_TEST_FILE")) + suffix;
    int fd = open(name.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0 || write(fd, "0123456789", 10) != 10 || close(fd) != 0)
        _exit(2);
    made()[CREATE]++;
    made()[WRITE]++;
    made()[DESTROY]++;
}

struct Writer {
    const char *suffix;
    explicit Writer(const char *name) : suffix(name) { write_own(suffix); }
    ~Writer() { write_own(suffix); }
};

static Writer object(".object");
static thread_local Writer *of_thread;
struct ThreadEnd {
    ~ThreadEnd() { write_own(".thread-end"); }
};
static thread_local ThreadEnd thread_end;

__attribute__((constructor(102))) static void first() { write_own(".constructor"); }
__attribute__((destructor(102))) static void last() { write_own(".destructor"); }
static void at_exit() { write_own(".atexit"); }

int main() {
    atexit(at_exit);
    for (int i = 0; i < 10; i++)
        std::thread([] {
            (void)&thread_end;
            (void)of_thread;
            write_own(".thread");
        }).join();
    {
        std::ofstream stream(std::string(getenv("IOTIDE_TEST_FILE")) + ".stream");
        stream << "text\n";
    }
    write_own("");
    return syscall(SYS_write, 1, "done\n", 5) == 5 ? 7 : 2;
}
