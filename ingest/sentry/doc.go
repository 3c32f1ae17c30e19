// Package sentry is the receiver of applications that report through a Sentry
// SDK. It serves
//
//	POST, OPTIONS  [/prefix]/api/{project}/envelope[/]
//	POST, OPTIONS  [/prefix]/api/{project}/store[/]
//
// and turns events and error logs into drafts. What it does not keep
// (sessions, transactions, attachments, …) is streamed past and answered with
// 200, because an SDK drops what is refused and never asks why.
//
// The package is lenient by intention: no header field and no field of an
// event is a reason to refuse it, only broken framing, broken JSON and size
// are. What is not kept may be as deep and as wide as one event's size allows:
// nothing is built of it. It must not scrub, sign or store, and must not keep variables, source
// lines, cookies or bodies of requests.
package sentry
