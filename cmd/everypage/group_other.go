//go:build !unix

package main

import "os/exec"

// ownGroup leaves a command where it is: without process groups, a stopped run
// ends the command alone.
func ownGroup(*exec.Cmd) {}

// killGroup ends a command.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended
