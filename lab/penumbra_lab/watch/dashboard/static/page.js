"use strict";
// Asks for the page again and changes only what is different, so that focus, opened texts, selection
// and the place in a table stay. Whatever comes from the server came as text of HTML already.

const main = document.getElementById("main");
const live = document.getElementById("live");
const away = document.getElementById("away");
const isLive = () => !live || live.checked;
if (live) document.getElementById("live-label").hidden = false;

for (const choice of document.getElementsByName("theme")) {
  choice.checked = choice.id === (localStorage.getItem("penumbra-theme") || "theme-system");
  choice.addEventListener("change", () => localStorage.setItem("penumbra-theme", choice.id));
}

function isAlike(old, fresh) {
  return old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName;
}

function morph(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE || old === away) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  morphChildren(old, fresh);
}

// Rows have keys: one that moved keeps its node.
function morphChildren(old, fresh) {
  const byKey = new Map();
  for (const child of old.children) {
    const key = child.dataset.key;
    if (key !== undefined) byKey.set(key, [...(byKey.get(key) ?? []), child]);
  }
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const key = wanted.dataset?.key;
    const known = key === undefined ? place : byKey.get(key)?.shift();
    if (known && isAlike(known, wanted) && (key !== undefined || known.dataset?.key === undefined)) {
      if (known === place) place = place.nextSibling;
      else old.insertBefore(known, place);
      morph(known, wanted);
    } else {
      old.insertBefore(wanted, place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

async function refresh() {
  const answer = await fetch(location.href, { signal: AbortSignal.timeout(10000) });
  if (answer.status === 401) return location.reload();
  if (!answer.ok) throw new Error(answer.statusText);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
  if (fresh?.dataset.page !== main.dataset.page) return location.reload();
  morph(main, fresh);
}

async function goOn() {
  const isSelecting = getSelection().type === "Range";
  if (isLive() && !document.hidden && !isSelecting) {
    try {
      await refresh();
      if (away) away.hidden = true;
    } catch {
      if (away) away.hidden = false;
    }
  }
  setTimeout(goOn, 1000 * main.dataset.seconds);
}

setTimeout(goOn, 1000 * main.dataset.seconds);
