package testenv

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package with one ClickHouse for all of them, which
// saves its start before every test, and fails when a goroutine is left at the
// end. A TestMain needs nothing else:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
func Main(m *testing.M, options ...goleak.Option) {
	sharedClickHouse.keep()
	code := m.Run()
	if err := sharedClickHouse.stopKept(); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		code = max(code, 1)
	}
	stopContainers()
	if code == 0 {
		if err := goleak.Find(append(GoleakOptions(), options...)...); err != nil {
			fmt.Fprintln(os.Stderr, "testenv: goroutines are left after the tests:", err)
			code = 1
		}
	}
	os.Exit(code)
}
