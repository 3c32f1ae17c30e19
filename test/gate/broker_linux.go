package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/errata-log/errata/test/product"
)

// brokerCommand makes the gate a NATS server, a process that can be frozen.
const brokerCommand = "broker"

// runBroker runs a server of a cluster until it is told to end.
func runBroker(args []string) int {
	flags := flag.NewFlagSet(brokerCommand, flag.ContinueOnError)
	name, dir, routes := flags.String("name", "", ""), flags.String("dir", "", ""), flags.String("routes", "", "")
	port, cluster, monitor := flags.Int("port", 0, ""), flags.Int("cluster", 0, ""), flags.Int("monitor", 0, "")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	options := &server.Options{
		ServerName: *name, Host: "127.0.0.1", Port: *port, HTTPHost: "127.0.0.1", HTTPPort: *monitor,
		JetStream: true, StoreDir: *dir, SyncAlways: true, NoSigs: true,
		Cluster: server.ClusterOpts{Name: "gate", Host: "127.0.0.1", Port: *cluster},
	}
	for text := range strings.SplitSeq(*routes, ",") {
		route, err := url.Parse(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, "broker:", err)
			return 2
		}
		options.Routes = append(options.Routes, route)
	}
	s, err := server.NewServer(options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "broker:", err)
		return 1
	}
	s.ConfigureLogger()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	s.Start()
	<-stop
	s.Shutdown()
	s.WaitForShutdown()
	return 0
}

const brokers = 3

// logStream is the stream of the log.
const logStream = "LOG"

// broker is one server of the cluster.
type broker struct {
	name                   string
	port, cluster, monitor int
	cmd                    *exec.Cmd
}

// cluster is a cluster of NATS servers, each a process of its own.
type cluster struct {
	gate    *gate
	brokers []*broker
}

// newCluster starts the servers and waits until they are connected to each other.
func (g *gate) newCluster(ctx context.Context) (c *cluster, err error) {
	c = &cluster{gate: g}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	for range brokers {
		ports, err := freePorts(3)
		if err != nil {
			return nil, err
		}
		c.brokers = append(c.brokers, &broker{port: ports[0], cluster: ports[1], monitor: ports[2]})
	}
	var routes []string
	for _, b := range c.brokers {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", b.cluster))
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the gate's own program: %w", err)
	}
	for i, b := range c.brokers {
		b.name = fmt.Sprintf("n%d", i+1)
		b.cmd = exec.Command(self, brokerCommand, "-name", b.name, "-dir", filepath.Join(g.dir, "cluster", b.name),
			"-port", strconv.Itoa(b.port), "-cluster", strconv.Itoa(b.cluster), "-monitor", strconv.Itoa(b.monitor), "-routes", strings.Join(routes, ","))
		b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := b.cmd.Start(); err != nil {
			return nil, fmt.Errorf("start a NATS server: %w", err)
		}
	}
	return c, c.awaitHealthy(ctx)
}

// freePorts finds ports on which nobody listens.
func freePorts(n int) (ports []int, err error) {
	for len(ports) < n {
		port, err := product.FreePort()
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// awaitHealthy waits until every server reports that its streams are complete.
func (c *cluster) awaitHealthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for _, b := range c.brokers {
		for b.get(ctx, c.gate.http, "/healthz", &struct{}{}) != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("the NATS cluster is not healthy within %s", readyLimit)
			}
			pause(ctx, 5*pollPause)
		}
	}
	return nil
}

// get reads an answer of the monitoring port, which must be 200, into to.
func (b *broker) get(ctx context.Context, client *http.Client, path string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", b.monitor, path), nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(to)
}

// urls are the addresses for the service, the first one first.
func (c *cluster) urls() string {
	var all []string
	for _, b := range c.brokers {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", b.port))
	}
	return strings.Join(all, ",")
}

// leads says whether the server is the leader of the service's log.
func (b *broker) leads(ctx context.Context, client *http.Client) (bool, error) {
	var told server.JSInfo
	if err := b.get(ctx, client, "/jsz?accounts=true&streams=true", &told); err != nil {
		return false, fmt.Errorf("ask a NATS server for its streams: %w", err)
	}
	for _, account := range told.AccountDetails {
		for _, stream := range account.Streams {
			if stream.Name == logStream && stream.Cluster != nil {
				return stream.Cluster.Leader == b.name, nil
			}
		}
	}
	return false, fmt.Errorf("the NATS server %s knows of no stream %s", b.name, logStream)
}

// awaitLeft waits until a process is connected to another server than the given
// one, and returns how long after began that was.
func (c *cluster) awaitLeft(ctx context.Context, pid int, one *broker, began time.Time, limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithDeadline(ctx, began.Add(limit))
	defer cancel()
	for ctx.Err() == nil {
		sockets, err := socketsOf(pid)
		if err != nil {
			return 0, err
		}
		for _, b := range c.brokers {
			if b != one && sockets[b.port] {
				return time.Since(began), nil
			}
		}
		pause(ctx, pollPause)
	}
	return time.Since(began), fmt.Errorf("no other NATS server is taken within %v", limit)
}

// attached are the servers that a process is connected to, found by its sockets.
func (c *cluster) attached(pid int) (all []*broker, err error) {
	sockets, err := socketsOf(pid)
	if err != nil {
		return nil, err
	}
	for _, b := range c.brokers {
		if sockets[b.port] {
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the service is connected to none of the NATS servers")
	}
	return all, nil
}

// socketsOf are the remote ports that a process has connections to.
func socketsOf(pid int) (map[int]bool, error) {
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return nil, fmt.Errorf("read the connections: %w", err)
	}
	remote := map[string]int{} // port by inode
	for row := range strings.Lines(string(text)) {
		fields := strings.Fields(row)
		const established = "01"
		if len(fields) < 10 || fields[3] != established {
			continue
		}
		if _, port, ok := strings.Cut(fields[2], ":"); ok {
			if n, err := strconv.ParseInt(port, 16, 32); err == nil {
				remote[fields[9]] = int(n)
			}
		}
	}
	ports := map[int]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		target, err := os.Readlink(link)
		if inode, ok := strings.CutPrefix(target, "socket:["); err == nil && ok {
			if port, there := remote[strings.TrimSuffix(inode, "]")]; there {
				ports[port] = true
			}
		}
	}
	return ports, nil
}

// close ends the servers, frozen ones too.
func (c *cluster) close() {
	for _, b := range c.brokers {
		if b.cmd != nil && b.cmd.Process != nil {
			_ = b.cmd.Process.Kill() // it may be gone already
			_ = b.cmd.Wait()         // it was killed, and that is its error
		}
	}
}
