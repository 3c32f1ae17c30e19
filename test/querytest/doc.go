// Package querytest is a model of the list: records filtered, joined and
// sorted by the shortest code that could be right. Tests compare what the
// service finds with what [Select] finds.
//
// The package must not use what it is a model of, neither its statements nor
// its parser, and the product must not import it.
package querytest
