// Package legacy imports old error files: what applications wrote to disk
// before they had Errata becomes events, once each.
//
//	DIR/system/*, DIR/database/*   the folder is the book
//	  claim    rename to NAME.importing
//	  frame    lines ─▶ entries, with their offsets
//	  parse    PHP error_log, Monolog text, JSON lines ─▶ drafts
//	  rules    the same gate, scrubber and limits as for a live event
//	  append   blocks that carry where reading goes on ([eventlog.AppendImport])
//	  finish   rename into done/
//
// An event's id comes from the hash of the file and the offset of its entry,
// and the place where reading goes on stands on the log in the same message as
// the events before it. So an import that broke off anywhere goes on exactly
// there, and nothing is counted twice.
//
// Whoever can write into the directory is not trusted: files are opened inside
// it only, links, devices and other users' files are refused, sizes are bounded,
// and memory does not grow with a file. The package must not know HTTP, ClickHouse or NATS.
package legacy
