// Package standby brings up what needs ClickHouse: at once where ClickHouse is
// there, else behind the open doors, as often as it takes. It also remembers how
// far the log reached: while ClickHouse is away, a start cannot ask how far the
// records have come.
//
// It knows neither ClickHouse nor the log; whoever starts it says what to do and
// which error means that ClickHouse is away.
package standby
