package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	imageName = "disk.img"
	// maxWrite is the most bytes of one request; with its header it must fit
	// into a pipe.
	maxWrite = 256 << 10
)

// serve mounts a folder that has the cache as its one file.
func serve(c *cache, dir string) (*fuse.Server, error) {
	root := &folder{image: &image{cache: c}}
	server, err := fs.Mount(dir, root, &fs.Options{MountOptions: fuse.MountOptions{
		FsName: "errata-gate", Name: "errata-gate", DirectMountStrict: true,
		MaxWrite: maxWrite, DisableXAttrs: true, AllowOther: false,
	}})
	if err != nil {
		return nil, fmt.Errorf("disk: mount the image with FUSE on %s: %w", dir, err)
	}
	return server, nil
}

// folder is the root of the mount.
type folder struct {
	fs.Inode
	image *image
}

func (f *folder) OnAdd(ctx context.Context) {
	child := f.NewPersistentInode(ctx, f.image, fs.StableAttr{Ino: 2})
	f.AddChild(imageName, child, true)
}

// image is the file.
type image struct {
	fs.Inode
	cache *cache
}

var (
	_ fs.NodeOnAdder   = (*folder)(nil)
	_ fs.NodeOpener    = (*image)(nil)
	_ fs.NodeGetattrer = (*image)(nil)
	_ fs.NodeSetattrer = (*image)(nil)
	_ fs.NodeReader    = (*image)(nil)
	_ fs.NodeWriter    = (*image)(nil)
	_ fs.NodeFsyncer   = (*image)(nil)
)

// Open asks the kernel not to cache pages, so that the cache here is the only
// one between the file system and the image.
func (i *image) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, fs.OK
}

func (i *image) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size, out.Blksize = fuse.S_IFREG|0o600, uint64(i.cache.size), pageSize
	out.Blocks = out.Size / 512
	return fs.OK
}

// Setattr takes changes of times and the like; the size is what it is.
func (i *image) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, given := in.GetSize(); given && size != uint64(i.cache.size) {
		return syscall.EPERM
	}
	return i.Getattr(ctx, h, out)
}

func (i *image) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	n, err := i.cache.ReadAt(dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, said(err)
	}
	return fuse.ReadResultData(dest[:n]), fs.OK
}

func (i *image) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	n, err := i.cache.WriteAt(data, off)
	return uint32(n), said(err)
}

// Fsync is called when the loop device flushes.
func (i *image) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return said(i.cache.Flush())
}

// said is the error for the kernel. An error that is not about the power comes
// from the machine under test, so it is printed for its operator.
func said(err error) syscall.Errno {
	if err == nil {
		return fs.OK
	}
	if !errors.Is(err, errOff) {
		fmt.Fprintln(os.Stderr, err)
	}
	return syscall.EIO
}
