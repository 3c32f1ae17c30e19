package kubetest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// form is something that operators install.
type form struct {
	objects
	nodes int
}

// each runs a test on every form with so many nodes or more.
func each(t *testing.T, nodes int, check func(t *testing.T, f form)) {
	t.Helper()
	text, err := kustomize(t, "build", base)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]form{
		"one": {rendered(t, "replicas=1"), 1}, "three": {rendered(t), 3}, "five": {rendered(t, "replicas=5"), 5},
		"kustomize": {decode(t, text), 3},
	} {
		if f.nodes >= nodes {
			t.Run(name, func(t *testing.T) { check(t, f) })
		}
	}
}

// environment is that of a pod, as Kubernetes makes it: a value sees the variables above it.
// In the place of a secret it has the name of the secret and the key.
func (f form) environment(t *testing.T, pod string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, v := range f.container().Env {
		if _, twice := values[v.Name]; twice {
			t.Errorf("%s is set twice", v.Name)
		}
		value := regexp.MustCompile(`\$\(\w+\)`).ReplaceAllStringFunc(v.Value, func(name string) string {
			known, above := values[strings.Trim(name, "$()")]
			if !above {
				t.Errorf("%s needs %s, which is not above it", v.Name, name)
			}
			return known
		})
		switch from := v.ValueFrom; {
		case from == nil:
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.name":
			value = pod
		case from.SecretKeyRef != nil:
			value = from.SecretKeyRef.Name + "/" + from.SecretKeyRef.Key
		default:
			t.Errorf("%s comes from %+v", v.Name, from)
		}
		values[v.Name] = value
	}
	return values
}

// settings are the variables of the settings that cmd/errata has.
func settings(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("../../cmd/errata/settings.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, found := range regexp.MustCompile(`(?:Setting\(|\{name: )"([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		names = append(names, "ERRATA_"+strings.ToUpper(strings.ReplaceAll(found[1], "-", "_")))
	}
	if len(names) < 40 || !slices.Contains(names, "ERRATA_DATA") || !slices.Contains(names, "ERRATA_LOG_LEVEL") {
		t.Fatalf("the table of settings is not understood: %v", names)
	}
	return names
}

func TestSettingsExist(t *testing.T) {
	known := settings(t)
	each(t, 1, func(t *testing.T, f form) {
		for name := range f.environment(t, "errata-0") {
			if name != "POD_NAME" && !slices.Contains(known, name) {
				t.Errorf("the service has no setting %s", name)
			}
		}
	})
}

// TestNodesFindThemselves: each node finds itself in the list of peers, and the names in that
// list are those that Kubernetes gives to pods, also to those that are not ready.
func TestNodesFindThemselves(t *testing.T) {
	each(t, 3, func(t *testing.T, f form) {
		if int(*f.set.Spec.Replicas) != f.nodes {
			t.Fatalf("%d replicas", *f.set.Spec.Replicas)
		}
		var peers []string
		for i := range f.nodes {
			pod := fmt.Sprintf("%s-%d", f.set.Name, i)
			environment := f.environment(t, pod)
			if peers = strings.Split(environment["ERRATA_CLUSTER_PEERS"], ","); len(peers) != f.nodes {
				t.Fatalf("peers are %q", peers)
			}
			want := pod + "." + f.set.Spec.ServiceName + environment["ERRATA_CLUSTER_LISTEN"]
			if peers[i] != want || environment["ERRATA_CLUSTER_NODE"] != want {
				t.Errorf("peer %d is %s and the node takes itself for %s, want %s", i, peers[i], environment["ERRATA_CLUSTER_NODE"], want)
			}
		}
		routes := f.services[f.set.Spec.ServiceName]
		if routes == nil || routes.Spec.ClusterIP != "None" || !routes.Spec.PublishNotReadyAddresses {
			t.Errorf("the service of the routes is %+v; nodes that start must find each other", routes)
		}
	})
}

func TestSecretOfTheCluster(t *testing.T) {
	each(t, 3, func(t *testing.T, f form) {
		name, key, _ := strings.Cut(f.environment(t, "errata-0")["ERRATA_CLUSTER_SECRET"], "/")
		if name != "errata-cluster" || key != "secret" {
			t.Errorf("the secret is %s of %s", key, name)
		}
	})
	if secret := rendered(t).secrets["errata-cluster"]; secret == nil || len(secret.StringData["secret"]) != 32 {
		t.Errorf("the chart makes %+v", secret)
	}
	own := rendered(t, "cluster.secret=", "cluster.existingSecret=mine")
	if from := (form{own, 3}).environment(t, "errata-0")["ERRATA_CLUSTER_SECRET"]; from != "mine/secret" || len(own.secrets) != 0 {
		t.Errorf("with a secret of one's own it comes from %s, and the chart makes %v", from, own.secrets)
	}
}

func TestOneNodeHasNoCluster(t *testing.T) {
	one := form{rendered(t, "replicas=1", "cluster.secret="), 1}
	for name := range one.environment(t, "errata-0") {
		if strings.HasPrefix(name, "ERRATA_CLUSTER_") {
			t.Errorf("it has %s", name)
		}
	}
	if len(one.services) != 1 || one.budget != nil || len(one.secrets) != 0 {
		t.Errorf("it has the services %v, the budget %v, the secrets %v; a budget would stop every drain", one.services, one.budget, one.secrets)
	}
}

// TestOneNodeDoesNotBecomeThree: three nodes would begin without the log of the one that was
// there before. Kubernetes refuses to change these fields.
func TestOneNodeDoesNotBecomeThree(t *testing.T) {
	one, three := rendered(t, "replicas=1").set.Spec, rendered(t).set.Spec
	if one.ServiceName == three.ServiceName || one.PodManagementPolicy == three.PodManagementPolicy {
		t.Errorf("service %s and %s, management %s and %s", one.ServiceName, three.ServiceName, one.PodManagementPolicy, three.PodManagementPolicy)
	}
}
