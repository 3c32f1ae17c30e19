// Package disk is a disk that can lose power: an image file that FUSE serves
// from a cache of its own, a loop device over it, and ext4 on that. What the
// file system has flushed is kept; of what it has not, a cut keeps, tears and
// reorders what the seed says, as the cache of a real disk does.
//
// It needs root and Linux. It knows nothing of Errata.
package disk
