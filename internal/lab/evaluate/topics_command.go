package evaluate

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gleaner/internal/lab/topicweb"
	"gleaner/internal/service/program"
)

// topicWebs are the generated webs on which crawls by topic are compared.
type topicWebs struct {
	web    topicweb.Options
	seeds  []uint
	gaps   []int
	noises []float64
	pages  int
}

// TopicsCommand is the command that compares crawls by topic, of a program.
func TopicsCommand(c *program.Program) *cobra.Command {
	var o topicWebs
	cmd := &cobra.Command{Use: "collect", Short: "Compare policies of a crawl by topic on generated webs", Args: cobra.NoArgs,
		Long: `Crawl generated webs of many topics as 'starter collect' does, under each policy,
with the same code: only the web and the queue are in memory. Of each web and policy
are told the share of pages on topic after a fifth of the web's pages, by how much
that is more than breadth-first's, which share of the web's pages on topic that is, and the share of the sites about a topic that were
met in half of the pages that breadth-first took to meet its last one. One web is
made of each seed, each gap (pages off topic in a row between the islands of a
topic) and each noise (share of a topic's words on pages that are not about it). --wide
gives them the sizes, links and directories that recorded sites have, and 7 % of the pages
off topic say much of one. "at most" is the precision of who asks for no page off topic
while another is left.`,
		Example: `  lab evaluate collect --seeds 1,2,3 --gaps 1,3,5
  lab evaluate collect --wide --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.web.Wide { // its own figures, unless others are asked for
				for name, at := range map[string]*int{"hosts": &o.web.Hosts, "share": &o.web.Share} {
					if !cmd.Flags().Changed(name) {
						*at = 0
					}
				}
				o.web.Mixed = 0.07
				o.web = o.web.WithDefaults()
			}
			webs, err := o.run(cmd.Context())
			if err != nil {
				return err
			}
			summary := summariseTopics(webs)
			return c.Print(map[string]any{"webs": webs, "summary": summary}, func(w io.Writer) error { return writeTopics(w, webs, summary) })
		}}
	fl := cmd.Flags()
	fl.UintSliceVar(&o.seeds, "seeds", []uint{1}, "of the webs")
	fl.IntSliceVar(&o.gaps, "gaps", []int{1, 3, 5}, "pages off topic in a row between islands (0: any page may lead there)")
	fl.Float64SliceVar(&o.noises, "noises", []float64{0.02}, "shares of topics' words on pages off topic")
	fl.BoolVar(&o.web.Wide, "wide", false, "webs shaped as recorded sites are")
	fl.IntVar(&o.web.Hosts, "hosts", 600, "of each web (1,000 with --wide)")
	fl.IntVar(&o.web.Pages, "host-pages", 100, "of each host; --wide has its own")
	fl.IntVar(&o.web.Topics, "topics", 5, "of each web")
	fl.IntVar(&o.web.Share, "share", 6, "one in so many hosts is about a topic (12 with --wide)")
	fl.IntVar(&o.pages, "pages", 20000, "of each crawl")
	return cmd
}

func (o *topicWebs) run(ctx context.Context) (webs []topicWeb, err error) {
	if o.web.Hosts < 1 || o.web.Pages < 1 || o.web.Topics < 1 || o.web.Share < 1 || o.pages < 1 || o.web.Hosts/o.web.Share/o.web.Topics < 2 {
		return nil, fmt.Errorf("%w: hosts, host-pages, topics, share and pages must be positive, and each topic must have two hosts", program.ErrUsage)
	}
	for _, gap := range o.gaps {
		if gap < 0 || gap > 20 {
			return nil, fmt.Errorf("%w: gaps: %d is not between 0 and 20", program.ErrUsage, gap)
		}
	}
	for _, seed := range o.seeds {
		for _, gap := range o.gaps {
			for _, noise := range o.noises {
				web := o.web
				web.Seed, web.Gap, web.Noise = uint64(seed), gap, noise
				t, err := Topics(ctx, web, o.pages)
				if err != nil {
					return nil, err
				}
				webs = append(webs, t)
			}
		}
	}
	return webs, nil
}
