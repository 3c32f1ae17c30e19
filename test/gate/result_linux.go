package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

// Result is the outcome of one fault.
type Result struct {
	Fault string `json:"fault"`
	Seed  uint64 `json:"seed"`
	// Detail describes the fault: the byte that was flipped, what a cut dropped.
	Detail string `json:"detail,omitempty"`
	// Accepted is how many events of the session have got their 2xx so far,
	// Resends how many requests were sent again for that.
	Accepted int `json:"accepted"`
	Resends  int `json:"resends"`
	referee.Verdict
	// RecoveryMS is from the end of the fault, or the start of the service
	// after it, until a new event is visible; ListsMS until every list answers.
	RecoveryMS int64 `json:"recovery_ms"`
	ListsMS    int64 `json:"lists_ms"`
	// Hands are the steps that an operator had to take.
	Hands []string `json:"hands,omitempty"`
	// Noticed says where the damage was reported, NoticedMS after how long.
	Noticed   string `json:"noticed,omitempty"`
	NoticedMS int64  `json:"noticed_ms,omitempty"`
	// Violations are the broken promises; without any the fault is passed.
	Violations []string `json:"violations,omitempty"`
	TookMS     int64    `json:"took_ms"`

	began time.Time
}

func (r *Result) violate(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// begin opens the result of one fault and logs it.
func (g *gate) begin(fault string, seed uint64) *Result {
	g.journal.fault(fmt.Sprintf("%s seed %d", fault, seed))
	return &Result{Fault: fault, Seed: seed, began: time.Now()}
}

// report closes the result and prints it.
func (g *gate) report(r *Result) {
	r.TookMS = time.Since(r.began).Milliseconds()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.results = append(g.results, r)
	verdict := "ok"
	if len(r.Violations) > 0 {
		verdict = "VIOLATED"
	}
	fmt.Fprintf(g.print, "%-8s %-28s seed %d  accepted %d  lost %d  twice %d  back %d  wrong %d  recovery %v  lists %v  hands %d  noticed %s  took %v  %s\n",
		verdict, r.Fault, r.Seed, r.Accepted, r.Lost, r.Twice, r.Back, r.Wrong,
		ms(r.RecoveryMS), ms(r.ListsMS), len(r.Hands), orDash(r.Noticed), ms(r.TookMS), r.Detail)
	for _, hand := range r.Hands {
		fmt.Fprintf(g.print, "         hand: %s\n", hand)
	}
	for _, violation := range r.Violations {
		fmt.Fprintf(g.print, "         ! %.1200s\n", violation)
	}
}

func ms(n int64) string {
	if n == 0 {
		return "-"
	}
	return (time.Duration(n) * time.Millisecond).String()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// row is the sum of all results of one fault.
type row struct {
	Fault      string  `json:"fault"`
	Runs       int     `json:"runs"`
	Violated   int     `json:"violated"`
	Lost       int     `json:"lost"`
	Twice      int     `json:"twice"`
	Back       int     `json:"back"`
	Wrong      int     `json:"wrong"`
	Hands      int     `json:"hands"`
	Noticed    int     `json:"noticed"`
	Recoveries []int64 `json:"recoveries_ms"` // sorted
	ListsMaxMS int64   `json:"lists_max_ms"`
}

// rows sums up, in the order of the first result of each fault.
func rows(results []*Result) (all []*row) {
	for _, r := range results {
		i := slices.IndexFunc(all, func(s *row) bool { return s.Fault == r.Fault })
		if i < 0 {
			i, all = len(all), append(all, &row{Fault: r.Fault})
		}
		s := all[i]
		s.Runs++
		s.Lost, s.Twice, s.Back, s.Wrong = s.Lost+r.Lost, s.Twice+r.Twice, s.Back+r.Back, s.Wrong+r.Wrong
		s.Hands += len(r.Hands)
		if len(r.Violations) > 0 {
			s.Violated++
		}
		if r.Noticed != "" {
			s.Noticed++
		}
		s.Recoveries = append(s.Recoveries, r.RecoveryMS)
		s.ListsMaxMS = max(s.ListsMaxMS, r.ListsMS)
	}
	for _, s := range all {
		slices.Sort(s.Recoveries)
	}
	return all
}

// summary prints the table in the form of the docs.
func summary(w io.Writer, results []*Result) error {
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| Fault\t| runs\t| violated\t| lost\t| twice\t| back\t| wrong\t| hands\t| noticed\t| recovery median\t| worst\t| lists worst\t|")
	fmt.Fprintln(table, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, s := range rows(results) {
		fmt.Fprintf(table, "| %s\t| %d\t| %d\t| %d\t| %d\t| %d\t| %d\t| %d\t| %d\t| %s\t| %s\t| %s\t|\n",
			s.Fault, s.Runs, s.Violated, s.Lost, s.Twice, s.Back, s.Wrong, s.Hands, s.Noticed,
			ms(s.Recoveries[len(s.Recoveries)/2]), ms(s.Recoveries[len(s.Recoveries)-1]), ms(s.ListsMaxMS))
	}
	return table.Flush()
}
