package background

// LastCall is the time for a step whose turn comes after the end.
const LastCall = lastCall
