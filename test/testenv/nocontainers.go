//go:build !containers

package testenv

import (
	"context"
	"errors"

	"go.uber.org/goleak"
)

// The client for containers and what it imports take twelve seconds to compile, so
// they are there with the build tag only.
var errNoContainers = errors.New("containers need the build tag containers; make test-containers sets it")

func startNATSContainer(context.Context) (url string, err error) { return "", errNoContainers }

func startClickHouseContainer(context.Context) (dsn string, err error) { return "", errNoContainers }

func stopContainers() {}

// GoleakOptions are none: the embedded engines leave no goroutine.
func GoleakOptions() []goleak.Option { return nil }
