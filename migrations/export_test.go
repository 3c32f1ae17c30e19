package migrations

// ApplyForTest applies other files than those of the program.
var ApplyForTest = apply
