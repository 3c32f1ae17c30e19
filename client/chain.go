package client

import (
	"fmt"
	"reflect"
)

// maxChain bounds the errors of a tree: an error may wrap itself.
const maxChain = 32

// maxCause bounds the message of one cause.
const maxCause = 1 << 10

// silent are the types that hold only a text or a number. They are no useful
// class, because errors of all kinds have them.
var silent = map[string]bool{
	"*errors.errorString": true, "*errors.joinError": true,
	"*fmt.wrapError": true, "*fmt.wrapErrors": true, "*fmt.fmtError": true,
	"*errors.withStack": true, "*errors.withMessage": true, "*errors.fundamental": true,
	"syscall.Errno": true,
}

// unwrapped is the data of a tree of errors.
type unwrapped struct {
	chain []Cause
	// class is the type of the deepest error whose type is not silent, on the
	// first branch that has one.
	class string
	// stack are the program counters of the deepest error with a stack, nil for
	// none.
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

// visit adds err and its causes and returns their class, "" when all types are
// silent.
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

// typeOf is the name of an error's type. It calls no method of the error.
func typeOf(err error) string { return fmt.Sprintf("%T", err) }

// textOf is the error's text. Error may panic, for example on a typed nil.
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
	switch err := err.(type) { //nolint:errorlint // visit follows the causes
	case interface{ Unwrap() error }:
		return []error{err.Unwrap()}
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	case interface{ Cause() error }:
		return []error{err.Cause()}
	}
	return nil
}

// stackOf reads the stack of an error from one of the two common methods:
// Callers() []uintptr, and StackTrace() with a slice of program counters.
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
