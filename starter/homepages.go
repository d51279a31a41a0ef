package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/homepage"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// errAuthor is returned for a name that no author answers to.
var errAuthor = errors.New("no such author")

const authorArg = "an author: name or pid"

func homepagesCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "homepages", Short: "See where authors were found, and say where they are",
		Long: `See and correct what was found out about authors' homepages. An author is named
by pid, or by name where only one has it. What a person says lasts: later
harvests heed it, and harvests that run take it up at once.`}
	cmd.AddCommand(homepagesList(c), homepagesExplain(c), homepagesSet(c), homepagesForget(c))
	return cmd
}

func homepagesList(c *cli) *cobra.Command {
	var missing bool
	cmd := &cobra.Command{Use: "list [HARVEST]", Short: "List authors of wanted papers with their homepages", Args: cobra.MaximumNArgs(1),
		Example: "  starter homepages list conf/webdb\n  starter homepages list --missing --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			id, err := harvestID(ctx, a.DB, strings.Join(args, ""))
			if err != nil {
				return err
			}
			all, err := a.DB.ListHomepages(ctx, id)
			out := each.List(each.Where(all, func(a store.AuthorHomepages) bool { return !missing || len(a.Homepages) == 0 }))
			return printOne(c, out, err, func(w io.Writer, _ []store.AuthorHomepages) error {
				return writeHomepages(w, out, len(all))
			})
		})}
	cmd.Flags().BoolVar(&missing, "missing", false, "only authors without a homepage")
	return cmd
}

func writeHomepages(w io.Writer, all []store.AuthorHomepages, of int) error {
	found := 0
	var l lines
	for _, a := range all {
		head := fmt.Sprintf("%s\t%s\t%d", a.Author.Name, a.Author.ID(), a.Wanted)
		switch {
		case a.DecidedAt == nil && a.Found:
			l.add("%s\t(not looked for: papers found)\t\t", head)
		case a.DecidedAt == nil:
			l.add("%s\t(not looked for yet)\t\t", head)
		case len(a.Homepages) == 0:
			l.add("%s\t(%s)\t\t", head, a.NotFound)
		default:
			found++
		}
		for _, h := range a.Homepages {
			if h.Scope != "" {
				l.add("%s\tpapers at %s\t\t", head, h.URL)
				continue
			}
			l.add("%s\t%s\t%s\t%.2f", head, h.URL, h.Source, h.Score)
			head = "\t\t"
		}
	}
	err := table(w, "AUTHOR\tPID\tWANTED\tHOMEPAGE\tSOURCE\tSCORE", l, "no author is wanted")
	if err != nil {
		return err
	}
	if found == 0 && len(all) < of { // those without one alone are listed
		_, err := fmt.Fprintf(w, "no homepage of %d of %s\n", len(all), text.Count(of, "author"))
		return err
	}
	_, err = fmt.Fprintf(w, "homepages of %d of %s\n", found, text.Count(of, "author"))
	return err
}

// oneAuthor finds the author that a person means.
func oneAuthor(ctx context.Context, db store.PersonRecords, name string) (gleaner.Author, error) {
	found, err := db.AuthorsByName(ctx, name)
	if err != nil || len(found) == 1 {
		return append(found, gleaner.Author{})[0], err
	}
	how := "several authors are called %q; name one by what stands behind the name: %s"
	if len(found) == 0 {
		if found, err = db.AuthorsLike(ctx, strings.Fields(name), 10); err != nil {
			return gleaner.Author{}, err
		}
		if len(found) == 0 {
			return gleaner.Author{}, fmt.Errorf("%q: %w in the record; a harvest or `starter metadata show` enters them", name, errAuthor)
		}
		how = "nobody is called %q exactly; there are: %s"
	}
	list := each.Of(found, func(a gleaner.Author) string { return fmt.Sprintf("%s (%s)", a.Name, a.ID()) })
	return gleaner.Author{}, program.Unknown{Reason: fmt.Errorf(how, name, strings.Join(list, ", "))}
}

// onAuthor runs a command on one author with the record open.
func (c *cli) onAuthor(do func(ctx context.Context, a *app.App, h harvest.Homepages, who gleaner.Author, rest []string) error) func(*cobra.Command, []string) error {
	return c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
		who, err := oneAuthor(ctx, a.DB.PersonRecords, args[0])
		if err != nil {
			return err
		}
		return do(ctx, a, harvest.Homepages{DB: a.DB}, who, args[1:])
	})
}

func homepagesSet(c *cli) *cobra.Command {
	var not bool
	cmd := &cobra.Command{Use: "set AUTHOR URL", Short: "Say that a page is an author's homepage, or is not", Args: args(2, authorArg+", and a URL"),
		Example: "  starter homepages set 'Jane Roe' https://www.example.edu/~roe/\n  starter homepages set 12/3456 https://www.example.com/roe --not",
		RunE: c.onAuthor(func(ctx context.Context, a *app.App, _ harvest.Homepages, who gleaner.Author, rest []string) error {
			word := "is"
			if not {
				word = "is-not"
			}
			url, joined, err := setHomepage(ctx, c, a, who, rest[0], word)
			return done(c, err, map[string]any{"author": who, "url": url, "word": word, "harvests": joined},
				"%s (%s): %s\n", who.Name, who.ID(), strings.Join(setWords(url, word, joined), "\n"))
		})}
	cmd.Flags().BoolVar(&not, "not", false, "the page is not theirs")
	return cmd
}

// pageURL is the address of a page that a person gave.
func pageURL(given string) (string, error) {
	url, err := weburl.Canonical("", given)
	if err != nil {
		err = fmt.Errorf("%w: %q is no address of a page: %w", program.ErrUsage, given, err)
	}
	return url, err
}

// setHomepage keeps a person's word on a page of an author, and returns the harvests that take it up.
func setHomepage(ctx context.Context, c *cli, a *app.App, who gleaner.Author, given, word string) (url string,
	joined []string, err error) {
	if url, err = pageURL(given); err != nil {
		return "", nil, err
	}
	running, err := harvest.Homepages{DB: a.DB}.Say(ctx, who, url, word)
	if err != nil {
		return "", nil, err
	}
	return url, crawlToo(ctx, c, a, running, url), nil
}

// setWords say what setHomepage did, a line each.
func setWords(url, word string, joined []string) []string {
	lines := []string{url + " " + strings.ReplaceAll(word, "-", " ") + " their homepage"}
	for _, id := range joined {
		lines = append(lines, id+" takes it up")
	}
	return lines
}

// forgetHomepage takes back what was said of a page of an author, or of all where none is given.
func forgetHomepage(ctx context.Context, h harvest.Homepages, who gleaner.Author, given string) (did string, n int,
	err error) {
	url := given
	if given != "" {
		if url, err = pageURL(given); err != nil {
			return "", 0, err
		}
	}
	if n, err = h.Forget(ctx, who, url); err == nil && n == 0 {
		of := cmp.Or(url, "the homepages")
		err = program.Unknown{Reason: fmt.Errorf("nobody said anything of %s of %s, so nothing was changed; `starter homepages explain` says how homepages were found", of, who.Name)}
	}
	return text.Count(n, "answer") + " taken back; what was found before counts again, and where that is nothing the next harvest looks", n, err
}

// crawlToo gives the homepages of harvests that crawl already to the frontier, and
// lets them look for hosts again. It returns the harvests that heard.
func crawlToo(ctx context.Context, c *cli, a *app.App, running []store.Harvest, url string) []string {
	var joined []string
	if len(running) == 0 {
		return nil
	}
	t, err := c.temporal(ctx)
	if err != nil {
		a.Log.Warn("harvests that run could not be told; the next harvest heeds it", "error", err)
		return nil
	}
	defer t.Close()
	for _, h := range running {
		var o activities.HarvestOptions
		if err := json.Unmarshal(h.Options, &o); err != nil {
			a.Log.Warn("options of the harvest cannot be read", "harvest", h.ID, "error", err)
			continue
		}
		if _, err := (&harvest.Stages{DB: a.DB, Log: a.Log}).SeedHomepages(ctx, h.ID, o.Scope, "", func(string, harvest.Seeded) {}); err != nil {
			a.Log.Warn("the page could not be given to the harvest", "harvest", h.ID, "error", err)
			continue
		}
		if _, err := retryRunning(ctx, t, h.ID, activities.Retry{Host: weburl.Host(url)}); err != nil {
			a.Log.Warn("the harvest did not hear of it; the next one heeds it", "harvest", h.ID, "error", err)
			continue
		}
		joined = append(joined, h.ID)
	}
	return joined
}

func homepagesForget(c *cli) *cobra.Command {
	return &cobra.Command{Use: "forget AUTHOR [URL]", Short: "Take back what was said of an author; what was found before counts again", Args: cobra.RangeArgs(1, 2),
		Example: "  starter homepages forget 'Jane Roe'",
		RunE: c.onAuthor(func(ctx context.Context, _ *app.App, h harvest.Homepages, who gleaner.Author, rest []string) error {
			did, n, err := forgetHomepage(ctx, h, who, strings.Join(rest, ""))
			return done(c, err, map[string]any{"author": who, "words": n}, "%s (%s): %s\n", who.Name, who.ID(), did)
		})}
}

func homepagesExplain(c *cli) *cobra.Command {
	return &cobra.Command{Use: "explain AUTHOR", Short: "Print every candidate for an author's homepage, and why it was kept or not", Args: args(1, authorArg),
		Example: "  starter homepages explain 'Jane Roe'\n  starter homepages explain 12/3456 --json",
		RunE: c.onAuthor(func(ctx context.Context, _ *app.App, h harvest.Homepages, who gleaner.Author, _ []string) error {
			e, err := h.Explain(ctx, who)
			return printOne(c, e, err, writeExplained)
		})}
}

// writeExplained prints an author's candidates with the evidence of each.
func writeExplained(w io.Writer, e harvest.Explained) error {
	fmt.Fprintf(w, "%s (%s), %s in the record\n", e.Author.Name, e.Author.ID(), text.Count(len(e.Papers), "paper"))
	for _, word := range e.Words {
		fmt.Fprintf(w, "a person said: %s %s their homepage\n", word.URL, strings.ReplaceAll(word.Word, "-", " "))
	}
	for _, h := range e.Kept {
		if h.Scope != "" {
			continue
		}
		fmt.Fprintf(w, "homepage %d: %s  (%s, score %.3f)\n", h.Rank+1, h.URL, h.Source, h.Score)
	}
	if e.Decision == nil {
		_, err := fmt.Fprintln(w, "not looked for yet")
		return err
	}
	d := e.Decision
	for _, c := range homepage.Provisional(*d) {
		fmt.Fprintf(w, "%s is taken by the name alone: its crawl confirms it, or withdraws it\n", c.URL)
	}
	for _, p := range d.Elsewhere() {
		fmt.Fprintf(w, "papers at %s  (crawled: %s; linked from %s; %s)\n", p.URL, p.Scope, p.Of, p.Rule)
	}
	if d.NotFound != "" {
		fmt.Fprintln(w, "not found:", d.NotFound)
	}
	fmt.Fprintf(w, "%s, %s asked for\n", text.Count(d.Searches, "search"), text.Count(d.Fetches, "page"))
	for _, p := range d.Problems {
		fmt.Fprintln(w, "problem:", p)
	}
	for i, c := range d.Candidates {
		writeCandidate(w, i+1, c)
	}
	return nil
}

func writeCandidate(w io.Writer, n int, c evidence.Candidate) {
	mark := " "
	if c.Kept {
		mark = "*"
	}
	fmt.Fprintf(w, "%s%3d. %s\n", mark, n, c.URL)
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(w, "       %-9s %s\n", label, value)
		}
	}
	line("title", c.Title)
	source := c.Source
	if c.Rank > 0 {
		source += ", result " + strconv.Itoa(c.Rank)
	}
	if c.Via != "" {
		source += ", by way of " + c.Via
	}
	line("source", source)
	line("rule", c.Rule)
	if !c.Fetched {
		return
	}
	line("score", fmt.Sprintf("%.3f  %s", c.Score, c.Priority))
	var features []string
	for _, f := range slices.Sorted(maps.Keys(c.Features)) {
		features = append(features, f+" "+strconv.FormatFloat(c.Features[f], 'g', 3, 64))
	}
	line("features", strings.Join(features, ", "))
}
