//go:build !(linux || darwin)

package engine

import "errors"

// diskRoom is not known here.
func diskRoom(string) (free, total int64, err error) {
	return 0, 0, errors.New("the free space of a disk is not known on this system")
}

// syncDisks is not needed: nothing is embedded here.
func syncDisks() {}
