package legacy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	errata "github.com/errata-log/errata"
)

const (
	// claimMark is what a file's name ends with while it is imported.
	claimMark = ".importing"
	// doneFolder takes the files that were imported.
	doneFolder = "done"
	folderMode = 0o700
)

// Prepare makes the folders that old error files are put into.
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
	trust, err := trustIn(inside)
	if err != nil {
		inside.Close()
		return nil, err
	}
	return &folder{book: book, root: inside, trust: trust}, nil
}

// path is how the operator is told about a file.
func (f *folder) path(name string) string {
	return f.book.String() + "/" + strings.TrimSuffix(name, claimMark)
}

// names are what may be imported: first what an import that broke off had
// claimed, then the rest by name. Hidden files and the folder of done ones are
// left alone.
func (f *folder) names() ([]string, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", f.book, err)
	}
	defer dir.Close()
	var names []string
	for {
		entries, err := dir.ReadDir(1000)
		for _, e := range entries {
			if name := e.Name(); name[0] != '.' && !(name == doneFolder && e.IsDir()) {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", f.book, err)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(boolOrder(strings.HasSuffix(b, claimMark), strings.HasSuffix(a, claimMark)), cmp.Compare(a, b))
	})
	return names, nil
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// Reasons not to touch a file.
var (
	errNoFolder  = errors.New("it is not a folder")
	errLink      = errors.New("it is a symbolic link; put the file itself here")
	errHardLinks = errors.New("it has another name elsewhere (a hard link); put a copy here")
	errNotFile   = errors.New("it is not a regular file")
	errSwapped   = errors.New("it was exchanged for another file meanwhile")
	errInTheWay  = errors.New("a file with its name and " + claimMark + " is in the way; remove or rename one of them")
	errDoneTaken = errors.New("in the place of the folder done there is something else")
)

// open opens a regular file with one name. Its size is fixed here.
func (f *folder) open(name string) (*os.File, fs.FileInfo, error) {
	listed, err := f.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := plain(listed); err != nil {
		return nil, nil, err
	}
	// Should it become a pipe meanwhile, opening it must not wait.
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

// plain says why a file is not one to be imported.
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

// claim renames the open file, so that its writer begins a new one and a crash
// leaves a trace, and returns its new name.
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

// finish moves a claimed file to the done ones. A name that is taken there gets
// a number.
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
