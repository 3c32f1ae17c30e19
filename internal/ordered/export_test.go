package ordered

// PullBytes is for messages that fill one pull.
const PullBytes = pullBytes
