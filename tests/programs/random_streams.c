/* Random calls on streams, mixed with characters moved in the buffer itself. argv: folder, seed, number of steps, and what
 * else: "threads" (a second thread uses streams of its own), "forks" (children use inherited streams), "killed" or
 * "killed-threads" (it ends by SIGKILL), or "-".
 * Output: one line "FILE read BYTES" or "FILE written BYTES" per stream, by its own account. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PUT(c, f) ((f)->_IO_write_ptr >= (f)->_IO_write_end ? __overflow(f, (unsigned char)(c)) : (*(f)->_IO_write_ptr++ = (char)(c)))
#define GET(f) ((f)->_IO_read_ptr >= (f)->_IO_read_end ? __uflow(f) : *(unsigned char *)(f)->_IO_read_ptr++)
#define STREAMS 6
#define FILE_BYTES 20000

struct stream {
    FILE *file;
    char name[64], path[4096];
    long read, written; /* bytes */
    int output;
    char buffers[2][1000];
};

struct worker {
    const char *folder;
    unsigned seed;
    int steps, number, forks, threads;
    struct stream streams[STREAMS];
};

static int chosen(struct worker *self, int below) {
    return (int)((unsigned)rand_r(&self->seed) % (unsigned)below);
}

static void open_one(struct worker *self, struct stream *of) {
    of->file = fopen(of->path, of->output ? "a" : "r");
    if (!of->file)
        exit(2);
    int size = chosen(self, 4);
    if (size)
        setvbuf(of->file, NULL, size == 1 ? _IONBF : _IOFBF, size == 1 ? 0 : size == 2 ? 100 : 10000);
}

static void write_some(struct worker *self, struct stream *of) {
    int count = 1 + chosen(self, 300);
    char text[400];
    memset(text, 'x', sizeof text);
    text[count] = '\0';
    FILE *file = of->file;
    switch (chosen(self, 8)) {
    case 0:
        for (int i = 0; i < count; i++)
            putc('a', file);
        break;
    case 1:
        for (int i = 0; i < count; i++)
            PUT('b', file);
        break;
    case 2:
        for (int i = 0; i < count; i++)
            i % 3 ? fputc('a', file) : PUT('b', file);
        break;
    case 3: fputs(text, file); break;
    case 4: count = fprintf(file, "%d %s\n", count, text); break;
    case 5: fwrite(text, 1, (size_t)count, file); break;
    case 6: count = chosen(self, 2) ? 0 : fflush(file); break;
    default:
        count = 0;
        fflush(self->threads ? file : NULL); /* all would be those of the other thread, too */
    }
    of->written += count;
}

static void read_some(struct worker *self, struct stream *of) {
    int count = 1 + chosen(self, 300), got = 0;
    char text[4000];
    FILE *file = of->file;
    switch (chosen(self, 9)) {
    case 0:
        while (got < count && getc(file) != EOF)
            got++;
        break;
    case 1:
        while (got < count && GET(file) != EOF)
            got++;
        break;
    case 2:
        while (got < count && (got % 3 ? fgetc(file) : GET(file)) != EOF)
            got++;
        break;
    case 3: got = fgets(text, sizeof text, file) ? (int)strlen(text) : 0; break;
    case 4: got = (int)fread(text, 1, (size_t)count, file); break;
    case 5: fseek(file, chosen(self, FILE_BYTES), SEEK_SET); break;
    case 6: rewind(file); break;
    case 7: {
        int seen = getc(file);
        if (seen != EOF)
            ungetc(seen, file);
        break;
    }
    default:
        got = (int)fread(text, 1, 1, file);
        if (got && (ungetc(text[0], file) == EOF || getc(file) == EOF))
            exit(3);
    }
    of->read += got;
}

/* The child's own bytes, which it passes on by its status. */
static void fork_one(struct worker *self, struct stream *of) {
    if (of->output && chosen(self, 2))
        PUT('d', of->file), of->written++;
    else if (!of->output && chosen(self, 2) && GET(of->file) != EOF)
        of->read++; /* uncalled, so before the child's */
    if (of->output)
        fflush(of->file);
    int count = 1 + chosen(self, 100);
    pid_t child = fork();
    if (child == 0) {
        int done = 0;
        for (; done < count; done++)
            if (of->output ? (count % 3 ? putc('c', of->file) : PUT('c', of->file)) == EOF
                           : (count % 3 ? getc(of->file) : GET(of->file)) == EOF)
                break;
        if (of->output)
            fflush(of->file);
        if (done % 2 || count % 3 == 0) /* inlined characters are only seen if a call follows */
            fclose(of->file);
        _exit(done);
    }
    int status = 0;
    waitpid(child, &status, 0);
    *(of->output ? &of->written : &of->read) += WEXITSTATUS(status);
}

static void *work(void *from) {
    struct worker *self = from;
    for (int i = 0; i < STREAMS; i++) {
        struct stream *of = &self->streams[i];
        snprintf(of->name, sizeof of->name, "file-%d-%d", self->number, i);
        snprintf(of->path, sizeof of->path, "%s/%s", self->folder, of->name);
        of->output = i % 2;
        open_one(self, of);
    }
    for (int step = 0; step < self->steps; step++) {
        struct stream *of = &self->streams[chosen(self, STREAMS)];
        int what = chosen(self, 50);
        if (what == 0) {
            fclose(of->file);
            open_one(self, of);
        } else if (what == 1 && self->forks)
            fork_one(self, of);
        else if (what == 2) {
            if (!of->output)
                fseek(of->file, 0, SEEK_CUR); /* setvbuf frees a wrong buffer after ungetc */
            setvbuf(of->file, of->buffers[chosen(self, 2)], _IOFBF, sizeof of->buffers[0]);
        } else if (of->output)
            write_some(self, of);
        else
            read_some(self, of);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 5)
        return 2;
    int threads = strstr(arguments[4], "threads") != NULL, forks = !strcmp(arguments[4], "forks");
    static struct worker workers[2];
    for (int i = 0; i < 2; i++)
        workers[i] = (struct worker){.folder = arguments[1],
                                     .seed = (unsigned)atoi(arguments[2]) + (unsigned)i,
                                     .steps = atoi(arguments[3]),
                                     .number = i,
                                     .forks = forks,
                                     .threads = threads};
    pthread_t thread;
    if (threads)
        pthread_create(&thread, NULL, work, &workers[1]);
    work(&workers[0]);
    if (threads)
        pthread_join(thread, NULL);
    for (int i = 0; i <= threads; i++)
        for (int j = 0; j < STREAMS; j++) {
            struct stream *of = &workers[i].streams[j];
            printf("%s %s %ld\n", of->name, of->output ? "written" : "read", of->output ? of->written : of->read);
        }
    if (strstr(arguments[4], "killed")) {
        fflush(stdout);
        kill(getpid(), SIGKILL);
    }
    return 0; /* all streams are open at the exit */
}
