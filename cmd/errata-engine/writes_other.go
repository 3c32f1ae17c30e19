//go:build darwin && (amd64 || arm64)

package main

import "errors"

// tellWrites changes nothing here.
func tellWrites(path, name string, known uintptr) error {
	return errors.New("not known on this system")
}
