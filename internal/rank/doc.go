// Package rank selects the link that is requested next. A Strategy is a pure function of its
// calls: the same sequence of Enter, Next and Observe gives the same order, so that a run can be
// repeated and explained.
//
// New returns one of three strategies: "bfs", the order of discovery; "zhuang", the three queues
// by keyword classes of Zhuang et al. (JCDL 2005), whose classes TrainLinks learns from logged
// crawls; and "gleaner", the default, which learns on each site which links lead to papers. Lists
// are the words and address rules, as data; a Prior holds the weights with which gleaner begins
// on a new site, as data too.
//
// A strategy stores nothing itself. Queue, priority and mark are stored with their link; the rest
// is in State, whose size is bounded for sites of any size. History.Stop decides when a site is
// finished.
package rank
