package load

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// readHeaderTimeout is longer than any connection waits for its first request: those of
// a slow load are opened together.
const readHeaderTimeout = 2 * time.Minute

// NullSink is the ceiling of what is measured over HTTP: the same kind of server as
// Errata's, with a handler that reads the body and drops it.
func NullSink() (addr string, stop func() error, err error) {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.POST("/*path", func(c *gin.Context) {
		if _, err := io.Copy(io.Discard, c.Request.Body); err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		c.Status(http.StatusAccepted)
		c.Writer.WriteHeaderNow()
	})
	return Serve(router)
}

// Serve serves the handler on a free port of this machine until stop.
func Serve(handler http.Handler) (addr string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // closed by stop
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }() // ends with stop
	return listener.Addr().String(), func() error {
		err := server.Shutdown(context.Background())
		if serveErr := <-ended; !errors.Is(serveErr, http.ErrServerClosed) {
			err = errors.Join(err, serveErr)
		}
		return err
	}, nil
}
