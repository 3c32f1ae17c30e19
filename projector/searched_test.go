package projector_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/errata-log/errata/projector"
)

// odd are contexts that the receivers do not write, or seldom.
var odd = []string{
	``, `{}`, `[]`, `null`, `"text"`, `7`, `{"message":`, `{"message":"a"} x`, `{"message":"a\t"} `, `{ "message" : " a" , "n" : [ 1 , { } ] }`, `{"n":,"message":"a\n"}`, `{"n":}`, `{"n":1]`, `{"n":"\\\"\\\\","message":"a\n"}`, `{"message":7}`, `{"message":null}`, `{"event_id":7}`,
	`{"message":"first","message":" second"}`, `{"exceptions":{}}`, `{"exceptions":[7]}`, `{"exceptions":[null,{"class":"A"}]}`, `{"exceptions":[]}`,
	`{"exceptions":[{"class":"A"},{"class":"B"}],"exceptions":[{"class":"C"},{"class":"D"}]}`, `{"exceptions":[{"class":"A","class":"B"},{}]}`, `{"exceptions":[{"class":"A","message":"B"},{}]}`,
	`{"exceptions":[{"class":7,"message":"m"},{}]}`, `{"exceptions":[{},{},{"class":"Thrown"}]}`, `{"exceptions":[{"class":"Only","message":"one"}]}`,
	`{"message":"\u0041\n"}`, `{"message":"a\u0000b\t"}`, `{"message":" "}`, `{"message":"\n"}`, `{"transaction":"\t"}`, `{"tr\u0061nsaction":"T"}`,
	`{"event_id":"0123456789ABCDEF0123456789abcdef"}`, `{"event_id":"01234567-89ab-cdef-0123-456789ABCDEF"}`, `{"event_id":"0123456789abcdef0123456789abcde"}`,
	`{"event_id":"-0-1-2-3456789abcdef0123456789abcdef--"}`, `{"event_id":"g123456789abcdef0123456789abcdef"}`, `{"event_id":"` + strings.Repeat("é", 32) + `"}`,
	`{"context":{"message":"inner\n","event_id":"0123456789abcdef0123456789abcdef","transaction":"inner"},"tags":["message"]}`,
	`{"message":"` + strings.Repeat("x", 200) + `"}`, `{"message":"` + strings.Repeat("X", 201) + `"}`, `{"message":"` + strings.Repeat("é", 200) + `"}`,
	`{"message":"` + strings.Repeat("É", 201) + `"}`, `{"message":"ΣΑΣ İ\n"}`, `{"message":"\ud83d\ude00 "}`, `{"message":"\ud83d "}`, "{\"message\":\"\xff \"}",
}

// texts are parts of texts that decide something.
var parts = []string{"Failed", " ", "\\n", "\\t", "\\r", "É", "ß", "\\u00c9", "Ж", "\\\"", "\\\\", "\\/", "{", "]", ",", ":", "a-b", strings.Repeat("Long", 40)}

// someContext is a context with random texts, which may lack any member.
func someContext(random *rand.Rand) string {
	text := func() string {
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		return `"` + b.String() + `"`
	}
	var members []string
	add := func(name, value string) {
		if random.IntN(3) > 0 {
			members = append(members, `"`+name+`":`+value)
		}
	}
	add("source", `"sentry"`)
	add("event_id", fmt.Sprintf(`"%032x"`, random.Uint64()))
	add("message", text())
	var exceptions []string
	for range random.IntN(4) {
		exceptions = append(exceptions, fmt.Sprintf(`{"class":%s,"message":%s,"frames":[{"file":%s,"line":7}]}`, text(), text(), text()))
	}
	add("exceptions", "["+strings.Join(exceptions, ",")+"]")
	add("tags", `{"transaction":`+text()+`}`)
	add("transaction", text())
	return "{" + strings.Join(members, ",") + "}"
}

// What the projector reads from contexts for searches is what ClickHouse reads from them.
func TestSearchedLikeClickHouse(t *testing.T) {
	l := newLedger(t)
	store := must(t, l.config()).Store()
	contexts := odd
	random := rand.New(rand.NewPCG(19, 0))
	for range 3000 {
		contexts = append(contexts, someContext(random))
	}
	plain := 0
	for i, from := range []int{1, 1 << 30} {
		restore := projector.SetSearchedFrom(from)
		read, err := projector.WriteContexts(t.Context(), store, byte(i), contexts)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		plain = max(plain, read)
	}
	if plain < 500 || plain > len(contexts)-500 {
		t.Errorf("the projector read %d of %d contexts itself; both kinds must come", plain, len(contexts))
	}
	if rows := l.number("SELECT count() FROM contexts WHERE signature < unhex('02')"); rows != uint64(2*len(contexts)) {
		t.Fatalf("there are %d contexts, want %d of each kind", rows, len(contexts))
	}
	rows, err := l.ClickHouse.Query(t.Context(), `
		SELECT a.payload, a.words, b.words, hex(a.event_id), hex(b.event_id)
		FROM (SELECT * EXCEPT (signature), words, event_id FROM contexts WHERE startsWith(signature, unhex('00'))) AS a
		JOIN (SELECT * EXCEPT (signature), words, event_id FROM contexts WHERE startsWith(signature, unhex('01'))) AS b USING (id)
		WHERE a.payload != b.payload OR a.words != b.words OR a.event_id != b.event_id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var payload, words, want, id, wantID string
		if err := rows.Scan(&payload, &words, &want, &id, &wantID); err != nil {
			t.Fatal(err)
		}
		t.Errorf("of %q the projector reads %q and id %s, ClickHouse %q and %s", payload, words, id, want, wantID)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// A context that was cut is left to ClickHouse.
func TestSearchedOfAPrefix(t *testing.T) {
	whole := `{"source":"sentry","event_id":"0123456789abcdef0123456789abcdef","message":"a \"b\"\n","exceptions":[{"class":"A","frames":[{"line":-7}]},{"message":"m"}],"handled":true}`
	if words, id, plain := projector.ReadSearched([]byte(whole)); !plain || words != "a \"b\" \na" || len(id) != 16 {
		t.Fatalf("read %q and an id of %d bytes, plain: %v", words, len(id), plain)
	}
	for n := 1; n < len(whole); n++ {
		if _, _, plain := projector.ReadSearched([]byte(whole[:n])); plain {
			t.Errorf("%q was read", whole[:n])
		}
	}
}

// FuzzSearched compares what is read of JSON with what a general decoder finds in it.
func FuzzSearched(f *testing.F) {
	for _, payload := range odd {
		f.Add([]byte(payload))
	}
	random := rand.New(rand.NewPCG(20, 0))
	for range 50 {
		f.Add([]byte(someContext(random)))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		words, id, plain := projector.ReadSearched(payload)
		if !plain || !json.Valid(payload) {
			return
		}
		wantWords, wantID := searchedByDecoder(t, payload)
		if words != wantWords || id != wantID {
			t.Errorf("of %q read %q and %x, want %q and %x", payload, words, id, wantWords, wantID)
		}
	})
}

// searchedByDecoder is what a search sees of a context of ASCII texts.
func searchedByDecoder(t *testing.T, payload []byte) (words, id string) {
	t.Helper()
	var members map[string]json.RawMessage
	var exceptions []map[string]json.RawMessage
	decode := func(from json.RawMessage, to any) {
		if from == nil {
			return
		}
		if err := json.Unmarshal(from, to); err != nil {
			t.Fatalf("%q: %v", payload, err)
		}
	}
	text := func(from json.RawMessage) (s string) {
		decode(from, &s)
		return s
	}
	decode(payload, &members)
	decode(members["exceptions"], &exceptions)
	line := strings.NewReplacer("\n", " ", "\t", " ").Replace
	var lines []string
	add := func(text string) {
		if text != "" {
			lines = append(lines, line(text))
		}
	}
	for i := 0; i+1 < len(exceptions); i++ {
		add(text(exceptions[i]["class"]))
		add(text(exceptions[i]["message"]))
	}
	add(text(members["transaction"]))
	message := text(members["message"])
	if len(message) <= 200 && line(message) == message && strings.Trim(message, " ") == message {
		message = ""
	}
	if message != "" || len(lines) > 0 {
		words = strings.ToLower(line(message) + "\n" + strings.Join(lines, "\n"))
	}
	if digits := strings.ReplaceAll(text(members["event_id"]), "-", ""); len(digits) == 32 {
		if bytes, err := hex.DecodeString(digits); err == nil {
			id = string(bytes)
		}
	}
	return words, id
}
