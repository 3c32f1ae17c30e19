package clients

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fields are the tested fields of a record, so that the differences of a failed
// test can be read.
type fields struct {
	// From the list.
	Type, Level, Class string
	File               string
	Line               int
	Message            string
	Count              uint64
	URI, Method        string
	UserID             int64
	IP                 string
	// From the context.
	Source               string
	Text                 string // the whole message
	Release, Environment string
	Handled              string // "yes", "no", or "" where the client does not say
	Chain                []string
	// Frame is the newest frame of the application in the thrown exception.
	Frame string
	// InApp are all other frames that are marked as the application's.
	InApp []string
}

func fieldsOf(r row) fields {
	p := r.Payload
	if x := p.Extra; x.SDK != "" {
		p.Handled, p.Release, p.Environment = x.Handled, x.Release, x.Environment
	}
	f := fields{
		Type: r.Type, Level: r.Level, Class: r.Class, File: r.File, Line: r.Line, Message: r.Message, Count: r.Count,
		URI: r.URI, Method: r.Method, UserID: r.UserID, IP: r.IP,
		Source: p.Source, Text: p.Message, Release: p.Release, Environment: p.Environment,
	}
	if p.Handled != nil {
		f.Handled = map[bool]string{true: "yes", false: "no"}[*p.Handled]
	}
	for _, x := range p.Exceptions {
		f.Chain = append(f.Chain, strings.TrimSuffix(x.Class+": "+x.Message, ": "))
	}
	if len(p.Exceptions) > 0 {
		frames := slices.Clone(p.Exceptions[len(p.Exceptions)-1].Frames)
		slices.Reverse(frames)
		for _, x := range frames {
			switch where := fmt.Sprintf("%s:%d %s", x.File, x.Line, x.Function); {
			case !x.InApp:
			case f.Frame == "":
				f.Frame = where
			default:
				f.InApp = append(f.InApp, where)
			}
		}
	}
	return f
}

// shop sets the fields that all applications send with every event.
func (f fields) shop(source string) fields {
	f.Source, f.Release, f.Environment = source, "shop@1.4.2", "production"
	if f.Text == "" {
		f.Text = f.Message
	}
	if f.Count == 0 {
		f.Count = 1
	}
	if f.Type == "" {
		f.Type = "system"
	}
	return f
}

// checkout sets the fields of the request that the applications answer, and its
// user.
func (f fields) checkout() fields {
	f.URI, f.Method = "/checkout?page=2&token=[Filtered]", "POST"
	f.UserID, f.IP = 1204, "203.0.113.9"
	return f
}

// thrown sets the place of an error and its function.
func (f fields) thrown(file string, line int, function string) fields {
	f.File, f.Line = file, line
	if function != "" {
		f.Frame = fmt.Sprintf("%s:%d %s", f.File, line, function)
	}
	return f
}

// check compares all records with the wanted ones, in any order, and checks what
// is true of all.
func (s *service) check(t *testing.T, want ...fields) {
	t.Helper()
	var got []fields
	for _, r := range s.records(t) {
		f := fieldsOf(r)
		for _, where := range f.InApp {
			// The rest of the application: its middleware, its start.
			if !strings.HasPrefix(where, s.own) {
				t.Errorf("%s: a frame of a library is called the application's: %s", f.Message, where)
			}
		}
		if f.Frame != "" && f.Frame[:strings.LastIndexByte(f.Frame, ' ')] != fmt.Sprintf("%s:%d", f.File, f.Line) {
			t.Errorf("%s: the record says %s:%d, its newest frame %s", f.Message, f.File, f.Line, f.Frame)
		}
		f.InApp = nil
		got = append(got, f)
		if p := r.Payload; p.SDK+p.Platform+p.Extra.SDK == "" {
			t.Errorf("%s: nothing of the client: %+v", f.Message, p)
		}
	}
	order := func(a, b fields) int { return strings.Compare(a.Message+a.Class, b.Message+b.Class) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := cmp.Diff(shown(t, want), shown(t, got)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// shown is a text with one line for each field.
func shown(t *testing.T, records []fields) string {
	t.Helper()
	text, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
