package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// refusedFunctions are the functions of the engine that reach out of the tables,
// and that no right is asked for: every user may call them. file reads any file
// that the engine can read, the files of tables with deleted records among them;
// the engine takes itself for a command line tool and asks nothing. The others
// load a model from a path, or send a text to a service.
//
// The table functions of this kind, of which there are dozens, need a right that
// nobody has: READ or WRITE on their source.
var refusedFunctions = []string{
	"file",
	"catboostEvaluate",
	"aiClassify", "aiEmbed", "aiExtract", "aiGenerate", "aiTranslate",
	"AIClassify", "AIExtract", "AIGenerate", "AITranslate",
}

// functionsDir is where the engine looks for functions that were made by users.
// It finds them before its own, wherever in a query a function may be named.
// Nobody may make any, so the folder is this package's alone.
const functionsDir = "user_defined"

// refusal is what whoever calls one is told; with another number of arguments the
// engine counts them, and refuses as well.
const refusal = "CREATE FUNCTION `%s` AS (path) -> throwIf(1, 'the function %s reaches out of the tables and is not offered here')\n"

// refuseFunctions puts a function that fails in the place of each. It is done
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
