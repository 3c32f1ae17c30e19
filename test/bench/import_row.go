package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/errata-log/errata/internal/proc"
)

const (
	// One in traceEvery entries of the file has a trace of traceLines lines
	// behind it; importProblems is the number of problems of each kind.
	traceEvery     = 20
	traceLines     = 5
	importProblems = 1000
)

// imports measures the import of one PHP error log through the HTTP API until the
// answer, when all of it is visible.
func (b *bench) imports() error {
	path := filepath.Join(b.dir, "import", "legacy", "system", "php_errors.log")
	entries, bytes, err := writePHPLog(path, b.sizes.lines)
	if err != nil {
		return err
	}
	var answer struct {
		Data struct{ Count, Unreadable int } `json:"data"`
	}
	highest := proc.Highest(func() (int64, error) { return proc.ResidentBytes(os.Getpid()) })
	began := time.Now()
	err = b.admin(context.Background(), http.MethodPost, errorsPath+"/rebuild", nil, &answer)
	took := time.Since(began)
	most, memoryErr := highest()
	if err = errors.Join(err, memoryErr); err != nil {
		return err
	}
	if answer.Data.Count != entries || answer.Data.Unreadable != 0 {
		return fmt.Errorf("%d entries were imported and %d not readable, want %d and 0", answer.Data.Count, answer.Data.Unreadable, entries)
	}
	row{name: fmt.Sprintf("import, %s lines", sizeName(b.sizes.lines)), ours: float64(b.sizes.lines) / took.Seconds(), unit: "lines/s",
		note: fmt.Sprintf("%s s until visible, %d entries, %s MB/s; at most %s MB of memory",
			figure(took.Seconds()), entries, figure(float64(bytes)/1e6/took.Seconds()), figure(float64(most)/megabyte))}.write(b.out)
	return nil
}

// writePHPLog writes that many lines as PHP's error_log does, and returns how
// many entries and bytes they are. The last entry may lack lines of its trace.
func writePHPLog(path string, lines int) (entries int, bytes int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, 0, err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	for written := 0; written < lines; entries++ {
		problem := int(draw(entries, ofPlace) % importProblems)
		fmt.Fprintf(out, "[%s UTC] ", at.Add(time.Duration(entries)*time.Second).Format("02-Jan-2006 15:04:05")) // Flush returns the error
		written++
		if entries%traceEvery != 0 {
			fmt.Fprintf(out, "PHP Warning:  Undefined variable $order in /var/www/shop/src/Order/Loader%d.php on line %d\n", problem, 10+problem)
			continue
		}
		fmt.Fprintf(out, "PHP Fatal error:  Uncaught RuntimeException: order %d failed in /var/www/shop/src/Order/Loader%d.php:%d\n", entries, problem, 20+problem)
		for _, line := range [traceLines]string{
			"Stack trace:", "#0 /var/www/shop/src/Cart.php(33): Shop\\Order->load('4711', Array)",
			"#1 /var/www/shop/vendor/acme/Kernel.php(5): Shop\\Cart->show(Object(Shop\\User))", "#2 {main}",
			fmt.Sprintf("  thrown in /var/www/shop/src/Order/Loader%d.php on line %d", problem, 20+problem),
		} {
			if written < lines {
				fmt.Fprintln(out, line)
				written++
			}
		}
	}
	err = out.Flush()
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return 0, 0, err
	}
	return entries, info.Size(), nil
}
