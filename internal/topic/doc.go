// Package topic says what a page is about: Bergmark's Collection Synthesis (JCDL
// 2002). A topic begins as a query. Of the pages that a search engine gives for it
// its centroid is made (Build): their weightiest words. The words of all centroids
// are the dictionary; a page is the vector of its dictionary words (tf · idf), and its
// correlation with a centroid is the cosine of the two (Model.Classify). Options.Decide
// says what follows for a collection: to which topics a page belongs, whether its
// links are followed, and how soon.
//
// The package asks nobody and stores nothing; a Model is written as JSON. Who decides
// in another way what a page is about (a trained classifier) implements Classifier.
package topic
