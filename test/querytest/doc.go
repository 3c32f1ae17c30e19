// Package querytest is a model of the list: records filtered, joined and sorted
// by the shortest code that could be right. Tests compare the service's lists
// with those of [Select].
//
// The package must not use the code that it models, neither its statements nor
// its parser, and the product must not import it.
package querytest
