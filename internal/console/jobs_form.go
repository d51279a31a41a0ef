package console

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/jobfile"
)

// jobForm is the form of a job's options.
type jobForm struct {
	Kind, Name, Say string
	Fields          []jobField
	Open            bool // somebody wrote in it
}

// jobField is an input of a form.
type jobField struct {
	Form, Name, Label string
	Type              string // of the input; "select" and "area" are elements of their own
	Value             string
	Options           []option
	Required          bool
}

// jobFields describe the options of jobs.
func jobFields() map[string]jobField {
	choice := func(label string, of ...string) jobField {
		return jobField{Label: label, Type: "select", Options: options(of, "")}
	}
	text := func(label string) jobField { return jobField{Label: label, Type: "text"} }
	number := func(label string) jobField { return jobField{Label: label, Type: "number"} }
	return map[string]jobField{
		"path": {Label: "File or folder, within the folder for imports", Type: "text", Required: true}, "filter": choice("Filter by content", "on", "off"),
		"format": choice("What it is (format)", ingest.Formats()...), "urls": text("Of a folder or mirror: template of the addresses"), "parent": text("Template of the pages that led there"),
		"date":   {Label: "Day on which they were got", Type: "date"},
		"record": choice("Write to the record", "on", "off"), "types": text("Kinds of file, such as pdf,postscript"),
		"blacklist": {Label: "Hosts to pass over, one a line", Type: "area"}, "only": choice("Which: empty for those that meet both conditions", "", tables.Any, tables.OnlyBlacklisted, tables.OnlyFailed),
		"with-ingested": choice("Also documents that the library took", "", "yes"),
		"with-matched":  choice("Also documents on blacklisted hosts that match a paper or were decided on", "", "yes"),
		"ask":           choice("Ask for pages that no crawl asked for", "", "yes"),
		"domains":       number("Domains on each list"), "least": number("Accepted documents a page links to, at least"), "uncited": choice("Also domains that nobody cites", "", "yes"),
		"ingested": choice("Count only documents that the library took", "", "yes"),
		"state":    text("State, such as accepted,rejected"), "class": text("Class, such as paper,thesis"), "kind": text("Kind of file, such as pdf"), "outcome": text("Outcome of reading"),
		"ingestion": choice("Taken by the library", "", "new", "ingested", "failed"), "host": text("Found on this host"), "venue": text("Papers of this venue"),
		"year": text("Published in, such as 1998-2004"), "from": {Label: "Found on this day or later", Type: "date"}, "to": {Label: "Found on this day or earlier", Type: "date"},
		"text": text("First pages say"), "primary": choice("Without copies of one text", "", "yes"), "sample": number("So many at random"), "seed": text("Seed of the sample"), "limit": number("At most so many"),
	}
}

// jobParams are the options of all jobs, as the description of the console names them.
func jobParams() []param {
	all := jobFields()
	var out []param
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		one := each.Of(f.Options, func(o option) string { return o.Name })
		out = append(out, param{name: name, what: f.Label, number: f.Type == "number", one: one})
	}
	return out
}

func fieldsOf(kind string) []string {
	all := jobfile.Fields(kind)
	if kind == store.JobImport {
		all = append([]string{"path"}, all...)
	}
	return all
}

// jobWords are the name of a kind of job, and what it does.
func jobWords(kind string) [2]string {
	return map[string][2]string{
		store.JobImport:         {"Import", "Takes over the documents of archives, crawlers' logs, mirrors, folders and lists that lie in the folder for imports."},
		store.JobCleanDocuments: {"Clean documents", "Lists documents on blacklisted hosts that the library could not take. Nothing is removed before you say so on the page of the job."},
		store.JobCleanParents:   {"Clean parent pages", "Lists pages that lead to files and are of no use. Nothing is removed before you say so on the page of the job."},
		store.JobWhitelist:      {"Generate the whitelist", "Ranks domains by documents and citations, and lists their pages."},
		store.JobRetrieve:       {"List documents", "Lists the documents that meet conditions, all or some at random, as a table: accepted ones where no state is named."},
	}[kind]
}

// form is that of a kind, with the values that hold.
func form(kind, name string, value func(field string) string) jobForm {
	says := jobWords(kind)
	f := jobForm{Kind: kind, Name: says[0], Say: says[1]}
	all := jobFields()
	for _, n := range fieldsOf(kind) {
		field := all[n]
		field.Form, field.Name, field.Value = name, n, value(n)
		if kind == store.JobCleanParents && n == "only" {
			field.Label = "Which: empty for all of no use"
			field.Options = slices.DeleteFunc(field.Options, func(o option) bool { return o.Name != "" && o.Name != tables.OnlyBlacklisted })
		}
		for i := range field.Options {
			field.Options[i].Chosen = field.Options[i].Name == field.Value
		}
		f.Fields = append(f.Fields, field)
	}
	return f
}

// newJobForms are the forms that set up jobs, with what was asked for where that was
// refused. Without a folder for imports there is none for them.
func (c *Console) newJobForms(a *asked) (all []jobForm) {
	for _, kind := range jobfile.Kinds() {
		if kind != store.JobImport || c.ImportFolder != "" {
			f := form(kind, kind, jobfile.New(kind).Get)
			switch path := a.get("path"); {
			case a.PostForm.Get("job") == kind:
				f = form(kind, kind, a.PostForm.Get)
				f.Open = true
			case kind == store.JobImport && path != "":
				format := map[string]string{".zip": ingest.Folder, ".csv": ingest.CSV}[strings.ToLower(filepath.Ext(path))]
				f = form(kind, kind, func(name string) string {
					return map[string]string{"path": path, "format": format}[name]
				})
				f.Open = true
			}
			all = append(all, f)
		}
	}
	return all
}

// modifyForm is the form of a job that is there, with what was asked for where that was
// refused. The path of an import stays where none is given.
func modifyForm(j store.Job, a *asked) jobForm {
	o, _ := jobfile.Of(j)
	get := o.Get
	wrong := a.PostForm.Get("do") == doModify
	if wrong {
		get = a.PostForm.Get
	}
	f := form(j.Kind, "modify", get)
	f.Open = wrong
	if j.Kind == store.JobImport {
		f.Fields = f.Fields[1:]
	}
	return f
}

// newOptions are those of a job that somebody sets up. A cleaning is a dry run first: what it
// lists is confirmed on its page.
func (c *Console) newOptions(a *asked) (*jobfile.Options, error) {
	o := jobfile.New(a.get("job"))
	if a.get("job") == store.JobImport {
		folder, path, err := c.importPath(a.get("path"))
		if err != nil {
			return nil, err
		}
		o.Import.Paths, o.Import.Within = []string{path}, folder
	}
	err := o.SetGiven(func(name string) (string, bool) { return a.get(name), a.get(name) != "" })
	return o, cmp.Or(err, o.Check())
}

// errNoImports is why nothing can be imported from the console.
var errNoImports = fmt.Errorf("%w: nothing can be imported from here: whoever runs Gleaner has set no folder for imports", errInput)

// importPath is the folder for imports, and a file in it. What leads out of it is refused,
// here and whenever the worker opens it: a person at a browser must not have the worker
// read what else lies on its machine.
func (c *Console) importPath(given string) (root, real string, err error) {
	if c.ImportFolder == "" {
		return "", "", errNoImports
	}
	given = strings.TrimSpace(given)
	if !filepath.IsLocal(given) {
		return "", "", fmt.Errorf("%w: path: want a file or folder within %s, not %q", errInput, c.ImportFolder, given)
	}
	root, err = filepath.EvalSymlinks(c.ImportFolder)
	if err != nil {
		return "", "", fmt.Errorf("%w: the folder for imports is not here: %w", errInput, err)
	}
	real, err = filepath.EvalSymlinks(filepath.Join(root, given))
	if os.IsNotExist(err) {
		return "", "", fmt.Errorf("%w: path: there is no %q in %s", errInput, given, c.ImportFolder)
	}
	if err != nil {
		return "", "", err
	}
	if within, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(within) {
		return "", "", fmt.Errorf("%w: path: %q leads out of %s", errInput, given, c.ImportFolder)
	}
	return root, real, nil
}
