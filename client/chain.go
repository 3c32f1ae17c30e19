package client

import (
	"fmt"
	"reflect"
)

// maxChain bounds how many errors of a tree are looked at, so that one that
// wraps itself ends.
const maxChain = 32

// maxCause bounds the message of one cause.
const maxCause = 1 << 10

// silent are types that only carry words or a number. As a class they say
// nothing: every wrapped error would share it.
var silent = map[string]bool{
	"*errors.errorString": true, "*errors.joinError": true,
	"*fmt.wrapError": true, "*fmt.wrapErrors": true, "*fmt.fmtError": true,
	"*errors.withStack": true, "*errors.withMessage": true, "*errors.fundamental": true,
	"syscall.Errno": true,
}

// unwrapped is what a tree of errors tells.
type unwrapped struct {
	chain []Cause
	// class is the type of the deepest error that has one of its own, on the
	// first branch that has any.
	class string
	// stack are the program counters of the deepest error that carries a stack,
	// nil when none does.
	stack []uintptr
}

// unwrap follows Unwrap() error and Unwrap() []error.
func unwrap(err error) unwrapped {
	var u unwrapped
	u.class = u.visit(err, 0)
	if u.class == "" {
		u.class = u.leaf()
	}
	return u
}

// visit adds err and its causes and returns their class, "" when no type says
// anything.
func (u *unwrapped) visit(err error, depth int) (class string) {
	if err == nil || len(u.chain) == maxChain {
		return ""
	}
	own := typeOf(err)
	u.chain = append(u.chain, Cause{Class: own, Message: cut(textOf(err), maxCause), Depth: depth})
	for _, cause := range causes(err) {
		if found := u.visit(cause, depth+1); class == "" {
			class = found
		}
	}
	if u.stack == nil {
		u.stack = stackOf(err)
	}
	if class == "" && !silent[own] {
		class = own
	}
	return class
}

// leaf is the type of the last error of the first branch.
func (u *unwrapped) leaf() string {
	class := ""
	for i, cause := range u.chain {
		if cause.Depth != i {
			break
		}
		class = cause.Class
	}
	return class
}

// typeOf is a type's name; it calls no method.
func typeOf(err error) string { return fmt.Sprintf("%T", err) }

// textOf is the error's text. Error may panic, on a typed nil above all.
func textOf(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = typeOf(err) + ", whose text cannot be read"
		}
	}()
	return err.Error()
}

func causes(err error) (found []error) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	switch err := err.(type) { //nolint:errorlint // each error of the tree is looked at by itself
	case interface{ Unwrap() error }:
		return []error{err.Unwrap()}
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	case interface{ Cause() error }:
		return []error{err.Cause()}
	}
	return nil
}

// stackOf reads the stack that an error carries, in the two forms in use:
// Callers() []uintptr, and StackTrace() with a list of program counters.
func stackOf(err error) (stack []uintptr) {
	defer func() {
		if recover() != nil {
			stack = nil
		}
	}()
	if traced, ok := err.(interface{ Callers() []uintptr }); ok {
		return traced.Callers()
	}
	method := reflect.ValueOf(err).MethodByName("StackTrace")
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
		return nil
	}
	list := method.Type().Out(0)
	if list.Kind() != reflect.Slice || list.Elem().Kind() != reflect.Uintptr {
		return nil
	}
	trace := method.Call(nil)[0]
	for i := range trace.Len() {
		stack = append(stack, uintptr(trace.Index(i).Uint()))
	}
	return stack
}
