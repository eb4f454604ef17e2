package adapters

import "github.com/everypage-go/everypage/pager"

var _ pager.LimitForgetter = pages[any]{}

// ForgetLimits drops what the list's client knows of rate limits.
func (p pages[T]) ForgetLimits() { p.list.client.ForgetLimits() }
