package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// refusedFunctions are the functions of the engine that reach out of the tables and
// need no right, so that every user may call them. file reads any file that the
// engine can read, such as files of tables with deleted records: the engine runs as
// a command line tool, which asks for no right there. The others load a model from a
// path, or send a text to a service.
//
// The dozens of table functions of this kind need READ or WRITE on their source, a
// right that no user has.
var refusedFunctions = []string{
	"file",
	"catboostEvaluate",
	"aiClassify", "aiEmbed", "aiExtract", "aiGenerate", "aiTranslate",
	"AIClassify", "AIExtract", "AIGenerate", "AITranslate",
}

// functionsDir is the folder of functions made by users. The engine prefers them to
// its own functions, everywhere in a query. No user may make any, so only this
// package writes there.
const functionsDir = "user_defined"

// refusal makes a function that fails with a message. The engine refuses a call with
// another number of arguments by itself.
const refusal = "CREATE FUNCTION `%s` AS (path) -> throwIf(1, 'the function %s reaches out of the tables and is not offered here')\n"

// refuseFunctions replaces each of refusedFunctions by a function that fails. It runs
// before every start.
func refuseFunctions(dataDir string) error {
	dir := filepath.Join(dataDir, functionsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, name := range refusedFunctions {
		file := "function_" + name + ".sql"
		wanted[file] = true
		if err := writePrivate(filepath.Join(dir, file), fmt.Sprintf(refusal, name, name)); err != nil {
			return err
		}
	}
	for _, entry := range there {
		if strings.HasPrefix(entry.Name(), "function_") && !wanted[entry.Name()] {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
