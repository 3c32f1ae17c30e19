// Package smtp is the mail module "smtp": it hands one plain-text mail at a time
// to the mail server that the operator has named, and says whether a failure is
// worth another try.
//
// It must not know what the mails are about, keep a queue, or let anything that
// a user has written become a header. Neither the password nor the recipient is
// ever part of an error, also when the server repeats them.
package smtp
