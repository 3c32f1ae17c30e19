package deploy_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestThreeNodes(t *testing.T) {
	names, readme := []string{"errata-1", "errata-2", "errata-3"}, string(read(t, "../README.md"))
	file := readCompose(t, "docker-compose.three.yml", names...)
	for i, name := range names {
		s := file.Services[name]
		for variable := range s.Environment {
			if !strings.Contains(readme, "`"+variable+"`") {
				t.Errorf("%s: the README does not list %s", name, variable)
			}
		}
		if peers := s.Environment["ERRATA_CLUSTER_PEERS"]; peers != strings.Join(names, ":6222,")+":6222" {
			t.Errorf("%s has the peers %s", name, peers)
		}
		if node := s.Environment["ERRATA_CLUSTER_NODE"]; node != name+s.Environment["ERRATA_CLUSTER_LISTEN"] {
			t.Errorf("%s takes itself for %s", name, node)
		}
		if secret := s.Environment["ERRATA_CLUSTER_SECRET"]; !required.MatchString(secret) || secretProblem("ERRATA_CLUSTER_SECRET", secret) != "" {
			t.Errorf("%s: the secret is %q, want a variable that must be set", name, secret)
		}
		port := fmt.Sprintf("127.0.0.1:%d", 8081+i)
		if !slices.Equal(s.Ports, []string{port + ":8080"}) || s.Environment["ERRATA_PUBLIC_URL"] != "http://"+port {
			t.Errorf("%s publishes %v and says it is at %s", name, s.Ports, s.Environment["ERRATA_PUBLIC_URL"])
		}
		if _, kept := file.Volumes[name]; !kept || !slices.Equal(s.Volumes, []string{name + ":/data"}) {
			t.Errorf("%s keeps its data in %v", name, s.Volumes)
		}
		if s.StopGracePeriod != "15s" || s.Restart != "unless-stopped" || !slices.Equal(s.Healthcheck.Test, []string{"CMD", "/errata", "healthcheck"}) {
			t.Errorf("%s stops within %s, restarts %s, is healthy by %v", name, s.StopGracePeriod, s.Restart, s.Healthcheck.Test)
		}
		if len(s.DependsOn) != 0 {
			t.Errorf("%s waits for %v; a node is ready only with the others", name, s.DependsOn)
		}
	}
}

// TestPackagedCluster: the file of settings has what a host of three needs, and the same list
// of peers can stand on all of them.
func TestPackagedCluster(t *testing.T) {
	values := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^#(ERRATA_CLUSTER_[A-Z]+)=(.*)$`).FindAllStringSubmatch(string(read(t, "package/errata.env")), -1) {
		values[found[1]] = found[2]
	}
	for _, name := range []string{"NAME", "LISTEN", "PEERS", "SECRET"} {
		if _, there := values["ERRATA_CLUSTER_"+name]; !there {
			t.Errorf("it does not show ERRATA_CLUSTER_%s", name)
		}
	}
	peers := strings.Split(values["ERRATA_CLUSTER_PEERS"], ",")
	for _, peer := range peers {
		if !strings.HasSuffix(peer, values["ERRATA_CLUSTER_LISTEN"]) {
			t.Errorf("%s is not at the port %s", peer, values["ERRATA_CLUSTER_LISTEN"])
		}
	}
	if len(peers) != 3 {
		t.Errorf("the peers are %q", peers)
	}
}
