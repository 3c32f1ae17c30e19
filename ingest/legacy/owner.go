package legacy

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	rootUser = 0
	// othersWrite are the permissions with which somebody besides the owner can
	// put files into a folder.
	othersWrite = 0o022
)

var errForeign = errors.New("it belongs to another user than its folder, which others can write to; " +
	"give the file to the folder's owner, or close the folder to others")

// trust says whose files a folder may have. Who can write to it could link or
// move there what the service can read and they cannot, such as a log or a
// secret of another user that loses its first name soon after, so that its
// count of links shows nothing.
type trust struct {
	// owner is the user of the folder.
	owner uint32
	// closed says that only the service and root can put files there: whoever
	// these belong to, they were put there on purpose.
	closed bool
}

// trusted reads from the folder's own entry whom to trust. service is the user
// that the service runs as.
func trusted(folder fs.FileInfo, service int) trust {
	stat, ok := folder.Sys().(*syscall.Stat_t)
	if !ok {
		return trust{closed: true} // no users here
	}
	ours := stat.Uid == rootUser || int(stat.Uid) == service
	return trust{owner: stat.Uid, closed: ours && folder.Mode()&othersWrite == 0}
}

// allows refuses a file of somebody else, errForeign.
func (t trust) allows(file fs.FileInfo) error {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !t.closed && ok && stat.Uid != t.owner {
		return errForeign
	}
	return nil
}

// trustIn is [trusted] for an open folder.
func trustIn(root *os.Root) (trust, error) {
	info, err := root.Stat(".")
	if err != nil {
		return trust{}, err
	}
	return trusted(info, os.Geteuid()), nil
}
