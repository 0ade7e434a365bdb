// Runs before the first paint, so that a chosen theme does not flash in the other one.
"use strict";
(() => {
  const chosen = localStorage.getItem("ringbolt.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
