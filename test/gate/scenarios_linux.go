package main

// scenarios are all groups of faults, in the order in which they run.
var scenarios = []scenario{
	{"kills", false, runKills},
	{"first-start", false, runFirstStart},
	{"power", true, runPower},
	{"control", true, runControl},
	{"damage", false, runDamage},
	{"older", false, runOlder},
	{"repair", false, runRepair},
	{"full", true, runFull},
	{"away", false, runAway},
	{"frozen", false, runFrozen},
}
