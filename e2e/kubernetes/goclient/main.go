// A client of the API server that is made of the kubelet's own parts: client-go's transport with its pings,
// and the controller that renews a node's lease. It speaks to the lab as the lab's own client does: what
// happens is a line of JSON, and the end of its input is its end.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// The kubelet's: NodeLeaseDurationSeconds, a quarter of it, and NodeStatusUpdateFrequency.
	leaseSeconds   = 40
	renewInterval  = 10 * time.Second
	requestTimeout = 10 * time.Second
	// The header in which the lab's API servers give their name.
	serverHeader = "x-lab-server"
)

// event is one line; crates/holdfast-lab/src/actor/client/event.rs says what each field means.
type event struct {
	T          float64  `json:"t"`
	Lane       string   `json:"lane"`
	ID         uint64   `json:"id"`
	What       string   `json:"what"`
	Connection *uint64  `json:"connection,omitempty"`
	Server     string   `json:"server,omitempty"`
	Took       *float64 `json:"took_s,omitempty"`
	Detail     string   `json:"detail,omitempty"`
}

// now is CLOCK_MONOTONIC in seconds, as all of the lab's clocks are.
func now() float64 {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at); err != nil {
		panic(err)
	}
	return float64(at.Sec) + float64(at.Nsec)/1e9
}

// teller prints, one line at a time.
type teller struct {
	sync.Mutex
	out *json.Encoder
}

func (t *teller) say(line any) {
	t.Lock()
	defer t.Unlock()
	if err := t.out.Encode(line); err != nil {
		os.Exit(1)
	}
}

func (t *teller) tell(e event, since float64) {
	e.T = now()
	if since > 0 {
		took := e.T - since
		e.Took = &took
	}
	t.say(e)
}

// dialer makes connections that tell how they end, and knows them by their near end.
type dialer struct {
	*teller
	dialer net.Dialer
	mutex  sync.Mutex
	next   uint64
	open   map[string]*witness
}

// witness is a connection that remembers how it ended.
type witness struct {
	net.Conn
	dialer *dialer
	id     uint64
	born   float64

	mutex  sync.Mutex
	used   bool
	server string
	ending string
	over   bool
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mutex.Lock()
	id := d.next
	d.next++
	d.mutex.Unlock()
	begun := now()
	d.tell(event{Lane: "heartbeat", ID: id, What: "dialing"}, 0)
	conn, err := d.dialer.DialContext(ctx, network, address)
	if err != nil {
		d.tell(event{Lane: "heartbeat", ID: id, What: "dial-failed", Detail: err.Error()}, begun)
		return nil, err
	}
	w := &witness{Conn: conn, dialer: d, id: id, born: begun}
	d.mutex.Lock()
	d.open[conn.LocalAddr().String()] = w
	d.mutex.Unlock()
	return w, nil
}

// at finds a connection by its near end.
func (d *dialer) at(near net.Addr) *witness {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.open[near.String()]
}

// ending is the word for an error, as the lab's own client has it.
func ending(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "eof"
	case errors.Is(err, syscall.ECONNABORTED):
		return "aborted"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
		return ""
	default:
		return "lost"
	}
}

func (w *witness) note(err error) {
	if err == nil {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	// The first ending is the true one: what follows a reset is a broken pipe.
	if w.ending == "" {
		w.ending = ending(err)
	}
}

func (w *witness) Read(into []byte) (int, error) {
	n, err := w.Conn.Read(into)
	w.note(err)
	return n, err
}

func (w *witness) Write(bytes []byte) (int, error) {
	n, err := w.Conn.Write(bytes)
	w.note(err)
	return n, err
}

func (w *witness) Close() error {
	w.mutex.Lock()
	over, used, how, server := w.over, w.used, w.ending, w.server
	w.over = true
	w.mutex.Unlock()
	if !over {
		if how == "" {
			how = "own"
		}
		what := "closed"
		if !used {
			// TLS was never answered, or another connection was faster.
			what = "dial-failed"
		}
		w.dialer.tell(event{Lane: "heartbeat", ID: w.id, What: what, Server: server, Detail: how}, w.born)
		w.dialer.mutex.Lock()
		delete(w.dialer.open, w.LocalAddr().String())
		w.dialer.mutex.Unlock()
	}
	return w.Conn.Close()
}

// inUse tells of a connection when the first request goes over it.
func (w *witness) inUse() {
	w.mutex.Lock()
	used := w.used
	w.used = true
	w.mutex.Unlock()
	if !used {
		address := w.RemoteAddr().String()
		w.dialer.tell(event{Lane: "heartbeat", ID: w.id, What: "connected", Detail: address}, w.born)
	}
}

// observed tells of requests and their answers.
type observed struct {
	*dialer
	inner http.RoundTripper
}

func (o *observed) RoundTrip(request *http.Request) (*http.Response, error) {
	var on *witness
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if on = o.at(got.Conn.LocalAddr()); on != nil {
			on.inUse()
		}
	}}
	begun := now()
	request = request.WithContext(httptrace.WithClientTrace(request.Context(), trace))
	response, err := o.inner.RoundTrip(request)
	e := event{Lane: "watch", What: "failed", Detail: strings.ToLower(request.Method)}
	if strings.Contains(request.URL.Path, "/leases") {
		e.Lane = "heartbeat"
	}
	if err != nil {
		e.Detail += ": " + err.Error()
		o.tell(e, begun)
		return nil, err
	}
	e.Server = response.Header.Get(serverHeader)
	if on != nil {
		e.Connection = &on.id
		on.mutex.Lock()
		on.server = e.Server
		on.mutex.Unlock()
	}
	switch {
	case response.StatusCode/100 != 2:
		// That there is no lease yet is no failure.
		if response.StatusCode != http.StatusNotFound {
			e.Connection = nil
			e.Detail += ": status " + response.Status
			o.tell(e, begun)
		}
	case request.Method != http.MethodGet || e.Lane == "watch":
		e.What = "ok"
		o.tell(e, begun)
	}
	return response, nil
}

// hold keeps a watch of the node for as long as the process lives.
func hold(client kubernetes.Interface, node string) {
	for {
		options := metav1.ListOptions{FieldSelector: "metadata.name=" + node, AllowWatchBookmarks: true}
		watcher, err := client.CoreV1().Nodes().Watch(context.Background(), options)
		if err == nil {
			for range watcher.ResultChan() {
			}
		}
		time.Sleep(time.Second)
	}
}

func run() error {
	server := flag.String("server", "", "the API server, as https://HOST:PORT")
	resolver := flag.String("resolve-with", "", "the DNS server to ask for HOST")
	ca := flag.String("ca", "", "the file with the cluster's CA")
	name := flag.String("tls-name", "", "the name that the server's certificate must carry")
	node := flag.String("node", "", "the node that it is")
	flag.Parse()
	if _, err := url.Parse(*server); err != nil || *server == "" || *node == "" {
		return fmt.Errorf("found --server %q --node %q, accepted: a URL and a name", *server, *node)
	}

	said := &teller{out: json.NewEncoder(os.Stdout)}
	// As the kubelet dials (k8s.io/kubernetes, pkg/kubelet/certificate/transport.go).
	dials := &dialer{teller: said, open: map[string]*witness{}}
	dials.dialer = net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	if *resolver != "" {
		ask := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, *resolver)
		}
		dials.dialer.Resolver = &net.Resolver{PreferGo: true, Dial: ask}
	}
	config := &rest.Config{Host: *server, QPS: -1}
	config.TLSClientConfig = rest.TLSClientConfig{CAFile: *ca, ServerName: *name}
	config.ContentConfig = rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return err
	}
	config.TLSClientConfig = rest.TLSClientConfig{}
	config.Transport = &observed{dialer: dials, inner: utilnet.SetTransportDefaults(&http.Transport{
		TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig:     tls,
		MaxIdleConnsPerHost: 25,
		DialContext:         dials.dial,
	})}
	watches, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	heartbeats, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	said.say(map[string]any{"ready": true, "node": *node})
	controller := lease.NewController(
		clock.RealClock{}, heartbeats, *node, leaseSeconds, nil, renewInterval, *node, "kube-node-lease", nil)
	go controller.Run(context.Background())
	go hold(watches, *node)

	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		if order := strings.TrimSpace(orders.Text()); order != "time" {
			said.say(map[string]any{"ok": false, "error": fmt.Sprintf("found %q, accepted: time", order)})
			continue
		}
		said.say(map[string]any{"ok": true, "t": now()})
	}
	return orders.Err()
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "go-client:", err)
		os.Exit(2)
	}
}
