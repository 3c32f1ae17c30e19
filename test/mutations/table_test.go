package main

import "testing"

// TestTableFitsTheCode checks that each edit finds its lines in the code of today:
// a change of those lines must not end the check of a promise unnoticed.
func TestTableFitsTheCode(t *testing.T) {
	t.Chdir("../..")
	for _, m := range mutations {
		if _, err := m.overlay(t.TempDir()); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
