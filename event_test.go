package errata_test

import (
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
)

// The rule is the same for texts and for bytes, and what is no UUID stays as it is.
func TestShortUUID(t *testing.T) {
	const plain, dashed = "6dc715abb89b4f6694ff46ae15f7dfb8", "6dc715ab-b89b-4f66-94ff-46ae15f7dfb8"
	for _, c := range []struct {
		id, short string
		ok        bool
	}{
		{plain, plain, true},
		{dashed, plain, true},
		{strings.ToUpper(plain), plain, true},
		{strings.ToUpper(dashed), plain, true},
		{strings.Repeat("0", 32), strings.Repeat("0", 32), true},
		{"", "", false},
		{"Order-1", "Order-1", false},
		{plain + "0", plain + "0", false},
		{plain[1:], plain[1:], false},
		{"G" + plain[1:], "G" + plain[1:], false},
		{"6DC715ABB89B4F66-94FF-46AE15F7DFB-B8-", "6DC715ABB89B4F66-94FF-46AE15F7DFB-B8-", false},
		{"6dc715abb-89b-4f66-94ff-46ae15f7dfb8", "6dc715abb-89b-4f66-94ff-46ae15f7dfb8", false},
		{plain + "----", plain + "----", false},
		{strings.Repeat("-", 36), strings.Repeat("-", 36), false},
	} {
		text, ok := errata.ShortUUID(c.id)
		if text != c.short || ok != c.ok {
			t.Errorf("%q is %q, %v; want %q, %v", c.id, text, ok, c.short, c.ok)
		}
		bytes, ok := errata.ShortUUID([]byte(c.id))
		if string(bytes) != c.short || ok != c.ok {
			t.Errorf("the bytes %q are %q, %v; want %q, %v", c.id, bytes, ok, c.short, c.ok)
		}
	}
}
