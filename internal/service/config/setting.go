package config

import (
	"iter"
	"reflect"
	"strings"
)

// Setting is what is known of a field: of the settings, or of the policy.
type Setting struct {
	Key     string // in the file, and the flag's name; of the policy the section, a point, and the name in it
	Env     string // its variable; none for the policy
	Default string
	Help    string
	Secret  bool // from the environment or a file alone, and never shown

	subject string // the struct it stands in
	field   reflect.StructField
}

// FileKey and FileEnv name a secret by the file that holds it, as a container
// platform gives secrets to a program. They may be a flag: a path gives nothing
// away.
func (s Setting) FileKey() string { return s.Key + "-file" }

// FileEnv is the variable for FileKey.
func (s Setting) FileEnv() string { return s.Env + "_FILE" }

// Choices are the values that a setting takes; nil where they are not few.
func (s Setting) Choices() []string {
	if of := s.field.Tag.Get("choices"); of != "" {
		return strings.Split(of, ",")
	}
	return nil
}

// Choices are the values that the setting of a name takes.
func Choices(key string) []string {
	s, _ := Find(key)
	return s.Choices()
}

// Settings are all settings, in the order in which they are shown.
func Settings() []Setting { return list(&Config{}) }

// PolicySettings is all of the policy, in the order in which it is printed.
func PolicySettings() []Setting { return list(&Policy{}) }

func list(of any) (all []Setting) {
	for s := range fields(of) {
		all = append(all, s)
	}
	return all
}

// Find returns the setting of a name.
func Find(key string) (Setting, bool) {
	for s := range fields(&Config{}) {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// fields are the settings of a *Config, or all of a *Policy, with where their
// values lie.
func fields(of any) iter.Seq2[Setting, reflect.Value] {
	return func(yield func(Setting, reflect.Value) bool) {
		root := reflect.ValueOf(of).Elem()
		for i := range root.NumField() {
			section, at := root.Type().Field(i), root.Field(i)
			name := section.Tag.Get("koanf")
			if name == "-" || !section.IsExported() {
				continue
			}
			for j := range at.NumField() {
				if !yield(newSetting(name, section.Name, at.Type().Field(j)), at.Field(j)) {
					return
				}
			}
		}
	}
}

// newSetting reads what stands beside a field. A section with a name is one of
// the policy, which has no variables.
func newSetting(section, subject string, f reflect.StructField) Setting {
	name := f.Tag.Get("koanf")
	s := Setting{Key: name, Default: f.Tag.Get("default"), Help: f.Tag.Get("help"), subject: subject, field: f,
		Secret: f.Type == reflect.TypeFor[Secret]()}
	if section != "" {
		s.Key = section + "." + name
		return s
	}
	if s.Env = f.Tag.Get("env"); s.Env == "" {
		s.Env = variable(name)
	}
	return s
}

// prefix of all variables but those that are Temporal's own.
const prefix = "GLEANER_"

// variable is how a setting is called in the environment.
func variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}
