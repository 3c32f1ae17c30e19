package access

// CheckOf makes the check of keys.
var CheckOf = check
