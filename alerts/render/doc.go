// Package render makes of a message what each kind of channel takes: the body, the
// headers and the address of one request, or one mail.
//
// Texts of errors come from applications, and so from whoever can make one fail. They are
// data: no channel may read a mention, a link, markup or a control character in them.
// Each kind keeps them in the one place that its documentation says nothing is read in:
// code in Discord, Mattermost and Telegram, plain text objects in Slack, text runs in
// Teams. Where programs look for addresses in plain text by themselves (mail, ntfy, and
// to be sure Slack and Teams), addresses are broken with an invisible character.
//
// The package must not read a clock, send anything, or put a text of an application
// anywhere but through the functions in text.go.
package render
