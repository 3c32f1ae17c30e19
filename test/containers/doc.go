// Package containers runs the images and the compose files of the product, by the
// programs that an operator uses. Its tests have the build tag containers:
//
//	make test-containers CONTAINER_TESTS=./test/containers
//
// engine.sh finds the container engine, or makes one with prepare.sh.
package containers
