package dashboards

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const deploy = "../../deploy/"

// dashboard is the part of a dashboard that is checked.
type dashboard struct {
	UID        string  `json:"uid"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID          int        `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Datasource  datasource `json:"datasource"`
	GridPos     struct {
		X, Y, W, H int
	} `json:"gridPos"`
	Targets []target `json:"targets"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type target struct {
	RefID      string     `json:"refId"`
	Datasource datasource `json:"datasource"`
	Expr       string     `json:"expr"`
	Legend     string     `json:"legendFormat"`
	RawSQL     string     `json:"rawSql"`
	QueryType  string     `json:"queryType"`
}

type variable struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	Query      json.RawMessage `json:"query"`
	Definition string          `json:"definition"`
	Datasource datasource      `json:"datasource"`
	Current    struct {
		Value string `json:"value"`
	} `json:"current"`
}

func readDashboard(t *testing.T, name string) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(deploy + "grafana/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// source is a provisioned data source.
type source struct {
	UID      string `yaml:"uid"`
	Type     string `yaml:"type"`
	JSONData struct {
		Username        string `yaml:"username"`
		DefaultDatabase string `yaml:"defaultDatabase"`
		QueryTimeout    string `yaml:"queryTimeout"`
	} `yaml:"jsonData"`
}

func readSources(t *testing.T) map[string]source {
	t.Helper()
	text, err := os.ReadFile(deploy + "grafana/provisioning/datasources/errata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Datasources []source `yaml:"datasources"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	byUID := map[string]source{}
	for _, s := range file.Datasources {
		byUID[s.UID] = s
	}
	return byUID
}

// TestDashboardsAreWhole checks what no query shows: each panel is described, none covers
// another one, and all take the data source that the dashboard's variable offers first.
func TestDashboardsAreWhole(t *testing.T) {
	sources := readSources(t)
	page, err := os.ReadFile("../../docs/grafana.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"errata-service.json", "errata-errors.json"} {
		d := readDashboard(t, name)
		if n := len(d.Panels); n < 10 || n > 14 {
			t.Errorf("%s has %d panels, want 10 to 14", name, n)
		}
		offered := d.Templating.List[0]
		var kind string
		if err := json.Unmarshal(offered.Query, &kind); err != nil || offered.Type != "datasource" {
			t.Fatalf("%s: the first variable is %+v, want the data source", name, offered)
		}
		if provisioned, ok := sources[offered.Current.Value]; !ok || provisioned.Type != kind {
			t.Errorf("%s begins with the data source %q of the type %q, and %+v is provisioned", name, offered.Current.Value, kind, provisioned)
		}
		want := datasource{Type: kind, UID: "${" + offered.Name + "}"}
		for _, v := range d.Templating.List {
			if v.Type == "query" && v.Datasource != want {
				t.Errorf("%s: the variable %s asks %+v, want %+v", name, v.Name, v.Datasource, want)
			}
		}
		checkPanels(t, name, d.Panels, want)
		for _, p := range d.Panels {
			if line := "\n| " + p.Title + " | " + p.Description + " |\n"; !strings.Contains(string(page), line) {
				t.Errorf("docs/grafana.md has no line%s", line)
			}
		}
	}
}

func checkPanels(t *testing.T, name string, panels []panel, want datasource) {
	t.Helper()
	ids, covered := map[int]bool{}, map[[2]int]string{}
	for _, p := range panels {
		if p.Title == "" || p.Description == "" || ids[p.ID] || len(p.Targets) == 0 {
			t.Errorf("%s: panel %d %q has no title, no description or no query, or another one has its id", name, p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Datasource != want {
			t.Errorf("%s: %q asks %+v, want %+v", name, p.Title, p.Datasource, want)
		}
		for _, q := range p.Targets {
			if q.Datasource != want {
				t.Errorf("%s: query %s of %q asks %+v, want %+v", name, q.RefID, p.Title, q.Datasource, want)
			}
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := covered[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s: %q covers %q, or leaves the 24 columns", name, p.Title, other)
				}
				covered[[2]int{x, y}] = p.Title
			}
		}
	}
}
