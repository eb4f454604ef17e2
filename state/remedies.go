package state

import "slices"

// Remedies returns what helps the run on, the gentlest first: what its reason
// allows, without what would change nothing as it stands. A run that is running or
// complete, and one that was superseded, needs none.
func (r *Receipt) Remedies() []Remedy {
	if r.SupersededBy != "" || r.Reason == nil || r.Status != Paused && r.Status != NeedsReview {
		return nil
	}
	if r.Status == Paused {
		return []Remedy{RunAgain}
	}
	return slices.DeleteFunc(slices.Clone(Explain(r.Reason.Code).Remedies), func(remedy Remedy) bool {
		switch remedy {
		case Reopen:
			return !r.reopenHelps()
		case Accept:
			return r.DuplicateConflicts == 0 && r.HeldCount == 0
		case Supersede, RunAgain:
		}
		return false
	})
}

// reopenHelps reports whether a run that is reopened would not stop again at the
// same place at once: everything that blocks it can be reopened, and where only
// open conflicts do, there are held items to retry beside them.
func (r *Receipt) reopenHelps() bool {
	for _, code := range r.reviewCodes() {
		if !Explain(code).Allows(Reopen) {
			return false
		}
	}
	return r.Reason.Code != CodeConflictsOpen || r.HeldCount > 0
}
