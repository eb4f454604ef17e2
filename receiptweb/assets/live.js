// Follows a run: when the server says that something has changed, the page is loaded
// again in the background, and the parts of it that are marked data-live are put in
// place. Nothing else happens here, and without it the page works by being reloaded.
(function () {
  "use strict";
  const source = document.body.dataset.liveSource;
  const note = document.getElementById("live");
  if (!source || !note || !window.EventSource) {
    return;
  }
  let stream = null;
  let busy = false;
  let again = false;
  let over = false;

  let news = ""; // the newest status, for who listens to the page
  let last = "";

  function say(state, text) {
    last = text;
    if (note.dataset.liveState !== state || note.textContent !== news + text) {
      note.dataset.liveState = state;
      note.textContent = news + text;
    }
  }

  // Somebody who has chosen items or is writing must not lose that.
  function inUse(part) {
    const active = document.activeElement;
    return part.querySelector("input:checked") !== null ||
      (part.contains(active) && active.matches("input, select, textarea"));
  }

  // The place of the focus, to be found again in what takes the part's place.
  function placeOf(part) {
    const active = document.activeElement;
    if (!part.contains(active) || active === part) {
      return null;
    }
    const alike = active.hasAttribute("href") ? "[href=" + JSON.stringify(active.getAttribute("href")) + "]" : active.tagName;
    return { alike: alike, index: Array.from(part.querySelectorAll(alike)).indexOf(active) };
  }

  function replace(part, fresh) {
    if (part.outerHTML === fresh.outerHTML || inUse(part)) {
      return;
    }
    const place = placeOf(part);
    const open = Array.from(part.querySelectorAll("details[open][id]"), function (details) { return details.id; });
    const told = part.dataset.status !== fresh.dataset.status;
    part.replaceWith(fresh);
    for (const id of open) {
      const details = document.getElementById(id);
      if (details) {
        details.open = true;
      }
    }
    if (place) {
      const alike = fresh.querySelectorAll(place.alike);
      const target = alike[Math.min(place.index, alike.length - 1)];
      if (target) {
        target.focus({ preventScroll: true });
      }
    }
    if (told && fresh.dataset.status) {
      news = "Now " + fresh.dataset.status + ". ";
      say(note.dataset.liveState, last);
    }
  }

  // What only a whole load shows: other forms, other held items.
  function skeleton(page) {
    return Array.from(page.querySelectorAll("main > section"), function (section) { return section.id + section.className; }).join("\n");
  }

  async function load() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      do {
        again = false;
        const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
        if (!answer.ok) {
          throw new Error("status " + answer.status);
        }
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const before = document.querySelector("main > [data-status]");
        const status = before && before.dataset.status;
        for (const part of Array.from(document.querySelectorAll("[data-live]"))) {
          const fresh = page.getElementById(part.id);
          if (fresh) {
            replace(part, document.importNode(fresh, true));
          }
        }
        const now = document.querySelector("main > [data-status]");
        if (now && now.dataset.status !== status) {
          document.title = page.title;
        }
        if (skeleton(page) !== skeleton(document) && !document.querySelector("main form input:checked, main details[open] input:focus")) {
          rest(page);
        }
      } while (again);
    } catch (_) {
      say("off", "The server does not answer. What stands here is older; load the page again.");
    }
    busy = false;
  }

  // Puts the sections that came or went in their places.
  function rest(page) {
    const main = document.querySelector("main");
    const fresh = document.importNode(page.querySelector("main"), true);
    if (!main.contains(document.activeElement) || document.activeElement === main) {
      main.replaceWith(fresh);
    } else {
      say("on", "There is more to see: load the page again.");
    }
  }

  function open() {
    if (stream || over || document.visibilityState === "hidden") {
      return;
    }
    stream = new EventSource(source);
    stream.addEventListener("open", function () { say("on", "Live: changes appear by themselves."); });
    stream.addEventListener("change", load);
    stream.addEventListener("over", function () {
      over = true;
      close();
      say("off", "This run does not change any more.");
    });
    stream.addEventListener("error", function () {
      if (stream && stream.readyState === EventSource.CLOSED) {
        stream = null;
        say("off", "Changes are not followed; load the page again to see them.");
      } else {
        say("off", "The connection is lost and is being tried again.");
      }
    });
  }

  function close() {
    if (stream) {
      stream.close();
      stream = null;
    }
  }

  // The marked address tells of changes since this page was made, so coming back
  // from the background misses nothing.
  document.addEventListener("visibilitychange", function () {
    if (document.visibilityState === "hidden") {
      close();
    } else {
      open();
    }
  });
  window.addEventListener("pagehide", close);
  open();
})();
