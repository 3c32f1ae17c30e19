package kubetest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	chart = "../helm/errata"
	base  = "../kustomize/base"
	// oldest is the Kubernetes that the chart is rendered for, the oldest that it takes.
	oldest = "1.30.0"
)

// objects are what is rendered, by name.
type objects struct {
	set      *apps.StatefulSet
	services map[string]*core.Service
	budget   *policy.PodDisruptionBudget // nil without one
	secrets  map[string]*core.Secret
}

// pod is what runs on a node.
func (o objects) pod() core.PodSpec { return o.set.Spec.Template.Spec }

// container is the only one of a pod.
func (o objects) container() core.Container { return o.pod().Containers[0] }

// helm runs the program that the variable HELM names.
func helm(t *testing.T, args ...string) (string, error) { return run(t, "HELM", args...) }

func kustomize(t *testing.T, args ...string) (string, error) { return run(t, "KUSTOMIZE", args...) }

// run returns what the program has printed. When it fails, the error has what it complained of.
func run(t *testing.T, variable string, args ...string) (string, error) {
	t.Helper()
	program := os.Getenv(variable)
	if program == "" {
		t.Fatalf("%s names no program: make charts runs these tests", variable)
	}
	var output, complaint bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdout, cmd.Stderr = &output, &complaint
	if err := cmd.Run(); err != nil {
		return "", errors.New(complaint.String() + output.String())
	}
	return output.String(), nil
}

// rendered is the chart with these values, each of the form that --set takes.
func rendered(t *testing.T, values ...string) objects {
	t.Helper()
	text, err := template(t, values...)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

// template renders the chart as a release named errata.
func template(t *testing.T, values ...string) (string, error) {
	t.Helper()
	return helm(t, withValues([]string{"template", "errata", chart, "--kube-version", oldest}, values)...)
}

// withValues adds an image and a secret, which have no default, and the values.
func withValues(args, values []string) []string {
	for _, value := range append([]string{"image.tag=1.0.0", "cluster.secret=" + strings.Repeat("s", 32)}, values...) {
		args = append(args, "--set", value)
	}
	return args
}

// decode knows every field of every object, by its exact name.
func decode(t *testing.T, text string) objects {
	t.Helper()
	o := objects{services: map[string]*core.Service{}, secrets: map[string]*core.Secret{}}
	seen := map[string]bool{}
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		var kind struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		id := kind.Kind + " " + kind.Metadata.Name
		if seen[id] {
			t.Fatalf("%s is there twice", id)
		}
		seen[id] = true
		switch kind.APIVersion + " " + kind.Kind {
		case "apps/v1 StatefulSet":
			o.set = strict[apps.StatefulSet](t, document)
		case "v1 Service":
			o.services[kind.Metadata.Name] = strict[core.Service](t, document)
		case "policy/v1 PodDisruptionBudget":
			o.budget = strict[policy.PodDisruptionBudget](t, document)
		case "v1 Secret":
			o.secrets[kind.Metadata.Name] = strict[core.Secret](t, document)
		default:
			t.Fatalf("an object that no test knows: %s %s", kind.APIVersion, kind.Kind)
		}
	}
	if o.set == nil || len(o.pod().Containers) != 1 {
		t.Fatalf("no StatefulSet with one container in\n%s", text)
	}
	return o
}

func strict[T any](t *testing.T, document string) *T {
	t.Helper()
	asJSON, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	object := new(T)
	unknown, err := json.UnmarshalStrict(asJSON, object)
	if err = errors.Join(append(unknown, err)...); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	return object
}
