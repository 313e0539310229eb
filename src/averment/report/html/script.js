"use strict";
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const one = (selector, within = document) => within.querySelector(selector);
  const cards = all(".card");
  const form = one(".filters");
  const tools = one(".tools");
  const help = one("#help");
  const root = document.documentElement;

  /* What a card rests on: its place on the timeline, and an excerpt of the conversation. */
  const NEAR = 2;
  const MOST = 12;
  const SVG = "http://www.w3.org/2000/svg";
  const LANES = { agent: [14, 14], other: [31, 14], call: [51, 12], span: [68, 10] };
  const built = new Set();
  const show = (card) => {
    if (built.has(card)) return;
    built.add(card);
    const box = one(".grounds[data-of]", card);
    if (!box) return;
    const ids = [
      ...all("a[href^='#']", box).map((link) => link.getAttribute("href").slice(1)),
      ...all("[data-more]", box).flatMap((more) => more.dataset.more.split(" ")),
    ];
    const marked = Array.from(new Set(ids.map((id) => document.getElementById(id)))).filter(
      (item) => item && item.classList.contains("i")
    );
    if (!marked.length) return;
    timeline(box, marked);
    box.append(excerpt(marked));
  };
  const timeline = (box, marked) => {
    const whole = one(".timeline", document.getElementById(`of-${box.dataset.of}`));
    if (!whole) return;
    const copy = whole.cloneNode(true);
    const drawing = one(".tl", copy);
    const names = marked.slice(0, 6).map((item) => one("a", item).textContent).join(", ");
    drawing.setAttribute("aria-label", `Timeline with ${names} marked`);
    let first = null;
    for (const item of marked) {
      if (!item.dataset.x) continue;
      const [left, width] = item.dataset.x.split(" ").map(Number);
      const lane = Object.keys(LANES).find((name) => item.classList.contains(name));
      const [top, height] = LANES[lane];
      const group = document.createElementNS(SVG, "g");
      group.setAttribute("class", `m m-${lane}`);
      const rect = document.createElementNS(SVG, "rect");
      const place = { x: `${left / 10}%`, width: `${width / 10}%`, y: top, height };
      for (const [name, value] of Object.entries(place)) rect.setAttribute(name, value);
      const pointer = document.createElementNS(SVG, "text");
      pointer.setAttribute("x", `${(left + width / 2) / 10}%`);
      pointer.setAttribute("y", "10");
      pointer.textContent = "▼";
      group.append(rect, pointer);
      drawing.append(group);
      if (first === null || left < first) first = left;
    }
    if (first === null) return;
    box.append(copy);
    const scroll = one(".scroll", copy);
    requestAnimationFrame(() => {
      scroll.scrollLeft = (first / 1000) * drawing.getBoundingClientRect().width - scroll.clientWidth / 3;
    });
  };
  const excerpt = (marked) => {
    const shown = new Set();
    for (const item of marked.slice(0, MOST)) {
      shown.add(item);
      for (const step of ["previousElementSibling", "nextElementSibling"]) {
        let next = item;
        let left = NEAR;
        while (left && (next = next[step])) {
          if (next.classList.contains("span") || !next.classList.contains("i")) continue;
          shown.add(next);
          left -= 1;
        }
      }
    }
    const list = document.createElement("ol");
    list.className = "talk excerpt";
    const inOrder = Array.from(shown).sort((a, b) =>
      a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1
    );
    let last = null;
    for (const item of inOrder) {
      if (last && between(last, item)) list.append(gap("⋯"));
      const copy = item.cloneNode(true);
      copy.removeAttribute("id");
      if (marked.includes(item)) copy.classList.add("marked");
      list.append(copy);
      last = item;
    }
    if (marked.length > MOST) list.append(gap(`and ${marked.length - MOST} more`));
    return list;
  };
  const between = (first, second) => {
    let next = first;
    while ((next = next.nextElementSibling) && next !== second) if (!next.classList.contains("span")) return true;
    return false;
  };
  const gap = (text) => {
    const item = document.createElement("li");
    item.className = "gap";
    item.textContent = text;
    return item;
  };
  for (const card of cards) {
    card.addEventListener("toggle", () => card.open && show(card));
    if (card.open) show(card);
  }

  /* Filters, kept in the page's address. */
  const texts = new Map();
  const text = (card) => {
    if (!texts.has(card)) {
      const parts = [one("summary", card), ...all(".body > :not(.grounds), .grounds > p", card)];
      texts.set(card, parts.map((part) => part.textContent).join("\n").toLowerCase());
    }
    return texts.get(card);
  };
  const pickers = Object.fromEntries(
    Object.entries({ kind: "k", dimension: "d", tag: "t" }).filter(([name]) => form && form.elements[name])
  );
  const wishes = () => ({
    q: form.elements.q.value.trim().toLowerCase(),
    verdicts: all("input[name='verdict']:checked", form).map((box) => box.value),
    picks: Object.entries(pickers)
      .map(([name, key]) => [key, form.elements[name].value])
      .filter(([, value]) => value !== ""),
  });
  const fits = (card, { q, verdicts, picks }) =>
    (!verdicts.length || verdicts.includes(card.dataset.v)) &&
    picks.every(([key, value]) => (card.dataset[key] || "").split(" ").includes(value)) &&
    (!q || text(card).includes(q));
  const count = () => {
    const total = cards.length;
    const shown = cards.filter((card) => !card.hidden).length;
    one("output", form).textContent =
      shown === total
        ? `${total} result${total === 1 ? "" : "s"}`
        : `${shown} of ${total} results shown, ${total - shown} hidden`;
  };
  const filter = () => {
    const wish = wishes();
    for (const card of cards) card.hidden = !fits(card, wish);
    const narrowed = wish.q || wish.verdicts.length || wish.picks.length;
    for (const group of all(".group")) group.hidden = !one(".card:not([hidden])", group);
    for (const entry of all(".entry")) entry.hidden = Boolean(narrowed) && !one(".card:not([hidden])", entry);
    if (narrowed) for (const fold of all(".fold")) fold.open = true;
    count();
  };
  const remember = () => {
    const query = new URLSearchParams();
    if (form.elements.q.value.trim()) query.set("q", form.elements.q.value.trim());
    for (const box of all("input[name='verdict']:checked", form)) query.append("verdict", box.value);
    for (const name of Object.keys(pickers)) {
      const picked = form.elements[name].selectedOptions[0];
      if (picked && picked.value !== "") query.set(name, picked.dataset.name);
    }
    const search = query.toString();
    try {
      history.replaceState(null, "", (search ? `?${search}` : location.pathname) + location.hash);
    } catch {
      /* Some places have no address to change; the filters work all the same. */
    }
  };
  const recall = () => {
    const query = new URLSearchParams(location.search);
    form.elements.q.value = query.get("q") || "";
    const verdicts = query.getAll("verdict");
    for (const box of all("input[name='verdict']", form)) box.checked = verdicts.includes(box.value);
    for (const name of Object.keys(pickers)) {
      const wanted = query.get(name);
      const found = wanted === null ? null : Array.from(form.elements[name].options).find((option) => option.dataset.name === wanted);
      form.elements[name].value = found ? found.value : "";
    }
  };
  const changed = () => {
    filter();
    remember();
  };

  /* Links to results and turns lead into what is folded or filtered. */
  const reveal = (focus) => {
    let id;
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let up = target; up; up = up.parentElement) {
      if (up.hidden) up.hidden = false;
      if (up.tagName === "DETAILS") up.open = true;
    }
    if (form) count();
    if (target.classList.contains("card")) show(target);
    const scroll = () => target.scrollIntoView({ block: target.classList.contains("i") ? "center" : "start" });
    scroll();
    requestAnimationFrame(scroll); // what came into sight has its real height only now
    const aim = target.tagName === "DETAILS" ? one("summary", target) : target;
    if (aim !== one("summary", target) && !aim.hasAttribute("tabindex")) aim.tabIndex = -1;
    if (focus) aim.focus({ preventScroll: true });
  };
  addEventListener("hashchange", () => reveal(true));

  if (form) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", changed);
    form.addEventListener("reset", () => setTimeout(changed));
    if (location.search) {
      recall();
      filter();
    }
  }
  reveal(true);
  /* A browser that has gone to the fragment by itself takes the focus away from what it holds. */
  addEventListener("load", () => setTimeout(() => reveal(true)));

  /* Keys. */
  const move = (step) => {
    const seen = cards.filter((card) => !card.hidden);
    const here = seen.indexOf(document.activeElement && document.activeElement.closest(".card"));
    const next = seen[here < 0 ? (step > 0 ? 0 : seen.length - 1) : here + step];
    if (!next) return;
    for (let up = next.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    const summary = one("summary", next);
    summary.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (help && help.open)) return;
    const typing = event.target.closest("input[type='search'], select, textarea");
    if (event.key === "Escape" && form) {
      form.reset();
      if (typing) event.target.blur();
    } else if (typing) return;
    else if (event.key === "/" && form) {
      event.preventDefault();
      form.elements.q.focus();
      form.elements.q.select();
    } else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "?" && help) help.showModal();
  });

  /* Light and dark. */
  if (tools) {
    tools.hidden = false;
    const theme = one("#theme");
    const dark = () =>
      root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const name = () => (theme.textContent = dark() ? "Light" : "Dark");
    theme.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      name();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
    name();
    one("#keys").addEventListener("click", () => help.showModal());
  }
})();
