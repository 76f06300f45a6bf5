"""Make many kinds of system calls, in threads and children, with signals, on files with unusual names.

usage: many_calls.py FOLDER
"""
# ruff: noqa: PTH102, PTH108, PTH116, PTH118, PTH104

import contextlib
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

folder = os.path.join(sys.argv[1], "häß <x> 名前")
os.mkdir(folder)


def work(number: int) -> None:
    path = os.path.join(folder, f'f {number}\n\t"q" \\ {{}} ')
    target = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for step in range(40):
        os.pwrite(target, b"x) = 3 <0.1>\n" * 10, step * 130)
        os.lseek(target, 0, os.SEEK_SET)
        os.read(target, 100)
        os.writev(target, [b"a", b"b"])
        os.preadv(target, [bytearray(5)], 0)
        time.sleep(0.0005)
    os.fsync(target)
    os.ftruncate(target, 10)
    mmap.mmap(target, 10).close()
    os.close(target)
    os.rename(path, path + "2")
    os.stat(path + "2")
    os.unlink(path + "2")


def talk() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    accepted, _ = server.accept()
    accepted.sendall(b"hi\n")
    client.recv(10)
    client.sendmsg([b"x", b"y"])
    accepted.recvmsg(10)
    left, right = socket.socketpair()
    left.send(b"x")
    right.recv(1)
    with contextlib.suppress(OSError):  # a machine without IPv6
        datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        datagrams.bind(("::1", 0))
        datagrams.sendto(b"x", datagrams.getsockname())
    local = socket.socket(socket.AF_UNIX)
    os.chdir(folder)
    local.bind("socket ä")


def name_oddly() -> None:
    for name in (b"/nonexist/\xff\xfe", "/nonexist/ü"):
        with contextlib.suppress(OSError):
            os.open(name, 0)
    bad = os.open(os.fsencode(folder) + b"/bad\xff\xfe", os.O_CREAT | os.O_WRONLY)
    os.write(bad, b"\xff\x00" * 20)
    gone = os.open(folder + "/gone", os.O_CREAT | os.O_WRONLY)
    os.unlink(folder + "/gone")
    os.write(gone, b"after")
    memory = os.memfd_create("memory ä")
    os.write(memory, b"abc")
    counter = os.eventfd(0)
    os.eventfd_write(counter, 3)
    events = select.epoll()
    events.register(counter)
    events.poll(0.01)


def have_children() -> None:
    readable, writable = os.pipe()
    later = threading.Timer(0.05, os.write, (writable, b"z"))
    later.start()
    os.read(readable, 1)
    subprocess.run(["sh", "-c", "ls -l / | head -3; seq 100 | sort -n | tail -1; kill -USR1 $$"], check=False)
    sleeper = subprocess.Popen(["sleep", "60"])
    sleeper.kill()
    sleeper.wait()
    child = os.fork()
    if child == 0:
        os.read(readable, 1)  # is killed in it
    time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.sendfile(writable, os.open("/etc/passwd", 0), 0, 10)


signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
talk()
name_oddly()
have_children()
for thread in threads:
    thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
