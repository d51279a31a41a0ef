package config

import (
	"bufio"
	"fmt"
	"io"
)

// WriteTemplate writes a settings file in which every setting is a comment: what it is,
// what it takes, its variable, and its default.
func WriteTemplate(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# The settings of Gleaner. Take the # away from a line \"name: value\" that you change. A flag\n# wins over the environment, and that over this file.")
	subject := ""
	for s, field := range fields(&Config{}) {
		if s.subject != subject {
			fmt.Fprintf(b, "\n## %s\n", s.subject)
			subject = s.subject
		}
		fmt.Fprintf(b, "\n# %s\n# (%s; %s)\n", s.Help, s.wants(), s.Env)
		if s.Secret {
			fmt.Fprintf(b, "#%s: \"\"\n", s.FileKey())
			continue
		}
		fmt.Fprintf(b, "#%s: %s\n", s.Key, quoted(field, s.Default))
	}
	return b.Flush()
}
