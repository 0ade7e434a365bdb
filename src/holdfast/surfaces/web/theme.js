// Runs before the page is drawn, so that it does not flash in the other theme.
"use strict";
(() => {
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = localStorage.getItem("holdfast.theme");
    const own = prefers.matches ? "dark" : "light";
    document.documentElement.dataset.theme = chosen === "light" || chosen === "dark" ? chosen : own;
  };
  prefers.addEventListener("change", apply);
  apply();
})();
