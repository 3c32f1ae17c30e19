// Package logfiles reads the files in which the embedded NATS keeps a stream,
// and mends them while no server uses them.
//
// A server that finds a damaged message cuts off the rest of the file. When the
// damage is in the length or the sequence of the message, it does not start at all.
// So the files are checked before the server starts: damaged messages are removed
// one by one, and a copy of the damaged file is kept.
//
// The format is that of nats-server 2.2 and later, without encryption and
// compression:
//
//	uint32   length of all, the highest bit says that there is a header
//	uint64   sequence; the two highest bits mark what was deleted
//	int64    time, Unix nanoseconds
//	uint16   length of the subject
//	bytes    subject
//	uint32   length of the header, if there is one
//	bytes    header, data
//	8 bytes  HighwayHash-64 of sequence, time, subject, header and data; the key is
//	         the SHA-256 of the stream's name, "-" and the number of the file
//
// All numbers are little endian.
package logfiles
