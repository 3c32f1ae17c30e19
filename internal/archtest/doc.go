// Package archtest holds the house rules that no compiler holds: who may import
// whom, how long a file and a function may grow, how many names the root may
// export, that every package says what it is for, that a test neither skips nor
// sleeps without a reason, that no address of a registry and no path of a
// developer's machine is written down, that the links of the documents lead
// somewhere, and that the variables and metrics they name exist.
//
// Each rule is a pure function from a [Tree] to findings, with a test that
// plants the mistake and sees it found; repository_test.go applies them all to
// this repository. Nothing is run or compiled, so it takes about a second.
//
// The package must not be imported by anything.
package archtest
