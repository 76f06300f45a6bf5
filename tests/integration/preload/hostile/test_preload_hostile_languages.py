"""Languages with their own run-time system under the tracer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from iotide.events import Kind
from support.tracing.own_accounts import run_both
from support.tracing.programs import need
from support.tracing.tracing import Tracing

POOL = """
import multiprocessing, sys, threading
def work(number):
    with open(f"{sys.argv[1]}.{number}", "wb", buffering=0) as out:
        for _ in range(20):
            out.write(bytes(1000))
    return number
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[2]).Pool(3) as pool:
        threads = [threading.Thread(target=work, args=(f"thread{number}",)) for number in range(4)]
        for thread in threads: thread.start()
        print(sum(pool.map(work, range(12), chunksize=1)))
        for thread in threads: thread.join()
"""

JAVA = """
import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;

public class Writer {
    public static void main(String[] words) throws Exception {
        try (FileOutputStream out = new FileOutputStream(words[0] + ".stream")) {
            for (int i = 0; i < 100; i++) out.write(new byte[1000]);
        }
        Thread[] threads = new Thread[4];
        for (int number = 0; number < threads.length; number++) {
            Path path = Path.of(words[0] + "." + number);
            threads[number] = new Thread(() -> {
                try (FileChannel out = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                    for (int i = 0; i < 50; i++) out.write(ByteBuffer.allocate(1000), i * 1000L);
                } catch (IOException error) {
                    throw new UncheckedIOException(error);
                }
            });
            threads[number].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(Files.readAllBytes(Path.of(words[0] + ".stream")).length);
    }
}
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_python_with_a_pool_of_processes_and_threads_is_seen_to_the_byte(
    tracing: Tracing, tmp_path: Path, method: str
) -> None:
    script, file = tmp_path / "pool.py", tmp_path / "out"
    script.write_text(POOL)
    done = run_both(tracing, [sys.executable, script, file, method], file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "66\n", "")
    written = tracing.bytes_by_path(Kind.WRITE)
    names = [*map(str, range(12)), *(f"thread{number}" for number in range(4))]
    assert {name: written[f"{file}.{name}"] for name in names} == dict.fromkeys(names, 20_000)


def test_java_is_seen_to_the_byte(tracing: Tracing, tmp_path: Path) -> None:
    need("javac")  # which runs classes from source
    source, file = tmp_path / "Writer.java", tmp_path / "out"
    source.write_text(JAVA)
    done = run_both(tracing, ["java", "-XX:TieredStopAtLevel=1", source, file], file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "100000\n", "")
    written, read = tracing.bytes_by_path(Kind.WRITE), tracing.bytes_by_path(Kind.READ)
    assert written[f"{file}.stream"] == read[f"{file}.stream"] == 100_000
    assert {number: written[f"{file}.{number}"] for number in range(4)} == dict.fromkeys(range(4), 50_000)
