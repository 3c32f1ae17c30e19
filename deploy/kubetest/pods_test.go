package kubetest

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// stopSeconds is how long the service may take to stop. Its unit and the compose file have the
// same number.
const stopSeconds = 15

func TestUpdates(t *testing.T) {
	each(t, 1, func(t *testing.T, f form) {
		spec, pod := f.set.Spec, f.pod()
		sleep := f.container().Lifecycle.PreStop.Sleep
		if sleep == nil || *pod.TerminationGracePeriodSeconds < sleep.Seconds+stopSeconds {
			t.Errorf("it is killed %d s after it was told to sleep for %+v and to stop", *pod.TerminationGracePeriodSeconds, sleep)
		}
		if spec.UpdateStrategy.Type != apps.RollingUpdateStatefulSetStrategyType || spec.MinReadySeconds < 5 {
			t.Errorf("an update is %s, with %d s after each node", spec.UpdateStrategy.Type, spec.MinReadySeconds)
		}
	})
	each(t, 3, func(t *testing.T, f form) {
		// One after another would wait for the first for ever: it is ready only with others.
		if f.set.Spec.PodManagementPolicy != apps.ParallelPodManagement {
			t.Errorf("nodes start %s", f.set.Spec.PodManagementPolicy)
		}
		if f.budget == nil || f.budget.Spec.MaxUnavailable == nil || *f.budget.Spec.MaxUnavailable != intstr.FromInt32(1) {
			t.Errorf("the budget is %+v, want one node away at most", f.budget)
		}
		command := f.container().StartupProbe.Exec
		if command == nil || strings.Join(command.Command, " ") != healthcheck(t) {
			t.Errorf("an update waits for %+v, want the health check of the image", command)
		}
	})
}

// healthcheck is the command with which the image asks the service.
func healthcheck(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(string(text), `CMD ["`)
	command, _, _ = strings.Cut(command, `"]`)
	return strings.ReplaceAll(command, `", "`, " ")
}

// TestNodesGetRequestsWhileTheyRun: Kubernetes sends nothing to a pod that is not ready. A node
// is useful while /readyz says no: it answers lists or takes events.
func TestNodesGetRequestsWhileTheyRun(t *testing.T) {
	each(t, 1, func(t *testing.T, f form) {
		c := f.container()
		for name, probe := range map[string]*core.Probe{"readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != "/healthz" || !hasPort(c, probe.HTTPGet.Port) {
				t.Errorf("%s asks %+v", name, probe)
			}
		}
		if start := c.StartupProbe; start.PeriodSeconds*start.FailureThreshold < 30*60 {
			t.Errorf("a node that makes its records again is killed after %d times %d s", start.FailureThreshold, start.PeriodSeconds)
		}
	})
}

func hasPort(c core.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == port.StrVal })
}

// TestServicesReachThePods: selectors have no typing error, and ports have names.
func TestServicesReachThePods(t *testing.T) {
	each(t, 1, func(t *testing.T, f form) {
		labels, c := f.set.Spec.Template.Labels, f.container()
		selectors := []map[string]string{f.set.Spec.Selector.MatchLabels}
		for _, s := range f.services {
			selectors = append(selectors, s.Spec.Selector)
			if len(s.Spec.Ports) != 1 || !hasPort(c, s.Spec.Ports[0].TargetPort) {
				t.Errorf("%s has the ports %+v", s.Name, s.Spec.Ports)
			}
		}
		if f.budget != nil {
			selectors = append(selectors, f.budget.Spec.Selector.MatchLabels)
		}
		if affinity := f.pod().Affinity; affinity != nil {
			for _, term := range affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				selectors = append(selectors, term.LabelSelector.MatchLabels)
			}
		}
		for _, spread := range f.pod().TopologySpreadConstraints {
			selectors = append(selectors, spread.LabelSelector.MatchLabels)
		}
		if want := map[int]int{1: 2, 3: 6, 5: 6}[f.nodes]; len(selectors) != want {
			t.Errorf("%d selectors, want %d", len(selectors), want)
		}
		for _, selector := range selectors {
			for name, value := range selector {
				if labels[name] != value || len(selector) != 2 {
					t.Errorf("%v does not select the pods %v", selector, labels)
				}
			}
		}
		environment := f.environment(t, "errata-0")
		for _, p := range c.Ports {
			listen := environment[map[string]string{"http": "ERRATA_LISTEN", "routes": "ERRATA_CLUSTER_LISTEN"}[p.Name]]
			if listen != ":"+strconv.Itoa(int(p.ContainerPort)) {
				t.Errorf("port %s is %d, and the service listens on %s", p.Name, p.ContainerPort, listen)
			}
		}
	})
}

func TestNodesStandOnDifferentMachines(t *testing.T) {
	each(t, 3, func(t *testing.T, f form) {
		required := f.pod().Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		if len(required) != 1 || required[0].TopologyKey != core.LabelHostname {
			t.Errorf("required is %+v", required)
		}
	})
	preferred := rendered(t, "antiAffinity=preferred").pod().Affinity.PodAntiAffinity
	if len(preferred.RequiredDuringSchedulingIgnoredDuringExecution) != 0 || len(preferred.PreferredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Errorf("preferred is %+v", preferred)
	}
}

func TestPodsMayDoNothing(t *testing.T) {
	each(t, 1, func(t *testing.T, f form) {
		pod, c := f.pod(), f.container()
		if s := pod.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser == 0 || *s.RunAsGroup == 0 || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("the pod runs with %+v", s)
		}
		if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
			t.Errorf("the container runs with %+v", s)
		}
		if *pod.AutomountServiceAccountToken || pod.HostNetwork || pod.HostPID || pod.HostIPC {
			t.Error("the pod has a token of the cluster or leaves its namespaces")
		}
		if *pod.EnableServiceLinks {
			t.Error("Kubernetes sets ERRATA_PORT and the like for a service named errata, and the service takes them for settings")
		}
	})
}

// TestDataIsKept: the data folder is on the volume, which outlives pods, and its secrets stay
// closed to the group.
func TestDataIsKept(t *testing.T) {
	each(t, 1, func(t *testing.T, f form) {
		spec, c := f.set.Spec, f.container()
		if len(spec.VolumeClaimTemplates) != 1 || len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != spec.VolumeClaimTemplates[0].Name {
			t.Fatalf("%d volumes, mounted %+v", len(spec.VolumeClaimTemplates), c.VolumeMounts)
		}
		if data := f.environment(t, "errata-0")["ERRATA_DATA"]; path.Dir(data) != c.VolumeMounts[0].MountPath {
			t.Errorf("the data is in %s and the volume in %s", data, c.VolumeMounts[0].MountPath)
		}
		if kept := spec.PersistentVolumeClaimRetentionPolicy; kept == nil || kept.WhenDeleted != apps.RetainPersistentVolumeClaimRetentionPolicyType || kept.WhenScaled != kept.WhenDeleted {
			t.Errorf("volumes are kept as %+v says", kept)
		}
		if policy := f.pod().SecurityContext.FSGroupChangePolicy; policy == nil || *policy != core.FSGroupChangeOnRootMismatch {
			t.Error("each start opens the files to the group, and the service refuses secrets that others can read")
		}
		// The log takes up to 10 GiB, and the records stand beside it.
		if size := spec.VolumeClaimTemplates[0].Spec.Resources.Requests[core.ResourceStorage]; size.Cmp(resource.MustParse("20Gi")) < 0 {
			t.Errorf("a volume has %s", size.String())
		}
	})
}
