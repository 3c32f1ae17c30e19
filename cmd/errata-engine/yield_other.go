//go:build !unix

package main

// yield is not known here.
func yield() {}
