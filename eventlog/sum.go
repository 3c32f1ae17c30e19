package eventlog

import (
	"fmt"
	"hash/crc32"

	"github.com/nats-io/nats.go"
)

// headerSum carries the checksum of a fact that is not a block: the CRC-32C of
// subject without prefix, actor and data, in 8 hex digits. Facts of older versions
// have none. A block has its own checksum.
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

// sound says whether the checksum of a fact is right, if it has one. The checksum
// inside a block is not looked at.
func sound(subject string, h nats.Header, data []byte) bool {
	sum := h.Get(headerSum)
	return sum == "" || sum == sumOf(subject, h.Get(headerBy), data)
}
