// Adds a copy button to every code block and secret.
// @ts-check

/**
 * @param {Element} block
 * @param {string} text
 * @param {string} label
 */
function addButton(block, text, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn copy";
  button.textContent = text;
  if (label) button.setAttribute("aria-label", label);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = text; }, 1500);
  });
  block.append(button);
}

// Browsers offer the clipboard only to pages that were loaded over TLS or from localhost.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll(".code")) {
    const named = block.querySelector("pre")?.getAttribute("aria-label") ?? "code";
    addButton(block, "Copy", `Copy: ${named}`);
  }
  for (const block of document.querySelectorAll("[data-copy-text]")) {
    addButton(block, block.getAttribute("data-copy-text") ?? "Copy", "");
  }
}
