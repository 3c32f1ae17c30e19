//go:build darwin && (amd64 || arm64)

package main

// letGoOfStart changes nothing here.
func letGoOfStart(path, name string, known uintptr) error { return nil }
