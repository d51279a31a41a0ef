// Package rank decides which link is asked for next. A Strategy is a pure
// function of what it has been told: the same sequence of Enter, Next and
// Observe gives the same order, so a run can be repeated and explained.
//
// New makes one of three: "bfs", the order of discovery; "zhuang", the three
// queues by keyword classes of Zhuang et al. (JCDL 2005), whose classes
// TrainLinks learns from logged crawls; and "gleaner", the default, which learns
// on the site which links pay. Lists are the words and address rules as data;
// a Prior is what gleaner believes of a site it has not seen, as data too.
//
// A strategy stores nothing itself: what is particular to a link (queue,
// priority, mark) is kept with the link, and what was learnt in State, which is
// bounded whatever the size of the site. Budget says when a site has had
// enough.
package rank
