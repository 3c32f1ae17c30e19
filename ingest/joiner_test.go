package ingest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest"
)

func TestJoinersStayWhereTheyAreText(t *testing.T) {
	var rules ingest.Rules
	for text, want := range map[string]string{
		"سفارش پرداخت نمی\u200cشود":    "سفارش پرداخت نمی\u200cشود", // Persian
		"क्\u200dष and क्\u200cष":      "क्\u200dष and क्\u200cष",   // Devanagari
		"👩\u200d💻 👩🏽\u200d🚀 ❤️\u200d🔥": "👩\u200d💻 👩🏽\u200d🚀 ❤️\u200d🔥",
		"pass\u200cword":                "password",
		"pass\u200dword":                "password",
		"раз\u200dмер":                  "размер",
		"\u200cنمی\u200c \u200d👩\u200d": "نمی 👩",
		"نمی\u200c\u200cشود":            "نمیشود",
		"نمی\u202eشود\u200b":            "نمیشود",
		"a\u200d👩":                      "a👩",
	} {
		if got := rules.Text(text, 1000, true); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// The signature is that of before, when all joiners were taken out.
func TestJoinersAreNotSigned(t *testing.T) {
	for _, text := range []string{"سفارش 42 نمی\u200cشود", strings.Repeat("نمی\u200cشود ", 2000), "a" + strings.Repeat("می\u200cخ", 1400)} {
		with := eventOf(t, ingest.Draft{Message: text, Class: "خطا\u200cی", File: "می\u200cخ.py"})
		without := eventOf(t, ingest.Draft{Message: strings.ReplaceAll(text, "\u200c", ""), Class: "خطای", File: "میخ.py"})
		if len(text) < ingest.MaxSigned && with.Signature != without.Signature {
			t.Errorf("%.30q: %s and %s", text, with.Signature, without.Signature)
		}
		if !strings.Contains(with.Message, "\u200c") || with.Class != without.Class || with.File != without.File {
			t.Errorf("%+v", with)
		}
	}
}

// A joiner does not hide a secret, nor the name of one.
func TestJoinersHideNoSecret(t *testing.T) {
	for _, text := range []string{"pass\u200dword=hunter2", "password=hun\u200cter2", "كلمة\u200cالسر: hunter2", "पास\u200dवर्ड: hunter2", "password: می\u200cخواهم"} {
		e := eventOf(t, ingest.Draft{Message: text})
		var payload struct{ Message string }
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(payload.Message, "hunter2") || strings.Contains(payload.Message, "خواهم") || !strings.Contains(payload.Message, "[Filtered]") {
			t.Errorf("%q becomes %q", text, payload.Message)
		}
	}
}

// Text from right to left is cut at its end, which stands on the left.
func TestRightToLeftIsCutAtItsEnd(t *testing.T) {
	text := "آغاز " + strings.Repeat("سفارش نمی\u200cشود ", 40)
	e := eventOf(t, ingest.Draft{Message: text})
	if want := string([]rune(text)[:ingest.PreviewRunes-1]) + "…"; e.Message != want {
		t.Errorf("%q, want %q", e.Message, want)
	}
}
