package contract

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signature"
	"github.com/errata-log/errata/test/openapitest"
	"github.com/errata-log/errata/test/servicetest"
)

// asks are requests of a limited key, by operation. {signature}, {project}, {slug} and
// {id} stand for what belongs to another project. Without an entry a request has no
// query and no body, which is not enough where an operation takes a body: who adds an
// operation says here how a limited key would try to reach another project with it.
var asks = map[string][]struct{ query, body string }{
	"GET " + errorsPath: {
		{"?limit=100", ""}, {"?signature={signature}", ""}, {"?search=quokka", ""}, {"?search={signature}", ""}, {"?search={event_id}", ""}, {"?event_id={event_id}", ""}, {"?tag=animal:quokka", ""}, {"?order=count", ""}, {"?hide_noise=1", ""},
		{"?message=quokka", ""}, {"?project={slug}", ""}, {"?project={project}", ""}, {"?project=1,{project}", ""},
	},
	"GET " + errorsPath + "/trends":                             {{"?signatures={signature}", ""}, {"?signatures={signature}&project={project}", ""}},
	"GET " + overviewPath:                                       {{"?range=24h", ""}, {"?project={slug}", ""}},
	"GET " + errorsPath + "/{signature}":                        {{"", ""}, {"?type=database", ""}},
	"GET " + errorsPath + "/{signature}/trend":                  {{"", ""}},
	"GET " + errorsPath + "/{signature}/trend/releases":         {{"", ""}},
	"GET " + errorsPath + "/{signature}/occurrences":            {{"", ""}, {"?type=database", ""}, {"?environment=quokka-land", ""}},
	"GET " + errorsPath + "/{signature}/occurrences/{position}": {{"", ""}, {"?type=database", ""}},
	"GET " + errorsPath + "/{signature}/facets":                 {{"", ""}, {"?type=database", ""}},
	"GET /api/v1/admin/tools/logs/occurrences/{event_id}":       {{"", ""}},
	"DELETE " + errorsPath: {
		{"", `{"signatures":["{signature}"]}`}, {"", `{"filter":{"signature":"{signature}"}}`}, {"", `{"filter":{"message":"quokka"}}`},
	},
	"POST /mcp": {
		{"", toolCall("list_errors", `{"search":"quokka"}`)}, {"", toolCall("list_errors", `{"search":"{signature}"}`)},
		{"", toolCall("list_errors", `{"tags":["animal:quokka"]}`)}, {"", toolCall("list_errors", `{"project":"{slug}"}`)},
		{"", toolCall("get_error", `{"signature":"{signature}"}`)}, {"", toolCall("get_error", `{"signature":"{signature}","type":"database"}`)},
		{"", toolCall("list_occurrences", `{"signature":"{signature}"}`)}, {"", toolCall("list_occurrences", `{"signature":"{signature}","environment":"quokka-land"}`)},
		{"", toolCall("get_occurrence", `{"signature":"{signature}","at":"{position}"}`)}, {"", toolCall("get_occurrence", `{"event_id":"{event_id}"}`)},
		{"", toolCall("get_facets", `{"signature":"{signature}"}`)}, {"", toolCall("get_trend", `{"signature":"{signature}"}`)},
		{"", toolCall("explain_signature", `{"signature":"{signature}"}`)}, {"", toolCall("set_status", `{"signatures":["{signature}"],"status":"muted"}`)},
	},
	"POST " + statusPath: {
		{"", `{"signatures":["{signature}"],"status":"muted"}`}, {"", `{"filter":{"signature":"{signature}"},"status":"muted"}`},
		{"", `{"filter":{"types":"system,database"},"status":"muted"}`},
	},
	"POST " + cleanupPath + "/preview":                          {{"", `{"before":"2999-01-01"}`}, {"", `{"before":"2999-01-01","project":"{project}"}`}, {"", `{"before":"2999-01-01","project":"{slug}"}`}},
	"POST " + cleanupPath:                                       {{"", `{"before":"2999-01-01","project":"{slug}"}`}, {"", `{"before":"2999-01-01","project":"{project}"}`}, {"", `{"before":"2999-01-01"}`}},
	"POST " + keysPath:                                          {{"", `{"name":"x","kind":"ing","project":{project}}`}, {"", `{"name":"x","kind":"adm","scopes":["*"],"projects":[{project}]}`}},
	"DELETE " + keysPath + "/{id}":                              {{"", ""}},
	"POST " + projectsPath:                                      {{"", `{"name":"x"}`}},
	"PATCH " + projectsPath + "/{project}":                      {{"", `{"archived":true}`}, {"", `{"name":"taken"}`}},
	"POST /api/v1/admin/ops/erase":                              {{"", `{"users":["quokka user"]}`}},
	"POST /api/v1/admin/ops/nodes/leave":                        {{"", `{"node":"c:6222"}`}},
	"POST /api/v1/admin/ops/replay":                             {{"", `{"force":true}`}},
	"POST /api/v1/admin/ops/log/accept":                         {{"", `{"by":"x"}`}},
	"POST /api/v1/admin/ops/dead/replay":                        {{"", `{"all":true}`}},
	"POST /api/v1/admin/ops/dead/drop":                          {{"", `{"all":true}`}},
	"POST " + alertsPath + "/rules":                             {{"", `{"name":"x","projects":[{project}],"when":{"new":true},"to":["{id}"]}`}},
	"POST " + alertsPath + "/rules/preview":                     {{"", `{"projects":[{project}],"when":{"new":true}}`}},
	"PATCH " + alertsPath + "/rules/{id}":                       {{"", `{"projects":[{project}]}`}},
	"POST " + alertsPath + "/channels":                          {{"", `{"name":"x","kind":"email","addresses":["a@example.com"]}`}},
	"PATCH " + alertsPath + "/channels/{id}":                    {{"", `{"addresses":["a@example.com"]}`}},
	"POST " + rebuildPath:                                       {{"", ""}},
	"PUT " + settingsPath:                                       {{"", `{"error_log":false}`}},
	"POST /api/v1/csp-reports":                                  {{"", `{}`}},
	"POST /api/v1/admin/settings/mail/test":                     {{"", `{"to":"a@example.com"}`}},
	"PUT /api/v1/admin/settings/localization":                   {{"", `{}`}},
	"PUT /api/v1/admin/settings/security/two-factor":            {{"", `{}`}},
	"PUT /api/v1/admin/settings/security/location-verification": {{"", `{}`}},
	"PUT /api/v1/admin/settings/security/ip-verification":       {{"", `{}`}},
	"POST /api/v1/sign-in/challenges":                           {{"", `{}`}},
	"POST /api/v1/sign-in/challenges/{id}/verify":               {{"", `{}`}},
	"POST /api/v1/sign-in/authenticators":                       {{"", `{}`}},
	"DELETE /api/v1/sign-in/authenticators":                     {{"", `{}`}},
	"POST /api/v1/sign-in/authenticators/confirm":               {{"", `{}`}},
	"POST /api/v1/sign-in/authenticators/verify":                {{"", `{}`}},
	"POST /api/v1/sign-in/evaluate":                             {{"", `{}`}},
	"POST /api/v1/sign-in/outcomes":                             {{"", `{}`}},
}

// toolCall is a message of an agent.
func toolCall(name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
}

const overviewPath = "/api/v1/admin/tools/logs/overview"

// foreign is what belongs to the other project: the values for the placeholders, and
// texts that no answer to the limited key may have.
type foreign struct {
	names   *strings.Replacer
	secrets []string
}

// TestLimitedKeySeesNothingElse walks every operation of the document, which has every
// route of the table, with a key of project 1 that holds every scope. No answer has
// anything of project 2; what names it is answered as what does not exist; and project 2
// is the same after it.
func TestLimitedKeySeesNothingElse(t *testing.T) {
	t.Parallel()
	s := start(t)
	limited := s.limitedKey(t, 1)
	there, theirKey := s.otherProject(t)
	stream := s.listen(t, limited)
	mine := trial("system", "mine")
	s.send(t, mine)
	s.settle(t)

	list := s.do(t, request{method: http.MethodGet, path: errorsPath, key: limited})
	if !strings.Contains(list.body, mine.signature().String()) || !strings.Contains(list.body, `"total":1,`) {
		t.Errorf("the list of its own project: %s", list.body)
	}
	before := s.stateOf(t)
	nowhere := strings.NewReplacer("{signature}", strings.Repeat("f", 32), "{project}", "77", "{slug}", "nobody-there", "{id}", "zzzzzzzzzzzz",
		"{event_id}", strings.Repeat("e", 32), "{position}", "latest")
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodPut, http.MethodPost, http.MethodDelete} { // reads first
		for _, path := range paths(t, method) {
			s.walk(t, limited, method, path, there, nowhere)
		}
	}
	if after := s.stateOf(t); after != before {
		t.Errorf("project 2 has changed:\nbefore %s\n after %s", before, after)
	}
	s.streamsNothing(t, limited, stream, theirKey, there)
}

// paths are those of the operations with the method that a key opens; programs on this
// machine read metrics without one.
func paths(t *testing.T, method string) (all []string) {
	t.Helper()
	document, err := openapitest.Load()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Spec.Paths.Map() {
		op := item.Operations()[method]
		if op == nil || op.Extensions["x-errata-scope"] == "Events/Write" || path == "/metrics" || strings.HasSuffix(path, "/stream") {
			continue
		}
		if op.RequestBody != nil && asks[method+" "+path] == nil {
			t.Errorf("%s %s takes a body: say in asks what a limited key would send", method, path)
		}
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// walk tries an operation, each request with what belongs to the other project and
// again with what does not exist.
func (s *service) walk(t *testing.T, key, method, path string, there foreign, nowhere *strings.Replacer) {
	t.Helper()
	tries := asks[method+" "+path]
	if tries == nil {
		tries = []struct{ query, body string }{{}}
	}
	for _, try := range tries {
		said := path + try.query + "\n" + try.body
		ask := func(names *strings.Replacer) answer {
			at, body, _ := strings.Cut(names.Replace(said), "\n")
			return s.do(t, request{method: method, path: at, body: body, key: key, header: []string{"X-Request-Id", "same"}})
		}
		got := ask(there.names)
		rest := got.body
		if strings.Contains(said, "{") && there.names.Replace(said) != said {
			unknown := ask(nowhere)
			for _, name := range []string{"{signature}", "{project}", "{slug}", "{id}", "{event_id}"} {
				if name == "{project}" { // a short number stands in other texts too
					rest = strings.ReplaceAll(rest, "There is no project "+there.names.Replace(name), "There is no project "+nowhere.Replace(name))
					rest = strings.ReplaceAll(rest, `"project":`+there.names.Replace(name), `"project":`+nowhere.Replace(name))
					rest = strings.ReplaceAll(rest, `project \"`+there.names.Replace(name), `project \"`+nowhere.Replace(name))
					continue
				}
				rest = strings.ReplaceAll(rest, there.names.Replace(name), nowhere.Replace(name))
			}
			if got.status != unknown.status || rest != unknown.body {
				t.Errorf("%s %s %s: %d %s\nwhat does not exist: %d %s", method, path+try.query, try.body, got.status, rest, unknown.status, unknown.body)
			}
		}
		for _, secret := range there.secrets {
			if strings.Contains(rest, secret) {
				t.Errorf("%s %s %s shows %q: %.500s", method, path+try.query, try.body, secret, rest)
			}
		}
	}
}

// limitedKey makes a key that holds every scope for one project.
func (s *service) limitedKey(t *testing.T, project int) string {
	t.Helper()
	a := s.do(t, request{method: http.MethodPost, path: keysPath, body: body("name", "team", "kind", "adm", "scopes", []string{"*"}, "projects", []int{project})})
	var made struct{ Data struct{ Key string } }
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("make a limited key: %d %s, %v", a.status, a.body, err)
	}
	return made.Data.Key
}

// otherProject makes project 2 with a record of each book.
func (s *service) otherProject(t *testing.T) (foreign, string) {
	t.Helper()
	made := s.do(t, request{method: http.MethodPost, path: projectsPath, body: `{"name":"Quokka Desk","platform":"cobol"}`})
	var desk struct{ Data madeProject }
	if err := json.Unmarshal([]byte(made.body), &desk); err != nil || desk.Data.ID != 2 {
		t.Fatalf("made: %d %s, %v", made.status, made.body, err)
	}
	sign := func(book string) string { return s.foreignSignature(t, book) }
	for _, book := range []string{"system", "database"} {
		s.sendForeign(t, desk.Data.Key, book, foreignEvent[book])
	}
	s.settle(t)
	public, _, _ := strings.Cut(strings.TrimPrefix(desk.Data.DSN, "http://"), "@")
	var keys []struct {
		ID      string
		Project int
	}
	if err := json.Unmarshal([]byte(s.get(t, keysPath)), &keys); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(keys, func(k struct {
		ID      string
		Project int
	}) bool {
		return k.Project == 2
	})
	var list []struct{ ID json.Number }
	if err := json.Unmarshal([]byte(s.get(t, errorsPath)), &list); err != nil || len(list) != 2 {
		t.Fatalf("%d records of the other project, %v", len(list), err)
	}
	secrets := []string{"quokka", "Quokka", "cobol", public, foreignEvent["system"], foreignEvent["database"], keys[at].ID, sign("system"), sign("database")}
	for _, r := range list {
		secrets = append(secrets, `"id":`+r.ID.String()+",")
	}
	return foreign{
		strings.NewReplacer("{signature}", sign("system"), "{project}", "2", "{slug}", desk.Data.Slug, "{id}", keys[at].ID,
			"{event_id}", foreignEvent["system"], "{position}", "latest"),
		secrets,
	}, desk.Data.Key
}

func (s *service) foreignSignature(t *testing.T, book string) string {
	t.Helper()
	id := signature.Identity{Project: 2, Fingerprint: []string{"quokka"}}
	if id.Book, _ = errata.ParseBook(book); id.Book == 0 {
		t.Fatalf("no book %q", book)
	}
	return signature.Sign(id).String()
}

// foreignEvent are the ids of the first events of the other project, by book.
var foreignEvent = map[string]string{"system": "c0ffee33ec9942ab8353589fcb2e04dc", "database": "c0ffeecdef9942ab8353589fcb2e04dc"}

func (s *service) sendForeign(t *testing.T, key, book, id string) {
	t.Helper()
	a := s.do(t, request{
		method: http.MethodPost, path: eventsPath, key: key,
		body: body("type", book, "id", id, "message", "quokka trouble", "tags", map[string]string{"animal": "quokka"}, "fingerprint", []string{"quokka"}, "user_id", "quokka user", "environment", "quokka-land"),
	})
	if a.status != http.StatusAccepted {
		t.Fatalf("send: %d %s", a.status, a.body)
	}
}

// stateOf is everything of project 2 that the administrator sees.
func (s *service) stateOf(t *testing.T) string {
	t.Helper()
	var state strings.Builder
	for _, path := range []string{
		errorsPath + "?message=quokka&order=id", errorsPath + "/" + s.foreignSignature(t, "system"), errorsPath + "/" + s.foreignSignature(t, "database") + "?type=database",
		projectsPath + "/2", settingsPath,
	} {
		state.WriteString(s.get(t, path) + "\n")
	}
	var keys []map[string]any
	if err := json.Unmarshal([]byte(s.get(t, keysPath)), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		delete(key, "last_used_at")
		if key["project"] == float64(2) {
			fmt.Fprintln(&state, slices.Sorted(maps.Keys(key)), key["state"])
		}
	}
	return state.String()
}

// listen opens a stream and returns its lines.
func (s *service) listen(t *testing.T, key string) <-chan string {
	t.Helper()
	req, err := servicetest.NewRequest(http.MethodGet, s.URL+errorsPath+"/stream", nil, "Authorization", "Bearer "+key)
	if err != nil {
		t.Fatal(err)
	}
	// Without a limit of time, and without the check of answers, which reads them whole.
	resp, err := (&http.Client{}).Do(req.WithContext(t.Context()))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("stream: %v, %v", resp, err)
	}
	lines := make(chan string, 1000)
	done := make(chan struct{})
	t.Cleanup(func() { resp.Body.Close(); <-done })
	go func() { // ends with the stream
		defer close(done)
		defer close(lines)
		scanner := bufio.NewScanner(resp.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			default: // nobody reads any more
			}
		}
	}()
	return lines
}

// streamsNothing changes project 2 in each way, and then its own project. The stream
// that was open all the time, and one that begins now, tell the latter alone.
func (s *service) streamsNothing(t *testing.T, key string, open <-chan string, theirKey string, there foreign) {
	t.Helper()
	again := s.listen(t, key)
	s.sendForeign(t, theirKey, "system", strings.Repeat("9", 32))
	system, database := s.foreignSignature(t, "system"), s.foreignSignature(t, "database")
	s.want(t, request{method: http.MethodPost, path: statusPath, body: body("signatures", []string{system}, "status", "resolved")}, "")
	s.want(t, request{method: http.MethodDelete, path: errorsPath, body: signaturesBody(database)}, "")
	last := trial("system", "the last one")
	s.send(t, last)
	for name, lines := range map[string]<-chan string{"open": open, "again": again} {
		late := time.After(time.Minute)
		for told := false; !told; {
			select {
			case line, more := <-lines:
				if !more {
					t.Fatalf("%s: the stream ended", name)
				}
				for _, secret := range there.secrets {
					if strings.Contains(line, secret) {
						t.Errorf("%s: the stream shows %q: %s", name, secret, line)
					}
				}
				told = strings.Contains(line, last.signature().String())
			case <-late:
				t.Fatalf("%s: its own record is not told", name)
			}
		}
	}
}
