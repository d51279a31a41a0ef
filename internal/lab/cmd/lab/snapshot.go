package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/document"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/lab/filter"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

// snapshotFlags name recorded sites.
type snapshotFlags struct {
	records, warcs []string
	labels         string
}

func (f *snapshotFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.records, "record", nil, "mirror of a host: a folder named like it, one file a path (may be given again)")
	fl.StringArrayVar(&f.warcs, "warc", nil, "WARC file of a site, plain or gzip (may be given again)")
	fl.StringVar(&f.labels, "labels", "", "what the documents are: a line each with URL, tab, kind (default: the academic filter says)")
}

// open makes the snapshots.
func (f *snapshotFlags) open(ctx context.Context, cfg *config.Config) ([]evaluate.Named, error) {
	if len(f.records)+len(f.warcs) == 0 {
		return nil, fmt.Errorf("%w: want --record DIR or --warc FILE", program.ErrUsage)
	}
	judge, err := f.judge(ctx, cfg)
	if err != nil {
		return nil, err
	}
	var out []evaluate.Named
	for _, dir := range f.records {
		abs, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
		}
		host := filepath.Base(filepath.Clean(dir))
		files := os.DirFS(abs)
		out = append(out, evaluate.Named{Name: host, Setup: evaluate.Setup{Site: evaluate.NewFolder(files, host), Judge: judge(func(u string) ([]byte, error) {
			return fs.ReadFile(files, strings.TrimPrefix(path.Clean(pathOf(u)), "/"))
		})}})
	}
	for _, file := range f.warcs {
		archive, err := readWARC(file)
		if err != nil {
			return nil, err
		}
		out = append(out, evaluate.Named{Name: filepath.Base(file), Setup: evaluate.Setup{Site: evaluate.NewSnapshot(archive.First(), archive.Ask),
			Judge: judge(func(u string) ([]byte, error) {
				r, err := archive.Ask(u)
				return r.Body, err
			})}})
	}
	return out, nil
}

func readWARC(file string) (*evaluate.Archive, error) {
	r, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	defer r.Close()
	archive := evaluate.NewArchive()
	if err := archive.ReadWARC(bufio.NewReader(r)); err != nil && (!errors.Is(err, evaluate.ErrTruncated) || archive.Len() == 0) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if archive.Len() == 0 {
		return nil, fmt.Errorf("%w: %s holds no answer", program.ErrUsage, file)
	}
	return archive, nil
}

// judge says what documents are: as the labels say, or as the filter does.
func (f *snapshotFlags) judge(ctx context.Context, cfg *config.Config) (func(body func(address string) ([]byte, error)) evaluate.Judge, error) {
	if f.labels != "" {
		labels, err := given(f.labels, filter.ReadLabels)
		if err != nil {
			return nil, err
		}
		kinds := map[string]evaluate.Kind{}
		for _, l := range labels {
			kinds[weburl.Key(l.URL)] = evaluate.Kind(l.Label)
		}
		return func(func(string) ([]byte, error)) evaluate.Judge {
			return func(u string) evaluate.Kind { return kinds[weburl.Key(u)] }
		}, nil
	}
	filter, err := app.Filter(cfg)
	if err != nil {
		return nil, err
	}
	if filter == nil {
		return nil, fmt.Errorf("%w: the setting filter is off; want --labels", program.ErrUsage)
	}
	reader := document.NewReader(document.Options{OCR: cfg.Documents.OCR})
	return func(body func(string) ([]byte, error)) evaluate.Judge {
		seen := map[string]evaluate.Kind{}
		return func(u string) evaluate.Kind {
			k, ok := seen[u]
			if !ok {
				if b, err := body(u); err == nil {
					k = kindOf(ctx, reader, filter, u, b)
				}
				seen[u] = k
			}
			return k
		}
	}, nil
}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "/"
	}
	return u.Path
}

// kindOf reads a document and says what it is; an archive is what its best member
// is.
func kindOf(ctx context.Context, reader *document.Reader, filter *document.Filter, address string, body []byte) evaluate.Kind {
	parts, _ := document.Unpack(ctx, path.Base(pathOf(address)), "", body, document.Limits{})
	best := evaluate.Kind("")
	for _, p := range parts {
		text, err := reader.Read(ctx, p)
		if err != nil {
			continue
		}
		j := filter.Judge(text, document.Hints{Name: path.Base(pathOf(address))})
		switch {
		case j.Academic:
			return evaluate.Paper
		case best == "":
			best = evaluate.Kind(j.Class)
		}
	}
	return best
}
