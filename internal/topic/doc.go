// Package topic classifies pages by topic: Bergmark's Collection Synthesis (JCDL 2002). A topic
// begins as a query. The pages that a search engine returns give its centroid (Build): their
// words of greatest weight. The words of all centroids are the dictionary. A page is the vector
// of its dictionary words (tf · idf), and its correlation with a centroid is the cosine of the
// two (Model.Classify). Options.Decide returns the consequences for a collection: the topics of
// the page, whether its links are followed, and their priority.
//
// The package sends no requests and stores nothing; a Model is written as JSON. Other methods (a
// trained classifier) implement Classifier.
package topic
