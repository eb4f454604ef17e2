package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long: `Print the manual page, with every command, in the format of man(7). It is made of the
same texts as --help. To install it for yourself:

  everypage man > ~/.local/share/man/man1/everypage.1`,
		Example: `  everypage man`,
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(std.out, manual(cmd.Root()))
			return err
		},
	}
}

// manual writes the commands as one page in the language of man(7).
func manual(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(".\\\" Made by \"everypage man\"; change the help texts of the commands instead.\n")
	b.WriteString(".TH EVERYPAGE 1\n.SH NAME\n")
	fmt.Fprintf(&b, "everypage \\- %s\n", roff(root.Short))
	b.WriteString(".SH SYNOPSIS\n.B everypage\n.I COMMAND\n[flags]\n.SH DESCRIPTION\n")
	manText(&b, root.Long)
	manExamples(&b, root)
	b.WriteString(".SH COMMANDS\n")
	for _, cmd := range root.Commands() {
		manCommand(&b, cmd)
	}
	b.WriteString(".SH ENVIRONMENT\n.TP\n.B " + ledgerVariable + "\nThe ledger's folder, where \\-\\-ledger is not given.\n")
	return b.String()
}

func manCommand(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	usage := cmd.UseLine()
	if cmd.HasParent() && !strings.HasPrefix(usage, "everypage") {
		usage = cmd.Parent().CommandPath() + " " + usage
	}
	fmt.Fprintf(b, ".SS %s\n%s.\n.PP\n.B %s\n.PP\n", roff(cmd.CommandPath()), roff(cmd.Short), roff(usage))
	manText(b, cmd.Long)
	cmd.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		value, text := pflag.UnquoteUsage(flag)
		name := "\\-\\-" + roff(flag.Name)
		if value != "" {
			name += " \\fI" + roff(value) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\n%s\n", name, roff(text))
	})
	manExamples(b, cmd)
	for _, child := range cmd.Commands() {
		manCommand(b, child)
	}
}

// manText writes a help text: what is indented, and what stands in columns, as it is.
func manText(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains("\n"+paragraph, "\n  ") {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(paragraph))
			continue
		}
		fmt.Fprintf(b, ".PP\n%s\n", roff(paragraph))
	}
}

func manExamples(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Example != "" {
		fmt.Fprintf(b, ".PP\nExamples:\n.PP\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
}

// roff escapes a text: a backslash, a hyphen that is to stay one, and what at the
// beginning of a line would be a request.
func roff(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-", "…", "...").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = "\\&" + line
		}
	}
	return strings.Join(lines, "\n")
}
