//go:build !unix

package main

// yield does nothing on this system.
func yield() {}
