package housetest

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"gleaner/activities"
)

type object = map[string]any

// chart renders the objects of the Helm chart, which needs none of Helm's own functions.
func chart(t *testing.T) (all []object) {
	var values object
	require.NoError(t, yaml.Unmarshal([]byte(content(t, "deploy/helm/values.yaml")), &values))
	values["image"] = "registry.example.org/gleaner:1.0"
	values["autoscaling"].(object)["enabled"], values["console"].(object)["enabled"] = true, true
	templates, err := template.ParseGlob(filepath.Join(root(t), "deploy/helm/templates/*"))
	require.NoError(t, err)
	for _, name := range []string{"worker.yaml", "scale.yaml", "migrate.yaml", "console.yaml"} {
		var out bytes.Buffer
		require.NoError(t, templates.ExecuteTemplate(&out, name, object{"Values": values, "Release": object{"Name": "gleaner"}}))
		for part := range strings.SplitSeq(out.String(), "\n---\n") {
			var o object
			require.NoError(t, yaml.Unmarshal([]byte(part), &o), out.String())
			all = append(all, o)
		}
	}
	return all
}

// TestChart: its pods may do little, know only settings, and have their secrets elsewhere.
func TestChart(t *testing.T) {
	t.Parallel()
	known, pods := settingNames(), 0
	for _, o := range chart(t) {
		spec := o["spec"].(object)
		if o["kind"] == "ScaledObject" {
			require.Len(t, spec["triggers"], len(activities.Queues()))
		}
		if o["kind"] == "ScaledObject" || o["kind"] == "Service" {
			continue
		}
		pods++
		pod := spec["template"].(object)["spec"].(object)
		require.Equal(t, true, pod["securityContext"].(object)["runAsNonRoot"])
		c := pod["containers"].([]any)[0].(object)
		security := c["securityContext"].(object)
		require.Equal(t, object{"drop": []any{"ALL"}}, security["capabilities"])
		require.Equal(t, true, security["readOnlyRootFilesystem"])
		require.Contains(t, c["volumeMounts"], object{"name": "tmp", "mountPath": "/tmp"})
		require.Equal(t, []any{object{"secretRef": object{"name": "gleaner"}}}, c["envFrom"])
		if args := c["args"].([]any); args[0] == "worker" {
			require.ElementsMatch(t, activities.Queues(), strings.Split(args[2].(string), ","))
		}
	}
	require.Equal(t, 3, pods)
	var values struct{ Settings map[string]string }
	require.NoError(t, yaml.Unmarshal([]byte(content(t, "deploy/helm/values.yaml")), &values))
	for name := range values.Settings {
		require.True(t, known[name], "no setting reads %s", name)
	}
}

// TestHelmTakesTheChart where Helm is installed.
func TestHelmTakesTheChart(t *testing.T) {
	t.Parallel()
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("helm is not installed")
	}
	set := "image=a,settings.TEMPORAL_ADDRESS=a:7233,settings.GLEANER_REPOSITORY_URL=s3://a,settings.GLEANER_CONTACT=a"
	out, err := exec.CommandContext(t.Context(), helm, "lint", "--set", set, root(t)+"/deploy/helm").CombinedOutput()
	require.NoError(t, err, string(out))
}
