//go:build race

package flow

// raceScale: the race detector keeps several words for each word of ours.
const raceScale = 6
