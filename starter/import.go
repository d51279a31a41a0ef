package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/ingest/source"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

// importFlags are the options of `starter import` and `starter jobs modify`.
type importFlags struct {
	to   string
	wait bool
}

func (f *importFlags) register(fl *pflag.FlagSet) {
	fl.String("format", ingest.Auto, "what the paths are: "+strings.Join(ingest.Formats(), ", "))
	fl.String("urls", "", "with --format folder: what makes a file's URL, with {path}, {dir} or {name} in it; with --format mirror in place of http://{path}")
	fl.String("parent", "", "with --format folder or mirror: the page that led to each file, likewise")
	fl.String("date", "", "with --format folder or mirror: the day on which the files were got, such as 2005-06-30, in place of their own time")
	fl.String("filter", "on", "the document content filter: on, or off, which keeps every document unread")
	fl.String("record", "on", "the record: on, or off, which only says what would be saved (and, with --to, copies it)")
	fl.StringSlice("types", nil, "kinds of file that are taken, with commas between (default: all that a crawl takes): "+strings.Join(ingest.Kinds(), ", "))
	fl.StringVar(&f.to, "to", "", "a folder, or s3://BUCKET, that the saved documents are copied to as well, under their SHA-256")
	fl.String("blacklist", "", "file of hosts, one a line, whose documents are passed over, beside those on the collection's own blacklist")
}

// apply sets what was given on the command line.
func (f *importFlags) apply(fl *pflag.FlagSet, o *ingest.Options) (err error) {
	for _, name := range ingest.Fields() {
		flag := fl.Lookup(name)
		if !flag.Changed {
			continue
		}
		value := optionOf(flag)
		if name == "blacklist" {
			hosts, err := readHosts(value)
			if err != nil {
				return err
			}
			value = strings.Join(hosts, "\n")
		}
		if err := o.Set(name, value); err != nil {
			return err
		}
	}
	if fl.Changed("to") {
		if o.To, err = absolute(f.to); err != nil {
			return err
		}
	}
	return o.Check()
}

func usage(err error) error {
	if errors.Is(err, ingest.ErrInput) || errors.Is(err, tables.ErrInput) {
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	return err
}

// readHosts reads a host from the beginning of each line.
func readHosts(name string) (hosts []string, err error) {
	if name == "" {
		return nil, nil
	}
	lines, err := readLines(name)
	if err != nil {
		return nil, fmt.Errorf("--blacklist: %w", err)
	}
	for _, l := range lines {
		if host, _, _ := strings.Cut(l, ","); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts, nil
}

func importCommand(c *cli) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{Use: "import PATH|URL…", Short: "Import what another crawler left: archives, mirrors, folders",
		Long: `Import the documents that another crawler fetched: WARC 0.17 to 1.1 and ARC files,
plain or compressed, alone or in folders; with --format, mirrors of wget, HTTrack and
Heritrix, plain folders, and CSV manifests. They pass the same filters, are matched with
the same wanted papers and lie in the same repository as those of a crawl.
No request is made for them.

What is elsewhere is named by its address. Archives and, with --format, folders and
mirrors may lie below s3://BUCKET/PREFIX; of a web server an archive, a list of archives (.txt or packed, a path a line, as
Common Crawl's warc.paths.gz) or a page that links to them. They are asked for at the
host's pace, and from where they were cut off. What lies on an FTP or SFTP server is
copied or mounted with rclone first. Credentials are never part of an address.

An import is a job: it can be watched, changed and run again ("starter jobs"). The
files are read by a worker, under the same path; one that dies over them is
replaced, and the import goes on where it was. A damaged record costs no other, and is
listed. At the end what was saved is compared with what is on
record. The command ends with 0 when the import ended, whatever single files came to.`,
		Example: `  starter import crawl.warc.gz --wait
  starter import /data/heritrix/warcs --types pdf,postscript --blacklist hosts.txt --wait
  starter import old.arc.gz --filter off
  starter import /data/mirror --format mirror --wait
  starter import /data/tr --format folder --urls 'https://www.example.edu/tr/{path}' --wait
  starter import 's3://crawls/2005/?region=eu-west-1' --wait
  starter import https://archive.example/2005/crawl.warc.gz --wait
  starter import https://archive.example/2005/warc.paths.gz --types pdf --wait
  starter import /data/manifest.csv --format csv --wait
  starter import /data/heritrix/job1 --format heritrix --wait
  starter import crawl.warc.gz --record off --to sample --wait --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%w: want files, folders or addresses to import", program.ErrUsage)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o := ingest.Options{}
			var err error
			if o.Paths, err = importPaths(args); err != nil {
				return err
			}
			if err := f.apply(cmd.Flags(), &o); err != nil {
				return usage(err)
			}
			return importNew(cmd.Context(), c, o, f.wait)
		}}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.wait, "wait", false, "show a line for each file, and end when the import does")
	return cmd
}

// importPaths makes paths of this machine what a worker in another folder finds.
func importPaths(args []string) (paths []string, err error) {
	for _, p := range args {
		if err := source.Check(p); p == "" || err != nil {
			return nil, fmt.Errorf("%w: %q is neither a path nor the address of archives: %w", program.ErrUsage, p, err)
		}
		if !source.Remote(p) {
			if p, err = filepath.Abs(p); err != nil {
				return nil, err
			}
			if _, err := os.Stat(p); err != nil {
				return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
			}
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// sayFolders says of each folder of archives how many will be imported. One without any is
// an error.
func sayFolders(c *cli, o ingest.Options) error {
	if o.Format != ingest.Auto && o.Format != "" && o.Format != ingest.WARC && o.Format != ingest.ARC {
		return nil
	}
	for _, p := range o.Paths {
		if info, err := os.Stat(p); source.Remote(p) || err != nil || !info.IsDir() {
			continue
		}
		n, size, err := ingest.Archives(p)
		if err != nil {
			return usage(err)
		}
		if !c.JSON {
			fmt.Fprintf(c.Err, "%s: %s, %.1f MB\n", p, text.Count(n, "archive"), float64(size)/1e6)
		}
	}
	return nil
}

// importNew sets an import up and starts it.
func importNew(ctx context.Context, c *cli, o ingest.Options, wait bool) error {
	if err := sayFolders(c, o); err != nil {
		return err
	}
	return c.withBoth(ctx, func(a *app.App, t client.Client) error {
		id, err := a.DB.AddJob(ctx, store.JobImport, o)
		if err != nil {
			return err
		}
		if err := c.runJob(ctx, t, a.DB, id, wait); err != nil || wait || !slices.ContainsFunc(o.Paths, source.Remote) {
			return err
		}
		return awaitOpened(ctx, c, t, a.DB, id)
	})
}
