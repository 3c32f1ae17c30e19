package eventlog

import (
	"fmt"
	"hash/crc32"

	"github.com/nats-io/nats.go"
)

// headerSum carries the checksum of a fact that is no block, which has one of
// its own: the CRC-32C, in 8 hex digits, of subject behind the prefix, actor and
// data. Facts that were appended by older versions have none.
const headerSum = "Errata-Sum"

// withSum adds the checksum to the header of a fact.
func withSum(h nats.Header, subject string, data []byte) nats.Header {
	h[headerSum] = []string{sumOf(subject, h.Get(headerBy), data)}
	return h
}

func sumOf(subject, by string, data []byte) string {
	sum := crc32.Update(0, castagnoli, []byte(subject))
	sum = crc32.Update(sum, castagnoli, []byte(by))
	return fmt.Sprintf("%08x", crc32.Update(sum, castagnoli, data))
}

// sound says whether a fact is what was appended, as far as its checksum tells.
// That of a block stands in the block.
func sound(subject string, h nats.Header, data []byte) bool {
	sum := h.Get(headerSum)
	return sum == "" || sum == sumOf(subject, h.Get(headerBy), data)
}
