package access_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/access"
)

// counting yields 0, 1, 2, … so that a minted token is the same every time.
type counting struct{ next byte }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.next
		c.next++
	}
	return len(p), nil
}

func mint(t testing.TB, kind access.Kind) access.Token {
	t.Helper()
	token, err := access.Mint(&counting{}, kind)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// goldenText pins the format: keys that users have must stay readable. Secret
// and checksum were computed with another implementation (zlib's CRC-32).
const goldenText = "eik_adm_0123456789ab_2RaQVM2HJYQhmT2w0DtsNPzLXyW6npyiq1uQI3ADMbp_2lZWlQ"

func TestTokenFormat(t *testing.T) {
	shape := regexp.MustCompile(`^eik_(adm|ing|ops)_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`)
	for _, kind := range access.Kinds {
		text := mint(t, kind).Text()
		if !shape.MatchString(text) || len(text) != access.TokenSize {
			t.Errorf("kind %s: %q has not the shape of a key", kind, text)
		}
	}
	if got := mint(t, access.KindAdmin).Text(); got != goldenText {
		t.Errorf("minted from 0, 1, 2 …:\n got %s\nwant %s", got, goldenText)
	}
}

func TestMintReportsAShortSource(t *testing.T) {
	for _, n := range []int{0, 11, 12, 43} {
		if _, err := access.Mint(bytes.NewReader(make([]byte, n)), access.KindAdmin); err == nil {
			t.Errorf("%d random bytes were enough for a key", n)
		}
	}
	if _, err := access.Mint(bytes.NewReader(make([]byte, 44)), access.KindAdmin); err != nil {
		t.Errorf("44 random bytes: %v", err)
	}
}

func TestParseTokenRefuses(t *testing.T) {
	good := mint(t, access.KindAdmin).Text()
	parts := strings.Split(good, "_")
	for name, text := range map[string]string{
		"empty":            "",
		"spaces around":    " " + good[:len(good)-1],
		"a newline behind": good + "\n",
		"unknown kind":     access.Token{Kind: "xyz", ID: parts[2], Secret: parts[3]}.Text(),
		"not base 62":      access.Token{Kind: access.KindAdmin, ID: "012345678-ab", Secret: parts[3]}.Text(),
		"other prefix":     "eak" + good[3:],
		"moved separators": strings.Replace(good, "_", "-", 2),
		"other kind":       "eik_ing" + good[7:],
	} {
		if token, err := access.ParseToken(text); !errors.Is(err, access.ErrMalformed) {
			t.Errorf("%s: got %+v, %v", name, token, err)
		}
	}
	for n := range good {
		if _, err := access.ParseToken(good[:n]); !errors.Is(err, access.ErrMalformed) {
			t.Errorf("the first %d bytes of a key were taken for one: %v", n, err)
		}
	}
}

func TestTokenProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.SliceOfN(rapid.Byte(), 200, 200).Draw(t, "random")
		kind := rapid.SampledFrom(access.Kinds).Draw(t, "kind")
		token, err := access.Mint(bytes.NewReader(random), kind)
		if err != nil {
			// reason: the draw is thrown away, another one comes
			t.Skip("too many bytes above the fair ones")
		}
		text := token.Text()
		back, err := access.ParseToken(text)
		if err != nil || back != token {
			t.Fatalf("parse %q: got %+v, %v, want %+v", text, back, err, token)
		}
		// One mistyped character is always noticed.
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		other := rapid.Byte().Filter(func(b byte) bool { return b != text[at] }).Draw(t, "other")
		typo := text[:at] + string([]byte{other}) + text[at+1:]
		if got, err := access.ParseToken(typo); err == nil {
			t.Fatalf("mistyped %q was read as %+v", typo, got)
		}
	})
}

func FuzzParseToken(f *testing.F) {
	f.Add(mint(f, access.KindIngest).Text())
	f.Add("eik_adm_")
	f.Add(strings.Repeat("_", access.TokenSize))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := access.ParseToken(text)
		if err != nil {
			if token != (access.Token{}) {
				t.Fatalf("refused %q, yet gave %+v", text, token)
			}
			return
		}
		if token.Text() != text {
			t.Fatalf("%q parses to what is written %q", text, token.Text())
		}
	})
}
