//go:build race

package flow

// raceScale: the race detector keeps several words for each word of memory.
const raceScale = 6
