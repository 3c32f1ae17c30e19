package disk

import "testing"

// TestFsyncIsKept runs the check of the disk itself, on a real mount.
func TestFsyncIsKept(t *testing.T) {
	if err := Usable(); err != nil {
		t.Skip(err) // reason: mounts need root; the gate itself says what it leaves out
	}
	report, err := Check(t.TempDir(), 7, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report)
}
