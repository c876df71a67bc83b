// A bookmarklet works in the bookmarks bar, not on our page: says so when it is clicked here.
// @ts-check
"use strict";

for (const link of document.querySelectorAll("[data-bookmarklet]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const answer = document.getElementById("bookmarklet-answer");
    if (answer) answer.hidden = false;
  });
}
