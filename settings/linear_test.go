package settings_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/test/testenv"
)

// asked is one call of a client: a read, or an update that turns the switch and
// adds a method to the end of the list.
type asked struct {
	method string // "" for a read
}

// told is its answer. unknown is an update that may or may not take effect.
type told struct {
	setting string
	unknown bool
}

// seen is a setting in the form that the model compares.
func seen(t signin.TwoFactor) string {
	return fmt.Sprint(t.Admin, " ", strings.Join(t.Authentications, ","))
}

// after is a setting after an update.
func after(setting, method string) string {
	admin, methods, _ := strings.Cut(setting, " ")
	if methods != "" {
		methods += ","
	}
	return fmt.Sprint(admin != "true", " ", methods+method)
}

// oneSetting is a setting on one machine, without a network: each update
// changes what stood right before it.
var oneSetting = porcupine.NondeterministicModel{
	Init: func() []any { return []any{seen(signin.Standard().TwoFactor)} },
	Step: func(state, input, output any) []any {
		before, in, out := state.(string), input.(asked), output.(told)
		switch {
		case in.method == "" && out.unknown: // nobody was told anything
			return []any{before}
		case in.method == "" && out.setting == before:
			return []any{before}
		case in.method == "":
			return nil
		}
		next := after(before, in.method)
		switch {
		case out.unknown:
			return []any{before, next}
		case out.setting == next:
			return []any{next}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}

// TestOneAfterTheOther: eight clients on two nodes read and change one setting
// while the log restarts. All calls have one order in which each sees the
// result of the calls before it.
func TestOneAfterTheOther(t *testing.T) {
	const clients, calls, restarts = 8, 14, 3
	env := testenv.NewBroker(t)
	nodes := []*settings.Store{open(t, env), open(t, env)}
	var (
		mu      sync.Mutex
		history []porcupine.Operation
		working sync.WaitGroup
		began   = time.Now()
		halfway = make(chan struct{}, clients*calls)
	)
	for client := range clients {
		working.Go(func() {
			for i := range calls {
				in := asked{}
				if (client+i)%2 == 0 {
					in.method = fmt.Sprintf("%d.%d", client, i)
				}
				op := porcupine.Operation{ClientId: client, Input: in, Call: int64(time.Since(began))}
				out := call(t.Context(), nodes[client%2], in)
				op.Output, op.Return = out, int64(time.Since(began))
				if out.unknown {
					op.Return = math.MaxInt64 // it may take effect at any later time
				}
				mu.Lock()
				history = append(history, op)
				mu.Unlock()
				halfway <- struct{}{}
			}
		})
	}
	for range restarts {
		for range clients * calls / (restarts + 1) {
			<-halfway
		}
		if env.Embedded() {
			env.RestartNATS()
		}
	}
	working.Wait()
	unknown := 0
	for i := range history {
		if history[i].Output.(told).unknown {
			unknown++
			history[i].ClientId = clients + i // a client has one call at a time
		}
	}
	t.Logf("%d calls in %v, %d without an answer", len(history), time.Since(began), unknown)
	model := oneSetting.ToModel()
	if result := porcupine.CheckOperationsTimeout(model, history, time.Minute); result != porcupine.Ok {
		t.Errorf("the history is %s", result)
	}
	checkTheChecker(t, model, history)
}

// checkTheChecker: a history in which an answer is not what the updates make of
// the setting is refused.
func checkTheChecker(t *testing.T, model porcupine.Model, history []porcupine.Operation) {
	t.Helper()
	at := slices.IndexFunc(history, func(op porcupine.Operation) bool {
		return op.Input.(asked).method != "" && !op.Output.(told).unknown
	})
	lost := slices.Clone(history)
	lost[at].Output = told{setting: lost[at].Output.(told).setting + "x"}
	if result := porcupine.CheckOperationsTimeout(model, lost, time.Minute); result != porcupine.Illegal {
		t.Errorf("a history with a lost update is %s", result)
	}
}

func call(ctx context.Context, s *settings.Store, in asked) told {
	if in.method == "" {
		value, err := s.ReadTwoFactor(ctx)
		return told{seen(value), err != nil}
	}
	value, err := s.UpdateTwoFactor(ctx, func(v signin.TwoFactor) (signin.TwoFactor, error) {
		v.Admin = !v.Admin
		v.Authentications = append(slices.Clone(v.Authentications), in.method)
		return v, nil
	})
	return told{seen(value), err != nil}
}
