package errata_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
)

func TestSignatureText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := errata.Signature(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes"))
		for _, text := range []string{s.String(), strings.ToUpper(s.String())} {
			if got, err := errata.ParseSignature(text); err != nil || got != s {
				t.Fatalf("ParseSignature(%q) = %s, %v", text, got, err)
			}
		}
	})
	for _, bad := range []string{"", strings.Repeat("0", 31), strings.Repeat("0", 33), strings.Repeat("g", 32), strings.Repeat("٣", 16), " " + strings.Repeat("0", 31), strings.Repeat("0", 30) + "\x00\x00", "0x" + strings.Repeat("0", 30), strings.Repeat("K", 10) + "00"} {
		if got, err := errata.ParseSignature(bad); !errors.Is(err, errata.ErrBadSignature) {
			t.Errorf("ParseSignature(%q) = %s, %v", bad, got, err)
		}
	}
}
