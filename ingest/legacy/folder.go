package legacy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	errata "github.com/errata-log/errata"
)

const (
	// claimMark ends the name of a file during its import.
	claimMark = ".importing"
	// doneFolder is for the imported files.
	doneFolder = "done"
	folderMode = 0o700
)

// Prepare makes the folders for old error files.
func Prepare(dir string) error {
	for _, book := range errata.Books {
		if err := os.MkdirAll(dir+string(os.PathSeparator)+book.String(), folderMode); err != nil {
			return fmt.Errorf("make the folder for old error files: %w", err)
		}
	}
	return nil
}

// folder is the folder of one book. Nothing outside of it is ever opened.
type folder struct {
	book  errata.Book
	root  *os.Root
	trust trust
}

// openFolder opens the folder of a book. A link in its place is refused. The
// error is fs.ErrNotExist when there is none.
func openFolder(root *os.Root, book errata.Book) (*folder, error) {
	info, err := root.Lstat(book.String())
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNoFolder
	}
	inside, err := root.OpenRoot(book.String())
	if err != nil {
		return nil, err
	}
	if info, err = inside.Stat("."); err != nil {
		inside.Close()
		return nil, err
	}
	return &folder{book: book, root: inside, trust: trusted(info, os.Geteuid())}, nil
}

// path is the name of a file in messages.
func (f *folder) path(name string) string {
	return f.book.String() + "/" + strings.TrimSuffix(name, claimMark)
}

// names are the names of the files to import: all but hidden files and the folder
// of imported ones. A file that an earlier import claimed comes first, because it
// is in the way of a new file with its name; the rest is sorted.
func (f *folder) names() (names []string, err error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", f.book, err)
	}
	for _, e := range entries {
		if name := e.Name(); name[0] != '.' && !(name == doneFolder && e.IsDir()) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(strings.Count(b, claimMark), strings.Count(a, claimMark))
	})
	return names, nil
}

// misplaced tells of the files that lie beside the folders of the books.
func (r *run) misplaced(root *os.Root) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return // the folders are opened by their names
	}
	for _, e := range entries {
		name := e.Name()
		_, book := errata.ParseBook(name)
		if !e.IsDir() && !book && name[0] != '.' && len(r.result.Skipped) < maxMisplaced {
			r.skip(name, errMisplaced)
		}
	}
}

// maxMisplaced bounds the files of which misplaced tells.
const maxMisplaced = 20

// Reasons to skip a file.
var (
	errMisplaced = errors.New("it lies beside the folders; move it into system, or into database if it is the log of one")
	errNoFolder  = errors.New("it is not a folder")
	errLink      = errors.New("it is a symbolic link; put the file itself here")
	errHardLinks = errors.New("it has another name elsewhere (a hard link); put a copy here")
	errNotFile   = errors.New("it is not a regular file")
	errSwapped   = errors.New("another file took its place meanwhile; import again")
	errInTheWay  = errors.New("there is another file with its name and " + claimMark + "; remove or rename one of them")
	errDoneTaken = errors.New("done is not a folder; remove or rename it")
)

// open opens a regular file without other hard links.
func (f *folder) open(name string) (*os.File, fs.FileInfo, error) {
	listed, err := f.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := plain(listed); err != nil {
		return nil, nil, err
	}
	// O_NONBLOCK: if it has become a pipe meanwhile, opening must not wait.
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = plain(info)
	}
	if err == nil && !os.SameFile(listed, info) {
		err = errSwapped
	}
	if err == nil {
		err = f.trust.allows(info)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// plain says why a file cannot be imported, by its type and its links.
func plain(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return errLink
	case !mode.IsRegular():
		return errNotFile
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink != 1 {
		return errHardLinks
	}
	return nil
}

// claim renames the open file and returns its new name. Its writer then begins a
// new file, and after a crash the name shows that the import had begun.
func (f *folder) claim(name string, open fs.FileInfo) (string, error) {
	if strings.HasSuffix(name, claimMark) {
		return name, nil
	}
	claimed := name + claimMark
	if _, err := f.root.Lstat(claimed); !errors.Is(err, fs.ErrNotExist) {
		return "", cmp.Or(err, errInTheWay)
	}
	if err := f.root.Rename(name, claimed); err != nil {
		return "", err
	}
	info, err := f.root.Lstat(claimed)
	if err != nil {
		return "", err
	}
	if !os.SameFile(info, open) {
		return "", errSwapped
	}
	return claimed, nil
}

// finish moves a claimed file to doneFolder. A name that exists there gets a
// number.
func (f *folder) finish(claimed string) error {
	if err := f.root.Mkdir(doneFolder, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := f.root.Lstat(doneFolder); err != nil || !info.IsDir() {
		return cmp.Or(err, errDoneTaken)
	}
	to := doneFolder + "/" + strings.TrimSuffix(claimed, claimMark)
	free := to
	for n := 1; ; n++ {
		if _, err := f.root.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
		free = to + "." + strconv.Itoa(n)
	}
	return f.root.Rename(claimed, free)
}
