package kubetest

import (
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestKustomizeSaysTheSame compares the base with the chart and its values as they are.
func TestKustomizeSaysTheSame(t *testing.T) {
	text, err := kustomize(t, "build", base)
	if err != nil {
		t.Fatal(err)
	}
	ours, charts := decode(t, text), rendered(t)
	// Both need an image of the operator's.
	ours.set.Spec.Template.Spec.Containers[0].Image = charts.container().Image
	same := func(what string, a, b any) {
		t.Helper()
		if reflect.DeepEqual(a, b) {
			return
		}
		one, err := yaml.Marshal(a)
		other, err2 := yaml.Marshal(b)
		t.Errorf("%s of kustomize:\n%s\nand of the chart:\n%s%v%v", what, one, other, err, err2)
	}
	same("the StatefulSet", ours.set.Spec, charts.set.Spec)
	same("the budget", ours.budget.Spec, charts.budget.Spec)
	for name, service := range charts.services {
		if ours.services[name] == nil {
			t.Fatalf("kustomize has no service %s", name)
		}
		same("the service "+name, ours.services[name].Spec, service.Spec)
	}
	if len(ours.services) != len(charts.services) || len(ours.secrets) != 0 {
		t.Errorf("kustomize has %d services, and %d secrets; a secret has no place in a file", len(ours.services), len(ours.secrets))
	}
}

// TestExample: what an operator changes arrives.
func TestExample(t *testing.T) {
	text, err := kustomize(t, "build", "../kustomize/example")
	if err != nil {
		t.Fatal(err)
	}
	o := decode(t, text)
	if image := o.container().Image; image != "registry.example.org/errata:1.0.0" || o.set.Namespace != "errata" {
		t.Errorf("image %s, namespace %s", image, o.set.Namespace)
	}
	environment := form{o, 3}.environment(t, "errata-0")
	if environment["ERRATA_PUBLIC_URL"] != "https://errata.example.org" || environment["ERRATA_CLUSTER_NODE"] != "errata-0.errata-routes:6222" {
		t.Errorf("the environment is %v", environment)
	}
	claim := o.set.Spec.VolumeClaimTemplates[0].Spec
	if size := claim.Resources.Requests.Storage(); size.String() != "200Gi" || claim.StorageClassName == nil {
		t.Errorf("the volume is %+v", claim)
	}
}

func TestLint(t *testing.T) {
	for _, replicas := range []string{"1", "3", "5"} {
		if out, err := helm(t, withValues([]string{"lint", "--strict", "--kube-version", oldest, chart}, []string{"replicas=" + replicas})...); err != nil {
			t.Errorf("%s nodes: %v%s", replicas, err, out)
		}
	}
}

// TestRefusals: values that cannot work are refused before anything starts, with a reason.
func TestRefusals(t *testing.T) {
	for values, want := range map[string]string{
		"replicas=2":                  "replicas",
		"image.tag=":                  "image.tag is needed",
		"cluster.secret=":             "openssl rand -hex 32",
		"cluster.secret=short":        "at least 32 characters",
		"cluster.existingSecret=mine": "not both",
		"antiAffinity=none":           "antiAffinity",
		"replica=3":                   "'replica' not allowed",
		"env.ERRATA_DATA=elsewhere":   "env.ERRATA_DATA: the chart sets",
		"env.ERRATA_CLUSTER_PEERS=a":  "env.ERRATA_CLUSTER_PEERS: the chart sets",
		"env.ERRATA_LOG_MAX_BYTES=1":  "string",
	} {
		if text, err := template(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %.80s, want %q", values, err, text, want)
		}
	}
}

// TestValues: what an operator sets arrives in the pod.
func TestValues(t *testing.T) {
	f := form{rendered(t, "image.repository=registry.example.org/errata", "env.ERRATA_SMTP_FROM=Errata: <errata@example.org>", "env.ERRATA_CLUSTER_ACK=quorum",
		"envFrom[0].secretRef.name=mail", "storage.className=fast", "storage.size=200Gi", "nodeSelector.disk=fast",
		"service.type=LoadBalancer", "podAnnotations.note=x", "imagePullSecrets[0].name=pull",
		"tolerations[0].key=only", "tolerations[0].operator=Exists"), 3}
	c, pod, claim := f.container(), f.pod(), f.set.Spec.VolumeClaimTemplates[0].Spec
	for what, arrived := range map[string]bool{
		"image":       c.Image == "registry.example.org/errata:1.0.0",
		"setting":     f.environment(t, "errata-0")["ERRATA_SMTP_FROM"] == "Errata: <errata@example.org>",
		"answer":      f.environment(t, "errata-0")["ERRATA_CLUSTER_ACK"] == "quorum",
		"secrets":     len(c.EnvFrom) == 1 && c.EnvFrom[0].SecretRef.Name == "mail",
		"class":       claim.StorageClassName != nil && *claim.StorageClassName == "fast",
		"size":        claim.Resources.Requests.Storage().String() == "200Gi",
		"selector":    pod.NodeSelector["disk"] == "fast",
		"service":     f.services["errata"].Spec.Type == "LoadBalancer",
		"annotation":  f.set.Spec.Template.Annotations["note"] == "x",
		"pull secret": len(pod.ImagePullSecrets) == 1 && pod.ImagePullSecrets[0].Name == "pull",
		"toleration":  len(pod.Tolerations) == 1 && pod.Tolerations[0].Key == "only",
		"memory":      c.Resources.Limits.Memory().String() == "4Gi",
	} {
		if !arrived {
			t.Errorf("the %s did not arrive", what)
		}
	}
}
