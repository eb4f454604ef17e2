// Package browsertest tests the receipts page in a real browser: Debian's chromium, or
// whatever of its kind is there. It has tests only.
//
// With EVERYPAGE_SCREENSHOTS set to a folder, the tests leave a picture there of every
// page, wide and narrow, light and dark.
package browsertest
