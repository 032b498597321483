// Shows what a link leads to: opens the details around it, also where a browser doesn't by itself, and scrolls to it, or
// to the heading of what it folds.
function lead(target) {
  for (var node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  if (target) (target.parentElement.tagName === "DETAILS" ? target.parentElement : target).scrollIntoView();
}
(function () {
  "use strict";
  // Optional comforts; the page is complete without them.
  function value(row, column) {
    var cell = row.cells[column];
    return cell ? cell.getAttribute("data-v") || cell.textContent.trim() : "";
  }
  function plain(text) { return text.replace(/(\d),(?=\d{3})/g, "$1"); } // numbers within names count as numbers
  function order(a, b) {
    var x = parseFloat(a), y = parseFloat(b);
    var unknown = (a === "" || a === "–") - (b === "" || b === "–");
    if (unknown) return { fixed: unknown };
    return { by: isNaN(x) || isNaN(y) ? plain(a).localeCompare(plain(b), "en", { numeric: true }) : x - y };
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var heads = table.tHead.rows[0].cells, body = table.tBodies[0];
    Array.prototype.forEach.call(heads, function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () {
        var most = /speedup|throughput|efficiency|mean|gains/i.test(head.textContent); // the first click: fastest first
        var up = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") !== "ascending" : !most;
        Array.prototype.forEach.call(heads, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        Array.prototype.slice.call(body.rows).sort(function (p, q) {
          var result = order(value(p, column), value(q, column));
          return "fixed" in result ? result.fixed : (up ? result.by : -result.by);
        }).forEach(function (row) { body.appendChild(row); });
      });
    });
  });
  document.querySelectorAll("[data-filter]").forEach(function (box) {
    var input = box.querySelector("input"), count = box.querySelector("output");
    var targets = document.querySelectorAll(box.getAttribute("data-filter"));
    box.hidden = false;
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
      targets.forEach(function (target) {
        var text = (target.getAttribute("data-name") || target.textContent).toLowerCase();
        target.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
        shown += target.hidden ? 0 : 1;
      });
      count.textContent = words.length ? shown + " of " + targets.length : "";
    });
  });
  // The bar of links stays in sight, and has more rows on a narrower screen: nothing may scroll under it.
  var bar = document.querySelector("nav");
  function measureBar() { document.documentElement.style.setProperty("--bar", bar.offsetHeight + 8 + "px"); }
  if (bar) {
    measureBar();
    window.addEventListener("resize", measureBar);
  }
  function openTarget() { lead(document.getElementById(location.hash.slice(1))); }
  window.addEventListener("hashchange", openTarget);
  openTarget();
  document.documentElement.setAttribute("data-ready", "");
}());
