package ingest

// switchedOff is the reason under which drafts are counted that were dropped
// because ErrorLog is off.
const switchedOff = "switched_off"
