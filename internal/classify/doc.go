// Package classify says whether a page is about a topic, as the link analyzer of
// CINDI Robot does (Chen 2008, chapter 4): a page becomes the stems of its words
// (Words), examples give a Vocabulary with two measures of how well a word tells the
// topic (RKF and RDF), and a Classifier learns from them: a support vector machine
// while examples are few, naïve Bayes weighted by tf·idf once they are many. Two
// classifiers make the layers of the revised context graph (Graph).
//
// Everything is deterministic: the same examples in the same order give the same
// classifier, bit for bit, and a classifier marshals to JSON and back. A trained one
// is safe for concurrent use.
package classify
