// Package native is the receiver of applications that send errors as plain JSON.
// It serves
//
//	POST /api/v1/events
//
// whose body is one object, an array of objects, or objects line by line, told
// apart by the body itself and never by its content type. Fields:
//
//	id               text, at most 64 bytes: the same id of a project counts once
//	time             RFC 3339, or a number since 1970; default: when it arrives
//	type             "system" or "database"; default: inferred
//	level            debug … fatal, or a usual alias; default: error
//	message          text; needed unless exception_class is given
//	template         the message before its parameters were filled in
//	exception_class  text
//	file, line       where it happened; default: the last frame of the application
//	request_uri, request_method, user_id, ip
//	fingerprint      array of texts: signs instead of class, file and message
//	frames           array of {file, line, column, function, module, in_app, args, pre, context,
//	                 post, vars}, oldest call first; pre and post are arrays of source lines
//	                 before and after the line context, vars is an object of local variables,
//	                 values or shapes; these four count for frames that are in_app
//	payload          object of the application's own
//	contexts         object of objects about the surroundings: {"device": {…}}
//	breadcrumbs      array of {time, type, category, level, message, data}, oldest first:
//	                 what happened before; the last 30 are kept
//	server_name, transaction, trace_id, span_id
//	                 texts
//	release, environment
//	                 texts; default: those in payload
//	tags             object of texts, numbers and booleans
//
// null means absent, and other fields are ignored. The project is that of the API
// key or of the DSN. A value of a wrong JSON type, an unknown type or level, or an
// event without message and class rejects the event, with its index and a reason.
// A time or an address that cannot be read, and a value of a wrong type in release,
// environment, tags or one of the last six rows, are left out, because the error is worth more. The answer lists each
// time that was replaced by the time of receipt.
//
// The package must not scrub, sign or store.
package native
