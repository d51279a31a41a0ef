// Package classify decides whether a page is about a topic, like the link analyzer of CINDI Robot
// (Chen 2008, chapter 4). A page is the stems of its words (Words). Examples give a Vocabulary
// with two measures of how well a word indicates the topic (RKF and RDF). A Classifier learns
// from them: a support vector machine from few examples, naïve Bayes weighted by tf·idf from
// many. Two classifiers make the layers of the revised context graph (Graph).
//
// Training is deterministic: the same examples in the same order give the same classifier, bit
// for bit. A classifier marshals to JSON and back. It is safe for concurrent use.
package classify
