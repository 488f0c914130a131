/**
 * Folded sections: a link into one opens it.
 *
 *   openTargets()      for every link of the page, and for the address that it was opened with
 */

export function openTargets() {
  addEventListener("hashchange", openTarget);
  for (const anchor of document.querySelectorAll('a[href^="#"]')) {
    anchor.addEventListener("click", () => setTimeout(openTarget));
  }
  openTarget();
}

function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  target.closest("details")?.setAttribute("open", "");
  target.scrollIntoView();
}
