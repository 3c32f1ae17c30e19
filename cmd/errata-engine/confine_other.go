//go:build darwin && (amd64 || arm64)

package main

import "errors"

// confine takes nothing here.
func confine(data, run string) error {
	return errors.New("this system has no Landlock")
}
