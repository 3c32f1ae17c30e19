package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/errata-log/errata/engine"
)

// FindEngine says where the parts of the embedded ClickHouse are that a
// service with these options would run. The error says what to do about one
// that is missing.
func FindEngine(o Options) (string, error) {
	library, err := engine.FindLibrary(o.LibCHDB)
	if err != nil {
		return "", err
	}
	binary := o.EngineBinary
	if binary == "" {
		program, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find the folder of this program: %w", err)
		}
		if program, err = filepath.EvalSymlinks(program); err != nil {
			return "", fmt.Errorf("find the folder of this program: %w", err)
		}
		binary = filepath.Join(filepath.Dir(program), "errata-engine")
	}
	if info, err := os.Stat(binary); err != nil || info.IsDir() {
		return "", fmt.Errorf("the program %s, which runs the embedded ClickHouse, does not exist", binary)
	}
	return binary + " with " + library, nil
}
