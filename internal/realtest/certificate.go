package realtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"testing"
	"time"
)

// clientIdentity makes a certificate of a Kubernetes administrator, and the
// authority, as PEM, that a server has to trust for it.
func clientIdentity(tb testing.TB) (authority string, identity tls.Certificate) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	now := time.Now() //nolint:forbidigo // the server compares it with the machine's clock
	self := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		// Whoever is in this group may do everything, by Kubernetes' own rule.
		Subject:   pkix.Name{CommonName: "a test", Organization: []string{"system:masters"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, self, self, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return authority, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// trusting returns a client that shows an identity and trusts the certificate in
// a file.
func trusting(tb testing.TB, file string, identity tls.Certificate) *http.Client {
	tb.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // the server that the test started wrote it
	if err != nil {
		tb.Fatal(err)
	}
	known := x509.NewCertPool()
	if !known.AppendCertsFromPEM(text) {
		tb.Fatalf("%s holds no certificate", file)
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: known, Certificates: []tls.Certificate{identity}, MinVersion: tls.VersionTLS12},
	}}
}
