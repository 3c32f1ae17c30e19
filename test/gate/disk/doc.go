// Package disk is a disk that can lose power: an image file that FUSE serves
// from a cache of its own, a loop device over it, and ext4 on that. A cut keeps
// what the file system has flushed. It keeps, tears and reorders the other
// writes as the seed says, like the cache of a real disk.
//
// It needs root and Linux. It knows nothing of Errata.
package disk
