// Writes 100,000 bytes to out1 and to out2.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	os.WriteFile("out1", make([]byte, 100000), 0o644)
	file, _ := os.Create("out2")
	out := bufio.NewWriter(file)
	for i := 0; i < 10000; i++ {
		out.WriteString("0123456789")
	}
	out.Flush()
	file.Close()
	read, _ := os.ReadFile("out2")
	fmt.Println(len(read))
}
