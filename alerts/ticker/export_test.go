package ticker

// Tick is what the work in the background does.
var Tick = (*Ticker).tick
