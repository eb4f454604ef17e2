package proptest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// network is a loopback server that answers for the hosts of a case. Their names
// are mapped to it where a connection is made, so that requests, origins and
// certificates are those of the case, as written. A connection to anything else
// is refused and remembered.
type network struct {
	origins []string // scheme://host:port that may be reached; the first is home
	plain   net.Listener
	secure  net.Listener
	trust   *tls.Config
	server  *http.Server
	refused func(address string)
}

// newNetwork starts a server for the origins.
func newNetwork(ctx context.Context, origins []string, handler http.Handler, refused func(address string)) (*network, error) {
	n := &network{origins: origins, refused: refused, server: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}}
	certificate, err := n.certify()
	if err != nil {
		return nil, err
	}
	var listen net.ListenConfig
	if n.plain, err = listen.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("proptest: listen on loopback: %w", err)
	}
	inner, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		_ = n.plain.Close()
		return nil, fmt.Errorf("proptest: listen on loopback: %w", err)
	}
	n.secure = tls.NewListener(inner, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	for _, l := range []net.Listener{n.plain, n.secure} {
		go func() { _ = n.server.Serve(l) }() // until close
	}
	return n, nil
}

func (n *network) close() { _ = n.server.Close() }

// certify makes a certificate for the names of the origins.
func (n *network) certify() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("proptest: make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a case's server"},
		NotBefore: certified().Add(-time.Hour), NotAfter: certified().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, origin := range n.origins {
		u, err := url.Parse(origin)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("proptest: origin %q: %w", origin, err)
		}
		if ip := net.ParseIP(u.Hostname()); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, u.Hostname())
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("proptest: make a certificate: %w", err)
	}
	own, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("proptest: read the certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(own)
	n.trust = &tls.Config{RootCAs: pool, Time: certified, MinVersion: tls.VersionTLS12}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// certified is the instant at which certificates are looked at.
func certified() time.Time { return time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC) }

// transport returns a transport of one process.
func (n *network) transport() *http.Transport {
	return &http.Transport{DialContext: n.dial, TLSClientConfig: n.trust.Clone(), DisableKeepAlives: true}
}

func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	var target string
	switch address = strings.ToLower(address); {
	case slices.Contains(n.origins, "https://"+address):
		target = n.secure.Addr().String()
	case slices.Contains(n.origins, "http://"+address):
		target = n.plain.Addr().String()
	default:
		n.refused(address)
		return nil, &net.OpError{Op: "dial", Net: kind, Err: fmt.Errorf("%s is not of this case", address)}
	}
	var d net.Dialer
	return d.DialContext(ctx, kind, target)
}

// originsOf returns the origins of a case: its endpoint's and those that its
// setup allows.
func originsOf(s *setup) []string {
	scheme, address := s.home()
	origins := []string{scheme + "://" + address}
	for _, host := range s.hosts {
		if !strings.Contains(host, "://") {
			host = "https://" + host
		}
		if u, err := url.Parse(host); err == nil {
			origins = append(origins, u.Scheme+"://"+withPort(u))
		}
	}
	return origins
}
