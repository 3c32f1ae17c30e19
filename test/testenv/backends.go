package testenv

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// The images of docker-compose.yml.
const (
	natsImage       = "nats:2.15.2-alpine"
	clickHouseImage = "clickhouse/clickhouse-server:26.7"
)

// backends are the addresses of the engines; "" is embedded.
type backends struct{ natsURL, clickHouseDSN string }

// chosen are the backends of this process.
var chosen struct {
	once     sync.Once
	backends backends
	err      error
}

// chooseBackends chooses once for the process and prints its choice.
func chooseBackends(ctx context.Context, t testing.TB) backends {
	t.Helper()
	chosen.once.Do(func() {
		chosen.backends = backends{
			natsURL:       os.Getenv("ERRATA_TEST_NATS_URL"),
			clickHouseDSN: os.Getenv("ERRATA_TEST_CLICKHOUSE_DSN"),
		}
		from := func(address string) string {
			if address != "" {
				return "the address in the environment"
			}
			return "embedded"
		}
		natsFrom, clickHouseFrom := from(chosen.backends.natsURL), from(chosen.backends.clickHouseDSN)
		if os.Getenv("ERRATA_TEST_CONTAINERS") == "1" {
			if chosen.backends.natsURL == "" {
				natsFrom = "container " + natsImage
				chosen.backends.natsURL, chosen.err = startNATSContainer(ctx)
			}
			if chosen.backends.clickHouseDSN == "" && chosen.err == nil {
				clickHouseFrom = "container " + clickHouseImage
				chosen.backends.clickHouseDSN, chosen.err = startClickHouseContainer(ctx)
			}
		}
		fmt.Fprintf(os.Stderr, "testenv: NATS: %s; ClickHouse: %s\n", natsFrom, clickHouseFrom)
	})
	if chosen.err != nil {
		t.Fatalf("testenv: %v; is a container engine running? Without ERRATA_TEST_CONTAINERS the embedded engines are used", chosen.err)
	}
	return chosen.backends
}
