/* Calls with unusual spellings of paths, and files that replace one another. paths NAME FOLDER */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Each of these concerns a file below FOLDER/left. */
static void spell(void) {
    struct stat facts;
    mkdir("left", 0755);
    mkdir("kept", 0755);
    chdir("kept");
    stat("../left/a", &facts);
    stat("..//left//a", &facts);
    stat("./../left/./a", &facts);
    stat("../../../../../../../../../../../../../../../..", &facts); /* the root: kept */
    mkdir("../left/b", 0755);
    rename("../left/b", "../left/c");
    open("../left/none", O_RDONLY);
    unlink("../kept/../left/none");
    char target[64];
    readlink("../left/c", target, sizeof target); /* is no link */
    chdir("../left");
    stat("../kept/seen", &facts);
    stat("../left/../leftover", &facts);
}

/* An inode is free again once its file is removed, and the next file of a folder often gets it. */
static void replace(void) {
    for (int step = 0; step < 8; step++) {
        char name[16];
        snprintf(name, sizeof name, "step%d", step);
        mkdir(name, 0755);
        chdir(name);
        int fd = open("out.dat", O_CREAT | O_WRONLY, 0644);
        write(fd, "tide", 4);
        close(fd);
        unlink("out.dat");
        chdir("..");
        rmdir(name);
    }
}

/* The same file, which has another path each time. */
static void move(void) {
    mkdir("one", 0755);
    mkdir("two", 0755);
    for (int turn = 0; turn < 4; turn++) {
        chdir(turn % 2 ? "two" : "one");
        int fd = open("out.dat", O_CREAT | O_WRONLY, 0644);
        write(fd, "tide", 4);
        close(fd);
        chdir("..");
        rename(turn % 2 ? "two/out.dat" : "one/out.dat", turn % 2 ? "one/out.dat" : "two/out.dat");
    }
}

/* File systems take the creation time of a file from this clock, which ticks every few milliseconds. */
static void next_tick(void) {
    struct timespec begun, now;
    clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    do
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    while (now.tv_sec == begun.tv_sec && now.tv_nsec == begun.tv_nsec);
}

/* A link that points to another folder at each step. */
static void relink(void) {
    for (int step = 0; step < 8; step++) {
        char name[16];
        snprintf(name, sizeof name, "step%d", step);
        mkdir(name, 0755);
        symlink(name, "latest");
        int fd = open("latest/out.dat", O_CREAT | O_WRONLY, 0644);
        write(fd, "tide", 4);
        close(fd);
        unlink("latest/out.dat");
        unlink("latest");
        rmdir(name);
        next_tick();
    }
}

int main(int count, char **words) {
    if (count < 3 || chdir(words[2]) != 0)
        return 2;
    if (strcmp(words[1], "spell") == 0)
        spell();
    else if (strcmp(words[1], "replace") == 0)
        replace();
    else if (strcmp(words[1], "move") == 0)
        move();
    else if (strcmp(words[1], "relink") == 0)
        relink();
    return 0;
}
