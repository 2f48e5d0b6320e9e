package check

import (
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// scaledObject has the fields of KEDA's ScaledObject that are used here.
// https://keda.sh/docs/latest/reference/scaledobject-spec/
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int32 `json:"minReplicaCount"`
		MaxReplicaCount int32 `json:"maxReplicaCount"`
		PollingInterval int32 `json:"pollingInterval"`
		CooldownPeriod  int32 `json:"cooldownPeriod"`
		Triggers        []struct {
			Type     string `json:"type"`
			Metadata struct {
				Endpoint        string `json:"endpoint"`
				Namespace       string `json:"namespace"`
				TaskQueue       string `json:"taskQueue"`
				TargetQueueSize string `json:"targetQueueSize"`
				QueueTypes      string `json:"queueTypes"`
			} `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

// cluster holds the objects of a folder.
type cluster struct {
	deployments map[string]*appsv1.Deployment
	budgets     map[string]*policyv1.PodDisruptionBudget
	scalers     map[string]*autoscalingv2.HorizontalPodAutoscaler
	scaled      map[string]*scaledObject
	services    map[string]*corev1.Service
	settings    map[string]*corev1.ConfigMap
	policies    map[string]*networkingv1.NetworkPolicy
}

// build runs kustomize and decodes its output strictly: fields unknown to Kubernetes
// are errors, as for the API server.
func build(t *testing.T, dir string) cluster {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{
		map[string]*appsv1.Deployment{},
		map[string]*policyv1.PodDisruptionBudget{},
		map[string]*autoscalingv2.HorizontalPodAutoscaler{},
		map[string]*scaledObject{},
		map[string]*corev1.Service{},
		map[string]*corev1.ConfigMap{},
		map[string]*networkingv1.NetworkPolicy{},
	}
	for _, r := range made.Resources() {
		raw, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		name := r.GetName()
		var into any
		switch kind := r.GetGvk().String(); kind {
		case "Deployment.v1.apps":
			c.deployments[name] = &appsv1.Deployment{}
			into = c.deployments[name]
		case "PodDisruptionBudget.v1.policy":
			c.budgets[name] = &policyv1.PodDisruptionBudget{}
			into = c.budgets[name]
		case "HorizontalPodAutoscaler.v2.autoscaling":
			c.scalers[name] = &autoscalingv2.HorizontalPodAutoscaler{}
			into = c.scalers[name]
		case "ScaledObject.v1alpha1.keda.sh":
			c.scaled[name] = &scaledObject{}
			into = c.scaled[name]
		case "Service.v1.[noGrp]":
			c.services[name] = &corev1.Service{}
			into = c.services[name]
		case "ConfigMap.v1.[noGrp]":
			c.settings[name] = &corev1.ConfigMap{}
			into = c.settings[name]
		case "NetworkPolicy.v1.networking.k8s.io":
			c.policies[name] = &networkingv1.NetworkPolicy{}
			into = c.policies[name]
		case "Namespace.v1.[noGrp]":
			into = &corev1.Namespace{}
		case "ServiceAccount.v1.[noGrp]":
			into = &corev1.ServiceAccount{}
		default:
			t.Fatalf("%s is a %s, which this test does not check", name, kind)
		}
		if err := yaml.UnmarshalStrict(raw, into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.GetNamespace() != "dateline" && r.GetKind() != "Namespace" {
			t.Errorf("%s is in the namespace %q", name, r.GetNamespace())
		}
	}
	return c
}

func TestManifestsAreWhatKubernetesTakes(t *testing.T) {
	c := build(t, "../kubernetes")
	got := map[string]int{
		"deployments": len(c.deployments), "budgets": len(c.budgets), "scalers": len(c.scalers),
		"services": len(c.services), "settings": len(c.settings), "policies": len(c.policies),
	}
	if want := map[string]int{
		"deployments": 2, "budgets": 2, "scalers": 1, "services": 1, "settings": 1,
		"policies": 2,
	}; !maps.Equal(got, want) {
		t.Errorf("the folder builds %v, want %v", got, want)
	}
	for name, d := range c.deployments {
		selected := d.Spec.Selector.MatchLabels["app.kubernetes.io/name"]
		if selected == "" || d.Spec.Template.Labels["app.kubernetes.io/name"] != selected {
			t.Errorf("%s selects other pods than its own", name)
		}
		b, ok := c.budgets[name]
		if !ok || b.Spec.Selector.MatchLabels["app.kubernetes.io/name"] != selected {
			t.Errorf("%s has no disruption budget", name)
		}
		if d.Spec.Replicas == nil || int(*d.Spec.Replicas) <= b.Spec.MinAvailable.IntValue() {
			t.Errorf("%s cannot be moved: its disruption budget allows no eviction", name)
		}
		if s := d.Spec.Strategy.RollingUpdate; s == nil || s.MaxUnavailable.IntValue() != 0 {
			t.Errorf("%s is unavailable for a moment during a rollout", name)
		}
	}
	if selector := c.services["dateline-api"].Spec.Selector["app.kubernetes.io/name"]; selector != "dateline-api" {
		t.Errorf("the service selects %q", selector)
	}
	if ref := c.scalers["dateline-api"].Spec.ScaleTargetRef; c.deployments[ref.Name] == nil ||
		ref.Kind != "Deployment" {
		t.Errorf("the autoscaler scales %+v", ref)
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// missingSettings lists the security settings that a container lacks.
func missingSettings(s *corev1.SecurityContext) (missing []string) {
	if s == nil {
		return []string{"securityContext"}
	}
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
		missing = append(missing, "allowPrivilegeEscalation: false")
	}
	if !isTrue(s.ReadOnlyRootFilesystem) {
		missing = append(missing, "readOnlyRootFilesystem: true")
	}
	if s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
		missing = append(missing, "capabilities: drop ALL")
	}
	return missing
}

func TestPodsAreHardened(t *testing.T) {
	for name, d := range build(t, "../kubernetes").deployments {
		pod := d.Spec.Template.Spec
		if s := pod.SecurityContext; s == nil || !isTrue(s.RunAsNonRoot) {
			t.Errorf("%s may run as root: %+v", name, s)
		} else if s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s lacks the seccomp profile of the runtime: %+v", name, s)
		}
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s can talk to the cluster", name)
		}
		for _, one := range append(pod.InitContainers, pod.Containers...) {
			if missing := missingSettings(one.SecurityContext); len(missing) > 0 {
				t.Errorf("%s of %s lacks %v", one.Name, name, missing)
			}
			if one.Resources.Limits.Memory().IsZero() || one.Resources.Requests.Memory().IsZero() ||
				one.Resources.Requests.Cpu().IsZero() {
				t.Errorf("%s of %s is not bounded", one.Name, name)
			}
			if one.Image != "registry.example/dateline:1.0.0" {
				t.Errorf("%s of %s is %s", one.Name, name, one.Image)
			}
		}
	}
}

// drains is the time that each component needs to stop: requests 10 s after preStop; a
// worker 20 s for each of its queues (worker/worker.go, internal/cli/serve.go).
func TestPodsGetTimeToDrain(t *testing.T) {
	for name, d := range build(t, "../kubernetes").deployments {
		pod := d.Spec.Template.Spec
		need := int64(3 * 20)
		if name == "dateline-api" {
			need = 10 + pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds
		}
		if pod.TerminationGracePeriodSeconds == nil || *pod.TerminationGracePeriodSeconds <= need {
			t.Errorf("%s is killed before it has drained (%d s)", name, need)
		}
		c := pod.Containers[0]
		for what, p := range map[string]*corev1.Probe{
			"startup": c.StartupProbe, "liveness": c.LivenessProbe,
			"readiness": c.ReadinessProbe,
		} {
			want := map[bool]string{true: "/readyz", false: "/livez"}[what == "readiness"]
			if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != want {
				t.Errorf("%s: the %s probe is %+v", name, what, p)
				continue
			}
			known := false
			for _, port := range c.Ports {
				known = known || port.Name == p.HTTPGet.Port.StrVal
			}
			if !known {
				t.Errorf("%s: the %s probe uses the unknown port %s", name, what, p.HTTPGet.Port.String())
			}
		}
		mounts := map[string]bool{}
		for _, v := range pod.Volumes {
			mounts[v.Name] = true
		}
		for _, m := range c.VolumeMounts {
			if !mounts[m.Name] {
				t.Errorf("%s mounts %s, which is not a volume", name, m.Name)
			}
		}
	}
}

func TestWorkersGrowWithTheBacklog(t *testing.T) {
	c := build(t, "../keda")
	s, ok := c.scaled["dateline-worker"]
	if !ok || c.deployments[s.Spec.ScaleTargetRef.Name] == nil {
		t.Fatalf("nothing scales the workers: %+v", c.scaled)
	}
	queues := map[string]bool{}
	for _, trigger := range s.Spec.Triggers {
		queues[trigger.Metadata.TaskQueue] = trigger.Type == "temporal"
		if trigger.Metadata.Namespace != c.settings["dateline"].Data["TEMPORAL_NAMESPACE"] ||
			trigger.Metadata.Endpoint != c.settings["dateline"].Data["TEMPORAL_ADDRESS"] {
			t.Errorf("%s uses another address: %+v", trigger.Metadata.TaskQueue, trigger.Metadata)
		}
	}
	for _, q := range []string{"dateline-post", "dateline-webhook", "dateline-crawl"} {
		if !queues[q] {
			t.Errorf("the backlog of %s starts no worker", q)
		}
	}
	if int(s.Spec.MinReplicaCount) <= c.budgets["dateline-worker"].Spec.MinAvailable.IntValue() {
		t.Error("workers cannot be moved when few run")
	}
}

// The decoder refuses fields unknown to Kubernetes.
func TestAnUnknownFieldIsRefused(t *testing.T) {
	if err := yaml.UnmarshalStrict([]byte("apiVersion: apps/v1\nkind: Deployment\nspec: {replicaz: 1}\n"),
		&appsv1.Deployment{}); err == nil {
		t.Error("accepted an unknown field")
	}
}
