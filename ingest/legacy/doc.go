// Package legacy imports old error files: it makes events of the errors that
// applications wrote to disk before they used Errata, each exactly once.
//
//	DIR/system/*, DIR/database/*   the folder is the book
//	  claim    rename to NAME.importing
//	  frame    lines ─▶ entries, with their offsets
//	  parse    PHP error_log, Monolog text, JSON lines ─▶ drafts
//	  rules    the same gate, scrubber and limits as for a live event
//	  append   blocks that carry where reading goes on ([eventlog.AppendImport])
//	  finish   rename into done/
//
// The id of an event is made of the hash of the file and the offset of its entry.
// The mark where reading goes on stands on the log in the same message as the
// events before it. So an interrupted import goes on exactly where it stopped,
// and no event counts twice.
//
// The package does not trust the users who can write into the directory: it opens
// files only inside it, refuses links, devices and other users' files, bounds the
// sizes, and needs no more memory for a larger file. It must not know HTTP,
// ClickHouse or NATS.
package legacy
