// Package dynamometer starts a local DynamoDB that has partitions, throttling and costs, for tests.
//
// It needs the command dynamometer on the PATH, or in the variable DYNAMOMETER what runs it, such as
// "python3 dynamometer.pyz". Any AWS SDK reaches the server at its URL, with any credentials.
package dynamometer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Server is a server that runs; URL is what an SDK takes as its base endpoint.
type Server struct {
	URL     string
	command *exec.Cmd
	ended   chan string
}

// Start runs a server on a free port; options are those of "dynamometer serve".
func Start(options ...string) (*Server, error) {
	words := strings.Fields(os.Getenv("DYNAMOMETER"))
	if len(words) == 0 {
		words = []string{"dynamometer"}
	}
	words = append(append(words, "serve", "--port", "0"), options...)
	command := exec.Command(words[0], words[1:]...)
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var complaint bytes.Buffer
	command.Stderr = &complaint
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%s: install it, or set DYNAMOMETER: %w", words[0], err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		for _, word := range strings.Fields(lines.Text()) {
			if strings.HasPrefix(word, "http://") {
				server := &Server{URL: word, command: command, ended: make(chan string, 1)}
				go func() { server.ended <- rest(lines) }()
				return server, nil
			}
		}
	}
	_ = command.Wait()
	return nil, errors.New(strings.TrimSpace(complaint.String()))
}

// Join returns a server that runs already, as a CI job may have started it.
func Join(url string) *Server { return &Server{URL: strings.TrimSuffix(url, "/")} }

// Stop ends the server. Its error is what failed by the options --budget and --fail-on, or what else
// went wrong; the summary of all tests is printed.
func (s *Server) Stop() error {
	if err := s.post("stop", nil, nil); err != nil || s.command == nil {
		return err
	}
	summary := <-s.ended
	fmt.Print(summary)
	if s.command.Wait() == nil {
		return nil
	}
	failed := []string{}
	for _, line := range strings.Split(summary, "\n") {
		if strings.HasPrefix(line, "FAILED ") {
			failed = append(failed, strings.TrimPrefix(line, "FAILED "))
		}
	}
	return fmt.Errorf("dynamometer: %s failed", strings.Join(failed, ", "))
}

// Test counts what tb's calls consume until it ends, and fails it for what the server was told to
// fail tests for. Tests that run in parallel have an access key each.
func (s *Server) Test(tb testing.TB, accessKey ...string) {
	tb.Helper()
	members := map[string]any{"begin": tb.Name()}
	if len(accessKey) > 0 {
		members["access_key"] = accessKey[0]
	}
	s.must(tb, s.post("tests", members, nil))
	tb.Cleanup(func() {
		var record struct {
			Failures []string `json:"failures"`
		}
		s.must(tb, s.post("tests", map[string]any{"end": tb.Name()}, &record))
		for _, failure := range record.Failures {
			tb.Error(failure)
		}
	})
}

// Reset deletes all data; with the name of a namespace, KEY or KEY/REGION, only what is in it.
func (s *Server) Reset(tb testing.TB, namespace ...string) {
	tb.Helper()
	s.must(tb, s.post("reset", named(namespace), nil))
}

// Snapshot keeps the present state, and returns what Restore takes.
func (s *Server) Snapshot(tb testing.TB) string {
	tb.Helper()
	var kept struct {
		ID string `json:"id"`
	}
	s.must(tb, s.post("snapshot", nil, &kept))
	return kept.ID
}

// Restore goes back to a snapshot, in all namespaces or in one.
func (s *Server) Restore(tb testing.TB, snapshot string, namespace ...string) {
	tb.Helper()
	members := named(namespace)
	members["id"] = snapshot
	s.must(tb, s.post("snapshot/restore", members, nil))
}

// Advance lets time pass, of a server that was started with --clock manual.
func (s *Server) Advance(tb testing.TB, seconds float64) {
	tb.Helper()
	s.must(tb, s.post("clock", map[string]any{"advance": seconds}, nil))
}

func rest(lines *bufio.Scanner) string {
	var text strings.Builder
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "console:") {
			text.WriteString(lines.Text() + "\n")
		}
	}
	return text.String()
}

func named(namespace []string) map[string]any {
	if len(namespace) == 0 {
		return map[string]any{}
	}
	return map[string]any{"namespace": namespace[0]}
}

func (s *Server) must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) post(route string, members map[string]any, answer any) error {
	if members == nil {
		members = map[string]any{}
	}
	body, err := json.Marshal(members)
	if err != nil {
		return err
	}
	address, err := url.JoinPath(s.URL, "_emulator", route)
	if err != nil {
		return err
	}
	response, err := http.Post(address, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("dynamometer: %s: %s", route, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
