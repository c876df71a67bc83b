// Turns panels with headings into tabs. Without it they stand one below the other.
// @ts-check

/** @param {Element} group */
function makeTabs(group) {
  const list = document.createElement("div");
  list.className = "tabs";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", group.getAttribute("aria-label") ?? "");
  group.removeAttribute("aria-label");
  const panels = [...group.querySelectorAll(".panel")];
  const tabs = panels.map((panel) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${panel.id}`;
    tab.textContent = panel.querySelector("h3")?.textContent ?? "";
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.classList.add("tabbed");
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    return tab;
  });

  /** @param {number} index */
  function select(index) {
    tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(at === index));
      tab.tabIndex = at === index ? 0 : -1;
    });
    panels.forEach((panel, at) => panel.toggleAttribute("hidden", at !== index));
  }

  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => select(index));
    tab.addEventListener("keydown", (event) => {
      const next = neighbour(event.key, index, tabs.length);
      if (next === null) return;
      event.preventDefault();
      select(next);
      tabs[next]?.focus();
    });
  });
  list.append(...tabs);
  group.prepend(list);
  select(0);
}

/**
 * @param {string} key
 * @param {number} index
 * @param {number} count
 * @returns {number | null} the tab that the key moves to
 */
function neighbour(key, index, count) {
  if (key === "ArrowRight") return (index + 1) % count;
  if (key === "ArrowLeft") return (index + count - 1) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}

for (const group of document.querySelectorAll("[data-tabs]")) makeTabs(group);
