// Package sentry is the receiver of applications that report through a Sentry
// SDK. It serves
//
//	POST, OPTIONS  [/prefix]/api/{project}/envelope[/]
//	POST, OPTIONS  [/prefix]/api/{project}/store[/]
//
// and turns events and error logs into drafts. It reads past all other items
// (sessions, transactions, attachments, …) and answers 200: an SDK that is
// refused drops the data and tells nobody.
//
// The package is lenient on purpose. It refuses a request for broken framing,
// broken JSON and size, never for a header or a field of an event. It builds
// nothing from the parts that it does not keep, so their depth and width need no
// limit. Of source lines and variables it keeps those of the application's
// frames. It must not scrub, sign or store, and must not keep cookies or bodies of
// requests.
package sentry
