// Lets people dismiss a message, and removes it after ten seconds unless it is being read.
// @ts-check

const SHOWN_MILLISECONDS = 10_000;

for (const toast of document.querySelectorAll(".toast")) {
  const button = toast.querySelector("[data-close]");
  button?.removeAttribute("hidden");
  button?.addEventListener("click", () => toast.remove());
  const removeUnlessRead = () => {
    if (toast.matches(":hover, :focus-within")) setTimeout(removeUnlessRead, SHOWN_MILLISECONDS);
    else toast.remove();
  };
  setTimeout(removeUnlessRead, SHOWN_MILLISECONDS);
}
