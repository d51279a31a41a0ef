package housetest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/service/config"
)

type service struct {
	Image       string
	Command     any
	Environment map[string]string
	EnvFile     []struct{ Path string } `yaml:"env_file"`
	Volumes     []string
	Ports       []string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck *struct{ Test []string }
	Restart     string
	WorkingDir  string   `yaml:"working_dir"`
	CapDrop     []string `yaml:"cap_drop"`
	CapAdd      []string `yaml:"cap_add"`
	SecurityOpt []string `yaml:"security_opt"`
	ReadOnly    bool     `yaml:"read_only"`
	Tmpfs       []string
	PidsLimit   int    `yaml:"pids_limit"`
	MemLimit    string `yaml:"mem_limit"`
	Networks    []string
}

type compose struct {
	Services map[string]service
	Volumes  map[string]any
	Networks map[string]any
}

// ours are the services that are made of this checkout.
var ours = []string{"console", "starter", "worker"}

func readCompose(t *testing.T) compose {
	var c compose
	require.NoError(t, yaml.Unmarshal([]byte(content(t, "docker-compose.yml")), &c))
	return c
}

// content reads a file of the checkout, or its patched copy where `make mutants` breaks it.
func content(t *testing.T, path string) string {
	at := filepath.Join(root(t), path)
	if patched, by, _ := strings.Cut(os.Getenv("PATCHED_FILE"), "="); patched == path {
		at = by
	}
	raw, err := os.ReadFile(at)
	require.NoError(t, err)
	return string(raw)
}

// settingNames are the variables that some setting, Go or a proxy reads.
func settingNames() map[string]bool {
	known := map[string]bool{"HTTP_PROXY": true, "HTTPS_PROXY": true, "NO_PROXY": true, "SSL_CERT_FILE": true, "GOMEMLIMIT": true}
	for _, s := range config.Settings() {
		known[s.Env] = true
	}
	return known
}

// TestComposeNamesSettings: a setting that the code does not know would be
// ignored without a word.
func TestComposeNamesSettings(t *testing.T) {
	t.Parallel()
	known, c := settingNames(), readCompose(t)
	for _, name := range ours {
		env := c.Services[name].Environment
		for variable := range env {
			require.True(t, known[variable], "%s sets %s, which no setting reads", name, variable)
		}
		require.Equal(t, []struct{ Path string }{{"gleaner.env"}}, c.Services[name].EnvFile, "there every other setting is given")
		for _, needed := range []string{
			"GLEANER_DATABASE_URL", "TEMPORAL_ADDRESS", "GLEANER_REPOSITORY_URL", "GLEANER_CONTACT", "GLEANER_SEARCH", "GLEANER_SEARXNG_URL",
		} {
			require.Contains(t, env, needed, name)
		}
	}
	require.Contains(t, c.Services["worker"].Environment["GLEANER_DATABASE_URL"], "@postgres:5432/gleaner")
	require.Equal(t, "temporal:7233", c.Services["worker"].Environment["TEMPORAL_ADDRESS"])
}

func TestComposeHangsTogether(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	for name, s := range c.Services {
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if v == workFolder {
				continue // is made by who needs it
			}
			if strings.HasPrefix(from, "./") {
				_, err := os.Stat(filepath.Join(root(t), from))
				require.NoError(t, err, "%s mounts it", name)
				continue
			}
			require.Contains(t, c.Volumes, from, name)
		}
		for _, p := range s.Ports {
			require.True(t, strings.HasPrefix(p, "127.0.0.1:"), "%s opens port %s to the world", name, p)
		}
		require.NotContains(t, s.Image, "auto-setup", "deprecated")
	}
}

// workFolder is where the command line finds what a person gives it, and leaves what it
// writes for them.
const workFolder = "${GLEANER_WORK:-./work}:/work"

func TestComposeGivesTheCommandLineAFolder(t *testing.T) {
	t.Parallel()
	s := readCompose(t).Services["starter"]
	require.Contains(t, s.Volumes, workFolder)
	require.Contains(t, s.Volumes, "documents:/var/lib/gleaner", "exports copy documents")
	require.Equal(t, "/work", s.WorkingDir, "files are named as they are in the folder")
}

// TestComposeLooksAtEveryService that stays up: Docker says which does not answer, at its
// own port; and nothing begins before what it needs does.
func TestComposeLooksAtEveryService(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	for name, s := range c.Services {
		for other, how := range s.DependsOn {
			require.Contains(t, c.Services, other, "%s depends on it", name)
			want := "service_healthy"
			if strings.HasPrefix(c.Services[other].Restart, "on-failure") {
				want = "service_completed_successfully"
			}
			require.Equal(t, want, how.Condition, "%s waits for %s", name, other)
		}
		if s.Restart != "unless-stopped" { // comes to an end
			require.Nil(t, s.Healthcheck, name)
			continue
		}
		require.NotNil(t, s.Healthcheck, name)
		require.True(t, slices.Contains([]string{"CMD", "CMD-SHELL"}, s.Healthcheck.Test[0]), name)
		for _, p := range s.Ports {
			port := p[strings.LastIndex(p, ":")+1:]
			require.Contains(t, strings.Join(s.Healthcheck.Test, " "), port, "%s is published there", name)
		}
	}
	for _, name := range ours {
		for _, needed := range []string{"postgres", "temporal-namespace"} {
			require.Contains(t, c.Services[name].DependsOn, needed, name)
		}
	}
	require.Contains(t, c.Services["console"].Environment["GLEANER_DATABASE_URL"], "@postgres:")
}

// TestComposeConfinesEveryService: what breaks out of a program finds little
// beside it.
func TestComposeConfinesEveryService(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		require.Equal(t, []string{"ALL"}, s.CapDrop, name)
		require.Contains(t, s.SecurityOpt, "no-new-privileges:true", name)
		require.Positive(t, s.PidsLimit, name)
		require.NotEmpty(t, s.MemLimit, name)
		if slices.Contains(ours, name) {
			require.Empty(t, s.CapAdd, name)
			require.True(t, s.ReadOnly, name)
			require.NotEmpty(t, s.Tmpfs, name)
			require.NotEmpty(t, s.Environment["GOMEMLIMIT"], name)
		}
	}
}

// TestComposeServicesReachWhatTheyNeed: services share a network where one of them has to
// ask the other, so what breaks into the search engine or a page of figures reaches neither
// Temporal, which asks for no password, nor the database.
func TestComposeServicesReachWhatTheyNeed(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	apart := map[string][]string{
		"searxng":     {"postgres", "temporal", "temporal-ui", "prometheus", "grafana"},
		"grafana":     {"postgres", "temporal", "temporal-ui", "worker", "console"},
		"prometheus":  {"postgres", "temporal", "temporal-ui", "searxng"},
		"temporal-ui": {"postgres", "worker", "console", "searxng"},
	}
	shared := func(a, b string) bool {
		return slices.ContainsFunc(c.Services[a].Networks, func(n string) bool { return slices.Contains(c.Services[b].Networks, n) })
	}
	for name, s := range c.Services {
		require.NotEmpty(t, s.Networks, "%s is in the network of all", name)
		for _, n := range s.Networks {
			require.Contains(t, c.Networks, n, name)
		}
		for other := range s.DependsOn {
			done := strings.HasPrefix(c.Services[other].Restart, "on-failure") // and asked by nobody
			require.True(t, done || shared(name, other), "%s asks %s", name, other)
		}
		for _, other := range apart[name] {
			require.False(t, shared(name, other), "%s reaches %s", name, other)
		}
	}
	require.True(t, shared("prometheus", "worker"))
}

// TestComposeHasNoPasswordOfItsOwn: one that stands in a public file is none.
func TestComposeHasNoPasswordOfItsOwn(t *testing.T) {
	t.Parallel()
	raw := content(t, "docker-compose.yml")
	example := content(t, "deploy/example.env")
	asked := regexp.MustCompile(`\$\{(\w*(?:PASSWORD|SECRET|KEY)\w*)([^}]*)\}`).FindAllStringSubmatch(raw, -1)
	require.Greater(t, len(asked), 5)
	for _, m := range asked {
		require.True(t, strings.HasPrefix(m[2], ":?"), "%s has a default: %s", m[1], m[0])
		require.Regexp(t, `(?m)^`+m[1]+`=$`, example)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+\S*(?:PASSWORD|PWD|SECRET)\S*: (.*)$`).FindAllStringSubmatch(raw, -1) {
		require.Regexp(t, `^\$\{\w+:\?`, m[1])
	}
}

// TestGleanersRoleIsNoSuperuser: what is injected into a query reaches Gleaner's
// own tables alone.
func TestGleanersRoleIsNoSuperuser(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	require.NotContains(t, c.Services["postgres"].Environment, "POSTGRES_USER", "the image makes that one a superuser")
	require.Contains(t, c.Services["worker"].Environment["GLEANER_DATABASE_URL"], "postgres://gleaner:")
	raw := content(t, "deploy/postgres/roles.sh")
	for _, role := range []string{"gleaner", "temporal"} {
		require.Regexp(t, "CREATE ROLE "+role+" LOGIN NOSUPERUSER ", raw)
	}
}

// TestTheConsoleBehindAProxy: whose word of a client's address is believed is a setting of
// each deployment, and by default nobody's.
func TestTheConsoleBehindAProxy(t *testing.T) {
	t.Parallel()
	command, ok := readCompose(t).Services["console"].Command.([]any)
	require.True(t, ok)
	require.Contains(t, command, "--url=${CONSOLE_URL:-}")
	require.Contains(t, command, "--trusted-proxies=${CONSOLE_TRUSTED_PROXIES:-}")
	unit := content(t, "deploy/systemd/gleaner-console.service")
	require.Contains(t, unit, " --url=${CONSOLE_URL} --trusted-proxies=${CONSOLE_TRUSTED_PROXIES}\n")
	example := content(t, "deploy/example.env")
	require.Regexp(t, `(?m)^CONSOLE_URL=\nCONSOLE_TRUSTED_PROXIES=$`, example)
}

func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`:(?:\$\{\w+:-)?v?\d+\.\d+[\w.-]*\}?$`)
	for name, s := range readCompose(t).Services {
		if s.Image != "gleaner:latest" { // is built here
			require.Regexp(t, version, s.Image, name)
		}
	}
	docker := content(t, "Dockerfile")
	for _, m := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(docker, -1) {
		require.Regexp(t, `:(\d+\.\d+\.\d+-\w+|\w+-\d{8}-slim)$`, m[1])
	}
}

func TestWorkersTakeEveryQueue(t *testing.T) {
	t.Parallel()
	command, ok := readCompose(t).Services["worker"].Command.([]any)
	require.True(t, ok)
	queues := strings.Split(command[len(command)-1].(string), ",")
	want := slices.Sorted(slices.Values(activities.Queues()))
	require.Equal(t, want, slices.Sorted(slices.Values(queues)))
}

func TestNamespaceScriptRegistersTheSearchAttributes(t *testing.T) {
	t.Parallel()
	raw := content(t, "deploy/temporal/namespace.sh")
	registered := map[string]string{}
	for _, m := range regexp.MustCompile(`\b(Gleaner\w+):(\w+)`).FindAllStringSubmatch(raw, -1) {
		registered[m[1]] = m[2]
	}
	require.Equal(t, gleaner.SearchAttributes(), registered)
}

func TestSearXNGAnswersInJSON(t *testing.T) {
	t.Parallel()
	raw := content(t, "deploy/searxng/settings.yml")
	var s struct{ Search struct{ Formats []string } }
	require.NoError(t, yaml.Unmarshal([]byte(raw), &s))
	require.Contains(t, s.Search.Formats, "json")
}

func TestImageBuildsWithTheModulesGo(t *testing.T) {
	t.Parallel()
	docker := content(t, "Dockerfile")
	mod := content(t, "go.mod")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(mod)
	require.NotNil(t, version)
	require.Contains(t, docker, "FROM golang:"+version[1])
	for _, needed := range []string{"poppler-utils", "ghostscript", "catdoc", "./starter ./worker", "USER gleaner"} {
		require.Contains(t, docker, needed)
	}
}
