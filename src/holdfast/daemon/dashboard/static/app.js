// What pages do beyond showing: search as one types, change things, follow what is new. No page needs it to be read.

const UNDO_MS = 7000;
const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";
const page = (selector, within = document) => within.querySelector(selector);
const pages = (selector, within = document) => [...within.querySelectorAll(selector)];

function make(name, text, ...children) {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
}

// --- telling the person

function tell(text) {
  const toast = make("div", "", make("span", text));
  toast.className = "toast";
  page("#toasts").append(toast);
  setTimeout(() => toast.remove(), UNDO_MS);
}

async function ask(method, path, body, keepalive = false) {
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const answer = await fetch(path, { method, headers, body: sent, keepalive, redirect: "error" });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error([told.error, told.hint].filter(Boolean).join(". ") || `HTTP ${answer.status}`);
  return told;
}

// --- writing parts of a page anew

async function fetched(url) {
  const answer = await fetch(url, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function busy(region) {
  const typing = region.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
  return typing || Boolean(page("details[open] form", region));
}

async function renew(url = location.href, regions = pages("[data-live]")) {
  const fresh = await fetched(url);
  for (const region of regions) {
    const other = region.id && fresh.getElementById(region.id);
    if (!other || busy(region) || other.innerHTML === region.innerHTML) continue;
    const open = pages("details[open]", region).map((each) => pages("details", region).indexOf(each));
    const focused = region.contains(document.activeElement) && placeOf(document.activeElement);
    region.replaceChildren(...other.childNodes);
    for (const at of open) { const again = pages("details", region)[at]; if (again) again.open = true; }
    if (focused) elementAt(focused)?.focus({ preventScroll: true });
  }
  showGoing();
}

// Where an element is, in words that hold for its successor too: the named part that it is in, and its number there.
function placeOf(element) {
  const named = element.closest("[id]");
  return { id: named.id, number: pages(FOCUSABLE, named).indexOf(element) };
}

function elementAt({ id, number }) {
  const named = document.getElementById(id);
  return named && (pages(FOCUSABLE, named)[number] ?? named);
}

// --- what is new

function follow() {
  const pulse = page("#pulse");
  const said = (text, kind) => { if (pulse) { pulse.textContent = text; pulse.className = `pulse ${kind}`; } };
  const stream = new EventSource(`/api/live?seen=${document.documentElement.dataset.seen}`);
  let waiting;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(() => renew().catch(() => {}), 300); };
  stream.addEventListener("open", () => said("live", "on"));
  stream.addEventListener("error", () => said("the daemon is away; the page shows what was", "off"));
  for (const kind of ["session", "checkpoint", "brief", "memory", "missed"]) stream.addEventListener(kind, soon);
  addEventListener("pagehide", () => stream.close());
}

// --- searching as one types

let searching;
document.addEventListener("input", (event) => {
  const field = event.target.closest("[data-search]");
  if (field) {
    clearTimeout(searching);
    searching = setTimeout(() => search(field), 180);
  }
  const written = event.target.closest("[data-preview]");
  if (written) preview(written);
});

let searches = 0;
async function search(field) {
  const mine = ++searches;
  const url = new URL(location.href);
  url.searchParams.delete("cursor");
  if (field.value.trim()) url.searchParams.set("q", field.value.trim());
  else url.searchParams.delete("q");
  try {
    const fresh = await fetched(url);
    if (mine !== searches) return;  // An answer to fewer letters came late.
    const region = page(`#${field.dataset.search}`);
    region.replaceChildren(...fresh.getElementById(region.id).childNodes);
    if (field.dataset.live !== undefined) region.toggleAttribute("data-live", !field.value.trim());
    for (const hidden of pages('#filters [name="q"]')) hidden.value = field.value.trim();
    history.replaceState(null, "", url);
  } catch (error) { tell(`Not searched: ${error.message}`); }
}

// --- what a point of the timeline says, while it is pointed at or focused

function tip(event) {
  const shown = page("#tip");
  if (!shown) return;
  const point = event.target.closest?.(".moment");
  shown.hidden = !point || event.type === "focusout" || event.type === "pointerout";
  if (shown.hidden) return;
  shown.textContent = point.getAttribute("aria-label");
  const place = point.getBoundingClientRect();
  const left = Math.min(place.left, innerWidth - shown.offsetWidth - 16);
  const below = place.bottom + 8 + shown.offsetHeight < innerHeight;
  shown.style.left = `${Math.max(8, left)}px`;
  shown.style.top = `${below ? Math.min(place.bottom, place.top + 24) + 8 : place.top - shown.offsetHeight - 8}px`;
}
for (const kind of ["pointerover", "pointerout", "focusin", "focusout"]) document.addEventListener(kind, tip);

// --- a preview of Markdown, of headings, lists and paragraphs: made of text alone, so that nothing in it is markup

function preview(field) {
  const shown = page(`#${field.dataset.preview}`);
  shown.replaceChildren(...field.value.replace(/^---\n[\s\S]*?\n---\n/, "").split("\n").filter((line) => line.trim()).map((line) => {
    const [, sign, text] = line.match(/^\s*(#{1,6}|[-*+]|\d+[.)])\s+(.*)$/) ?? [null, "", line];
    return make(sign.startsWith("#") ? "h4" : sign ? "li" : "p", text);
  }));
}

// --- changing things

const gone = new Map();

// The button that forgets takes it back, too: so it is where pointer and focus are.
function forget(id) {
  if (gone.has(id)) { clearTimeout(gone.get(id)); gone.delete(id); showGoing(); return; }
  tell("Forgotten, for good in a moment.");
  gone.set(id, setTimeout(async () => {
    try { await ask("DELETE", `/api/memories/${encodeURIComponent(id)}`); gone.delete(id); drop(id); await renew(); }
    catch (error) { gone.delete(id); showGoing(); tell(`Not forgotten: ${error.message}`); }
  }, UNDO_MS));
  showGoing();
}

function showGoing() {
  for (const button of pages("[data-forget]")) {
    const going = gone.has(button.dataset.forget);
    button.textContent = going ? "Undo" : "Forget";
    button.closest("li").classList.toggle("going", going);
  }
}

function drop(id) {
  for (const card of pages(`[data-forget="${CSS.escape(id)}"]`).map((button) => button.closest("li"))) {
    const next = card.contains(document.activeElement) && (page("button", card.nextElementSibling ?? document) ?? page("#main"));
    card.remove();
    if (next) next.focus();
  }
}

// Whoever leaves has decided.
addEventListener("pagehide", () => {
  for (const [id, timer] of gone) { clearTimeout(timer); ask("DELETE", `/api/memories/${encodeURIComponent(id)}`, undefined, true); }
});

async function attempt(what, act) {
  try { await act(); } catch (error) { tell(`${what}: ${error.message}`); }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { pin, forget: dropped, post, copy, nothing } = button.dataset;
  if (copy) attempt("Not copied", async () => { await navigator.clipboard.writeText(copy); tell("Copied."); });
  if (pin) attempt("Not changed", async () => {
    const pinned = button.getAttribute("aria-pressed") !== "true";
    await ask("PATCH", `/api/memories/${encodeURIComponent(pin)}`, { pinned });
    await renew(location.href, [page("#results")]);
  });
  if (dropped) forget(dropped);
  if (post) attempt("Not done", async () => {
    const before = button.closest("li");
    await ask("POST", post);
    await renew(location.href, [page("#candidates")]);
    if (nothing && !page(".candidate")) tell(nothing);
    if (before) (document.getElementById(before.id) ?? page(".candidate"))?.focus();
  });
  if (button.id === "theme") theme();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  const { edit, put, remember } = form.dataset;
  if (edit === undefined && put === undefined && remember === undefined) return;
  event.preventDefault();
  const text = form.elements.text.value;
  if (edit) attempt("Not changed", async () => {
    const tags = form.elements.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    await ask("PATCH", `/api/memories/${encodeURIComponent(edit)}`, { text, tags });
    form.closest("details").open = false;
    await renew(location.href, [page("#results")]);
    tell("Changed.");
  });
  if (remember !== undefined) attempt("Not remembered", async () => {
    await ask("POST", "/api/memories", { text });
    form.reset();
    await renew(location.href, [page("#results")]);
    tell("Remembered.");
  });
  if (put) attempt("Not saved", async () => {
    const kept = await ask("PUT", put, { text, print: form.dataset.print });
    form.dataset.print = kept.print;
    page("output", form).textContent = "Saved.";
  });
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});

document.addEventListener("toggle", (event) => {
  const details = event.target;
  if (!details.open) return;
  const form = page("template", details);
  form?.replaceWith(form.content);
  const field = page("[data-preview]", details.parentElement);
  if (field && page(`#${field.dataset.preview}`, details)) preview(field);
  const place = page("[data-load]", details);
  if (place) attempt("Not shown", async () => {
    const fresh = await fetched(place.dataset.load);
    place.removeAttribute("data-load");
    place.replaceChildren(...page("[data-fragment]", fresh).childNodes);
  });
}, true);

// --- by keyboard

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  if (event.key === "/") { event.preventDefault(); page("#search").select(); page("#search").focus(); return; }
  const cards = pages(".candidate");
  if (!cards.length) return;
  const at = cards.indexOf(document.activeElement.closest(".candidate"));
  if (event.key === "j") cards[Math.min(at + 1, cards.length - 1)].focus();
  else if (event.key === "k") cards[Math.max(at - 1, 0)].focus();
  else if (at >= 0) page(`[data-key="${CSS.escape(event.key)}"]`, cards[at])?.click();
});

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
}

// The server writes times in the zone of whoever reads them.
const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone);
if (!document.cookie.includes(`zone=${zone}`)) document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=strict`;

follow();
