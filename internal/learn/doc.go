// Package learn holds small learners and what is needed to judge them: a
// multi-class logistic regression, a naïve Bayes weighted by tf·idf, a linear
// support vector machine, term vectors with their cosine, hashed n-grams, and
// cross-validation in which examples of one group (a site) never stand on both
// sides.
//
// All learners are deterministic: the same examples in the same order give the
// same model, bit for bit, and a model marshals to JSON and back. They hold
// nothing but their parameters, and a trained one is safe for concurrent use.
package learn
