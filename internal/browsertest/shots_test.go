package browsertest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// No page is wider than its window, wide or narrow, light or dark; with
// EVERYPAGE_SCREENSHOTS there is a picture of each to look at.
func TestEveryPageFits(t *testing.T) {
	b, w := newBrowser(t), newWorld(t)
	runs := w.history()
	pages := map[string]string{"runs": "", "codes": "codes", "filtered": "?status=needs_review", "missing": "runs/nowhere", "page": "runs/" + runs["held"] + "/pages/1"}
	for name, id := range runs {
		pages["run-"+name] = "runs/" + id
	}
	for _, part := range []string{"pages", "held", "conflicts", "events"} {
		pages["part-"+part] = "runs/" + runs["held"] + "/" + part
	}
	pages["part-pages"], pages["part-conflicts"] = "runs/"+runs["long"]+"/pages?from=200", "runs/"+runs["conflict"]+"/conflicts"
	folder := os.Getenv("EVERYPAGE_SCREENSHOTS")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			b.do(chromedp.EmulateViewport(width, 900), media("prefers-color-scheme", scheme))
			for name, path := range pages {
				b.visit(w.root + path)
				// How long ago something was is as long as it can be, however fast this machine.
				eval[bool](b, `document.querySelectorAll(".runs time").forEach((e) => { e.textContent = "119 minutes ago"; }), true`)
				if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					t.Errorf("%s at %d: %d pixels are out of sight", name, width, over)
				}
				if low := eval[[]string](b, contrastCheck); len(low) > 0 {
					t.Errorf("%s, %s: too little contrast: %q", name, scheme, low)
				}
				if folder == "" {
					continue
				}
				picture := get(b, "take a picture", chromedp.FullScreenshot(100))
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// media makes the browser say that a media feature is so.
func media(name, value string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: name, Value: value}},
		})
		return err
	})
}

// contrastCheck returns texts whose contrast to what is behind them is below 4.5 to 1
// (WCAG 2.2, 1.4.3 Contrast (Minimum)).
const contrastCheck = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data; };
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => { const v = c[i] / 255; return sum + share * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] === 255) { return c; } } return rgba("#fff"); };
  const low = new Set();
  for (const e of document.querySelectorAll("main *, header *, footer *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) { continue; }
    const a = light(rgba(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) { low.add(e.className + " " + e.textContent.trim().slice(0, 40) + " " + ratio.toFixed(2)); }
  }
  return [...low];
})()`

// withoutScripts makes the browser run no script of a page.
func withoutScripts() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}
