// Package smtp is the mail module "smtp": it sends one mail at a time, as text
// and where the caller has it as HTML too, by the mail server that the operator has
// named, and says whether another try after a failure makes sense.
//
// It must not know what the mails are about, keep a queue, or let text of a
// user become a header. The password and the recipient never become part of an
// error, even when the server repeats them.
package smtp
