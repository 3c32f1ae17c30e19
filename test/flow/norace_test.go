//go:build !race

package flow

const raceScale = 1
