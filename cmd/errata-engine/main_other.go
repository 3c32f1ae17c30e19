//go:build !((linux || darwin) && (amd64 || arm64))

// Command errata-engine is the embedded ClickHouse, which does not exist for
// this platform.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "errata-engine: there is no embedded ClickHouse for this platform; set ERRATA_CLICKHOUSE_DSN to use a ClickHouse server instead")
	os.Exit(69)
}
