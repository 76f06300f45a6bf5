// Writes 100,000 bytes to each of out1 to out7, in the ways that Node has.
const fs = require("fs");

async function main() {
    fs.writeFileSync("out1", Buffer.alloc(100000));
    await fs.promises.writeFile("out2", Buffer.alloc(100000));
    const stream = fs.createWriteStream("out3");
    for (let i = 0; i < 10; i++) stream.write(Buffer.alloc(10000));
    await new Promise((done) => stream.end(done));
    await fs.promises.copyFile("out1", "out4");
    const file = await fs.promises.open("out5", "w");
    for (let i = 0; i < 100; i++) await file.write(Buffer.alloc(1000), 0, 1000, i * 1000);
    await file.sync();
    await file.close();
    fs.appendFileSync("out6", "x".repeat(100000));
    const parts = fs.openSync("out7", "w");
    fs.writevSync(parts, [Buffer.alloc(50000), Buffer.alloc(50000)]);
    fs.closeSync(parts);
    console.log((await fs.promises.readFile("out2")).length);
}

main();
