package legacy

import (
	"errors"
	"io/fs"
	"syscall"
)

const (
	rootUser = 0
	// othersWrite are the permissions with which users besides the owner can put
	// files into a folder.
	othersWrite = 0o022
)

var errForeign = errors.New("it belongs to another user than its folder, which others can write to; " +
	"give the file to the folder's owner, or close the folder to others")

// trust says whose files a folder may have. A user who can write to the folder
// can move or hard-link a file into it that only the service can read, such as
// the log or the secret of another user. The link count does not show this when
// the file's first name is removed soon after.
type trust struct {
	// owner is the user who owns the folder.
	owner uint32
	// closed says that only the service and root can put files there. They do it
	// on purpose, so the files may belong to anybody.
	closed bool
}

// trusted finds the trust of a folder by its owner and its permissions. service
// is the user of the service's process.
func trusted(folder fs.FileInfo, service int) trust {
	stat, ok := folder.Sys().(*syscall.Stat_t)
	if !ok {
		return trust{closed: true} // the system has no users
	}
	ours := stat.Uid == rootUser || int(stat.Uid) == service
	return trust{owner: stat.Uid, closed: ours && folder.Mode()&othersWrite == 0}
}

// allows returns errForeign for a file of another user.
func (t trust) allows(file fs.FileInfo) error {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !t.closed && ok && stat.Uid != t.owner {
		return errForeign
	}
	return nil
}
