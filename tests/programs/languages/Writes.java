import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;

/** Writes 100,000 bytes to each of out1 to out7, in the ways that Java has. */
public class Writes {
    public static void main(String[] words) throws Exception {
        try (FileOutputStream out = new FileOutputStream("out1")) {
            out.write(new byte[100000]);
        }
        try (BufferedWriter out = Files.newBufferedWriter(Path.of("out2"))) {
            for (int i = 0; i < 10000; i++) out.write("0123456789");
        }
        OpenOption[] both = {StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE};
        try (FileChannel out = FileChannel.open(Path.of("out3"), both)) {
            for (int i = 0; i < 10; i++) out.write(ByteBuffer.allocateDirect(10000), i * 10000);
            MappedByteBuffer memory = out.map(FileChannel.MapMode.READ_WRITE, 0, 100000);
            for (int i = 0; i < 100000; i++) memory.put(i, (byte) 1);
            memory.force();
        }
        try (RandomAccessFile out = new RandomAccessFile("out4", "rw")) {
            for (int i = 0; i < 100; i++) out.write(new byte[1000]);
        }
        try (AsynchronousFileChannel out = AsynchronousFileChannel.open(Path.of("out5"), both)) {
            out.write(ByteBuffer.allocate(100000), 0).get();
        }
        Files.copy(Path.of("out1"), Path.of("out6"));
        try (FileChannel from = FileChannel.open(Path.of("out1")); FileChannel to = FileChannel.open(Path.of("out7"), both)) {
            from.transferTo(0, 100000, to);
        }
        System.out.println(Files.readAllBytes(Path.of("out2")).length);
    }
}
