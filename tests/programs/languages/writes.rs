// Writes 100,000 bytes to each of out1 to out5, in the ways that Rust has.
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, IoSlice, Write};
use std::os::unix::fs::FileExt;

fn main() -> std::io::Result<()> {
    fs::write("out1", vec![0u8; 100000])?;
    let mut buffered = BufWriter::new(File::create("out2")?);
    for _ in 0..10000 {
        buffered.write_all(b"0123456789")?;
    }
    buffered.flush()?;
    let file = File::create("out3")?;
    for i in 0..100u64 {
        file.write_at(&[0u8; 1000], i * 1000)?;
    }
    file.sync_all()?;
    fs::copy("out1", "out4")?;
    let mut end = OpenOptions::new().create(true).append(true).open("out5")?;
    end.write_vectored(&[IoSlice::new(&[0u8; 60000]), IoSlice::new(&[0u8; 40000])])?;
    println!("{}", fs::read("out2")?.len());
    Ok(())
}
