//go:build containers

package testenv

import (
	"context"
	"fmt"
	"os"

	"github.com/testcontainers/testcontainers-go"
	tcclickhouse "github.com/testcontainers/testcontainers-go/modules/clickhouse"
	tcnats "github.com/testcontainers/testcontainers-go/modules/nats"
	"go.uber.org/goleak"
)

// started are the containers of this process.
var started []testcontainers.Container

func startNATSContainer(ctx context.Context) (url string, err error) {
	c, err := tcnats.Run(ctx, natsImage)
	if err != nil {
		return "", fmt.Errorf("start a container of %s: %w", natsImage, err)
	}
	started = append(started, c)
	return c.ConnectionString(ctx)
}

func startClickHouseContainer(ctx context.Context) (dsn string, err error) {
	c, err := tcclickhouse.Run(ctx, clickHouseImage, tcclickhouse.WithUsername("errata"), tcclickhouse.WithPassword(randomName()))
	if err != nil {
		return "", fmt.Errorf("start a container of %s: %w", clickHouseImage, err)
	}
	started = append(started, c)
	return c.ConnectionString(ctx)
}

// stopContainers ends the containers; for a killed process the reaper of the
// container engine does it.
func stopContainers() {
	for _, c := range started {
		if err := testcontainers.TerminateContainer(c); err != nil {
			fmt.Fprintln(os.Stderr, "testenv: stop a container:", err)
		}
	}
	started = nil
}

// GoleakOptions ignore the goroutines of the container client, which live as long
// as the process. The embedded engines leave none.
func GoleakOptions() []goleak.Option {
	if os.Getenv("ERRATA_TEST_CONTAINERS") != "1" {
		return nil
	}
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/testcontainers/testcontainers-go.(*Reaper).connect.func1"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	}
}
