// Package archtest checks the house rules that the compiler does not check:
//
//   - which package may import which
//   - how long a file and a function may be, and how many names the root may export
//   - that every package says what it is for
//   - that a test neither skips nor sleeps without a reason
//   - that no file holds the address of a registry or a path of a developer's machine
//   - that the links of the documents lead somewhere, and that the variables and
//     metrics which they name exist
//
// Each rule is a pure function from a [Tree] to findings. The test of a rule plants a
// mistake and expects the finding; repository_test.go applies all rules to this
// repository. Nothing is run or compiled, so it takes about a second.
//
// No package may import this one.
package archtest
