package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
)

// each calls do with each command that a person can find, the root first.
func each(cmd *cobra.Command, do func(*cobra.Command)) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	do(cmd)
	for _, child := range cmd.Commands() {
		each(child, do)
	}
}

// withoutJSON are the commands whose answer no program reads otherwise than it is.
var withoutJSON = []string{ //nolint:gochecknoglobals // a constant in all but name
	"everypage",                  // help
	"everypage completion",       // a shell script
	"everypage contracts schema", // it is JSON
	"everypage man",              // a manual page
	"everypage serve",            // pages for a browser
}

// Every command has an example, says what it does, names its flags, and answers a
// program; and its refusals say what to do next.
func TestEveryCommandIsComplete(t *testing.T) {
	w := newWorld(t, 3)
	each(newRoot(streams{}), func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: it lacks a short text, a long one or an example", path)
		}
		if !unicode.IsUpper(rune(cmd.Short[0])) || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short text %q is to begin with a capital and to have no full stop", path, cmd.Short)
		}
		for _, example := range examplesOf(cmd) {
			if !strings.HasPrefix(strings.Join(example, " ")+" ", path+" ") && path != "everypage" {
				t.Errorf("%s: %q is no example of it", path, example)
			}
		}
		for line := range strings.Lines(cmd.Long) {
			if len(strings.TrimSpace(line)) > 150 || strings.Contains(line, "\t") {
				t.Errorf("%s: a line of its help is too long or holds a tab: %s", path, line)
			}
		}
		if has := cmd.Flags().Lookup("json") != nil; has == slices.Contains(withoutJSON, path) {
			t.Errorf("%s: --json: %t", path, has)
		} else if has && !strings.Contains(cmd.Long, "--json") && !strings.Contains(cmd.Long, "receipt") && cmd.Name() != "contracts" {
			t.Errorf("%s: its help does not say what --json prints", path)
		}
		refused := w.want(exitUsage, append(strings.Fields(path)[1:], "--no-such-flag"), `see "`+path+` --help"`)
		if !strings.HasPrefix(refused.err, "everypage: ") || refused.out != "" {
			t.Errorf("%s: a refusal is %q and %q", path, refused.out, refused.err)
		}
	})
}

// examplesOf returns the command lines of the examples, taken apart.
func examplesOf(cmd *cobra.Command) [][]string {
	var lines [][]string
	for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
		if words := shellWords(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines
}

// shellWords takes a line apart as a shell would: at spaces, but for those in quotes.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// notRunHere are the commands whose examples other tests run.
var notRunHere = map[string]string{ //nolint:gochecknoglobals // a constant in all but name
	"everypage":       "its examples are those of its commands",
	"everypage demo":  "TestDemo plays it",
	"everypage drill": "TestDrillOfTheProgramsInItsHelp plays it",
	"everypage serve": "it runs until it is stopped; TestServe asks it",
}

// Every example works as it stands, in a folder with what it names.
func TestEveryExampleRuns(t *testing.T) {
	prepared := newWorld(t, 7)
	prepared.want(exitDone, []string{
		"run", prepared.url, "--contract", "keyset-catalogue", "--job", "tickets", "--ledger", prepared.path("ledger"), "--out", prepared.path("tickets.jsonl"),
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	prepared.want(exitReview, []string{
		"run", prepared.url, "--contract", "keyset-catalogue", "--job", "reminders", "--run-id", "march", "--action", "remind",
		"--ledger", prepared.path("ledger"), "--", self, asHandler, "refused", prepared.dir,
	})
	prepared.put("remind.sh", "#!/bin/sh\nexit 0\n")
	if err := os.Chmod(prepared.path("remind.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	prepared.Setenv("API_AUTH", "Bearer secret")
	each(newRoot(streams{}), func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		t.Run(path, func(t *testing.T) {
			if why := notRunHere[path]; why != "" {
				t.Skip("not run here: " + why)
			}
			for _, words := range examplesOf(cmd) {
				if slices.Contains(words, "./remind.sh") && filepath.Separator == '\\' {
					continue // there is no shell for it
				}
				folder := filepath.Join(t.TempDir(), "everypage")
				if err := os.CopyFS(folder, os.DirFS(prepared.dir)); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(filepath.Join(folder, "remind.sh"), 0o700); err != nil {
					t.Fatal(err)
				}
				t.Chdir(folder)
				for i := range words {
					words[i] = strings.ReplaceAll(words[i], "https://api.example.com/v1/tickets", prepared.url)
				}
				got := runIn(t.Context(), words[1:]...)
				if got.code != exitDone || got.out == "" && words[1] != "run" {
					t.Errorf("%v\nexit code %d\n%s%s", words, got.code, got.out, got.err)
				}
				if slices.Contains(words, "--json") {
					wantJSON(t, words, got.out)
				}
			}
		})
	})
}
