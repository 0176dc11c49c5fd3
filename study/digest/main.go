// Time the digest that snapd takes of a new image, as osutil.FileDigest does.
//
//	cd study/digest && go run . IMAGE... > ../data/refresh-digest.csv
//
// A row has the least of five rounds, from memory; the CSV the least of four such runs,
// three of them with other programs stopped. The module is the one that snapd's
// go.mod names (commit bee548f).
package main

import (
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/sha3"
)

const (
	bufferBytes = 2 << 20 // hashDigestBufSize of snapd
	rounds      = 5
)

func digest(path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return io.CopyBuffer(sha3.New384(), file, make([]byte, bufferBytes))
}

func main() {
	fmt.Println("pair,codec,bytes,seconds")
	for _, path := range os.Args[1:] {
		least, length := math.Inf(1), int64(0)
		for round := 0; round < rounds; round++ {
			started := time.Now()
			read, err := digest(path)
			if err != nil {
				log.Fatal(err)
			}
			least, length = math.Min(least, time.Since(started).Seconds()), read
		}
		folder := filepath.Dir(path)
		pair := filepath.Base(filepath.Dir(folder))
		fmt.Printf("%s,%s,%d,%.6f\n", pair, filepath.Base(folder), length, least)
	}
}
