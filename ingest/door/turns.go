package door

import (
	"context"
	"io"
	"runtime"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest/quota"
)

const (
	// smallBody is up to how many bytes a body is parsed without a turn: most single
	// events are shorter, and parsing them takes less than waiting in a line does.
	smallBody = 32 << 10
	// readAhead is how many bytes of a large body are read before its turn, as far as
	// the budget allows.
	readAhead = 512 << 10
	// likelyRatio is how much a large body grows when it is decompressed, as far as one
	// can tell before.
	likelyRatio = 8
)

// Turns lets the large bodies of a sender be read and parsed, or refuses them. again says
// that the request had a turn before.
type Turns interface {
	// Read waits until the body may be read ahead. read is called when it was, and leave
	// when the request has its turn.
	Read(ctx context.Context, again bool) (read, leave func(), err error)
	// Enter waits for the turn of a body of about so many bytes.
	Enter(ctx context.Context, size int64, again bool) (*quota.Turn, error)
}

// turns are those of a grant. The quota is asked again before a large body is read, and in
// its turn before it is parsed: requests that waited in one line with it may have used
// the quota up.
type turns struct {
	quotas *quota.Quotas
	grant  access.Grant
	free   bool // the body has no events, so no quota refuses it
}

// turnsOf are the turns of the grant, nil where nobody waits for turns.
func turnsOf(quotas *quota.Quotas, g access.Grant, free bool) Turns {
	if !quotas.InTurns() {
		return nil
	}
	return turns{quotas, g, free}
}

// admit is [Door.Admit] for a body with events.
func (t turns) admit() error {
	if t.free {
		return nil
	}
	return t.quotas.Check(t.grant)
}

// Read implements [Turns].
func (t turns) Read(ctx context.Context, again bool) (read, leave func(), err error) {
	if read, leave, err = t.quotas.Read(ctx, t.grant); err != nil || again {
		return read, leave, err
	}
	if err := t.admit(); err != nil {
		read()
		leave()
		return nil, nil, err
	}
	return read, leave, nil
}

// Enter implements [Turns].
func (t turns) Enter(ctx context.Context, size int64, again bool) (*quota.Turn, error) {
	turn, err := t.quotas.EnterLarge(ctx, t.grant, size)
	if err != nil || again {
		return &turn, err
	}
	if err := t.admit(); err != nil {
		turn.Refused()
		return nil, err
	}
	return &turn, nil
}

// ahead is a body as sent. A large body is parsed in turns: as much of it as fits is
// read first, then the request waits for its turn, and what was read is parsed. For
// further bytes the turn is given back, so that a slow sender does not keep it.
type ahead struct {
	body   *Body
	ctx    context.Context //nolint:containedctx // it lives as long as its request
	r      io.Reader
	length int64 // as declared; -1: not declared

	turns Turns // nil: the body needs no turn
	turn  *quota.Turn
	begun bool // the body is large, and its first turn was taken

	buf  *Buffer // what was read ahead; nil for nothing
	from int     // where the bytes in buf begin that nobody has read
	room int     // how many bytes buf may have
	held int64   // charged for buf
	err  error   // comes after the bytes in buf
}

// Read gives bytes as sent.
func (a *ahead) Read(p []byte) (int, error) {
	if a.buf == nil && a.err == nil && !a.begun {
		return a.r.Read(p)
	}
	if a.buf == nil && a.err == nil {
		if err := a.take(); err != nil {
			return 0, err
		}
	}
	if a.buf == nil {
		return 0, a.err
	}
	n := copy(p, a.buf.B[a.from:])
	if a.from += n; a.from == len(a.buf.B) {
		a.free()
	}
	return n, nil
}

// begin takes the first turn of a large body. read is how many bytes of it were
// parsed without one.
func (a *ahead) begin(read int64) error {
	if a.begun {
		runtime.Gosched() // or others would wait for a processor for up to 10 ms, at each step of theirs
	}
	if a.turns == nil || a.begun || a.length <= smallBody && read <= smallBody {
		return nil
	}
	return a.take()
}

// take reads ahead and waits for the turn. After the first time it lets other requests
// pass meanwhile.
func (a *ahead) take() (err error) {
	a.leave()
	again := a.begun
	read, leave, err := a.turns.Read(a.ctx, again)
	if err != nil {
		return err
	}
	defer leave()
	err = a.fill()
	if read(); err != nil {
		return err
	}
	a.begun = true
	a.turn, err = a.turns.Enter(a.ctx, a.size(), again)
	return err
}

// fill reads until the buffer is as large as it may become, or the body ends. With a
// spent budget it reads less.
func (a *ahead) fill() error {
	if a.buf == nil {
		a.buf, a.from, a.room = GetBuffer(), 0, bufferSize
	}
	for a.err == nil && (len(a.buf.B) < a.room || a.grow()) {
		n, err := a.r.Read(a.buf.B[len(a.buf.B):a.room])
		a.buf.B, a.err = a.buf.B[:len(a.buf.B)+n], err
	}
	if a.err != nil && a.err != io.EOF { // the sender is gone or breaks a limit: nobody needs the rest
		a.free()
		return a.err
	}
	if len(a.buf.B) == 0 {
		a.free()
	}
	return nil
}

// grow makes room for more bytes in the buffer. It says false when there may be no more.
func (a *ahead) grow() bool {
	room := min(4*a.room, readAhead)
	if a.length >= 0 {
		room = min(room, int(a.length)+1) // to see the end
	}
	if room <= a.room || !a.body.budget.try(a.body.seat, int64(room)-a.held) {
		return false
	}
	if a.held = int64(room); cap(a.buf.B) < room {
		a.buf.B = append(make([]byte, 0, room), a.buf.B...)
	}
	a.room = room
	return true
}

// size is about how many bytes the body has when it is decompressed.
func (a *ahead) size() int64 {
	switch {
	case a.length < 0:
		return readAhead
	case a.body.coding != identity:
		return likelyRatio * a.length
	default:
		return a.length
	}
}

// free gives the buffer and its memory back.
func (a *ahead) free() {
	if a.buf != nil {
		a.buf.Free()
		a.body.budget.release(a.body.seat, holding{bytes: a.held})
		a.buf, a.held = nil, 0
	}
}

// leave gives the turn back, if there is one.
func (a *ahead) leave() {
	if a.turn != nil {
		a.turn.Leave()
		a.turn = nil
	}
}
