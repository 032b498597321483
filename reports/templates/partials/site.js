(function () {
  "use strict";
  // The search of a site's index: hides what doesn't match. Its state is the address's fragment, so that a link has it.
  var box = document.querySelector("[data-search]");
  if (!box) return;
  var fields = Array.prototype.slice.call(box.querySelectorAll("select, input"));
  var items = Array.prototype.map.call(document.querySelectorAll("[data-found]"), function (item) {
    return { item: item, found: JSON.parse(item.getAttribute("data-found")), text: item.textContent.toLowerCase() };
  });
  function matches(entry, asked) {
    return fields.every(function (field) {
      var wanted = asked[field.name];
      if (field.name !== "words") return !wanted || entry.found[field.name].indexOf(wanted) >= 0;
      return wanted.toLowerCase().split(/\s+/).every(function (word) { return entry.text.indexOf(word) >= 0; });
    });
  }
  function show() {
    var asked = {}, all = true;
    fields.forEach(function (field) { asked[field.name] = field.value; all = all && !field.value; });
    items.forEach(function (entry) { entry.item.hidden = !matches(entry, asked); });
    document.querySelectorAll("section").forEach(function (section) {
      var inside = section.querySelectorAll("[data-found]"), count = section.querySelector("output.count");
      var shown = section.querySelectorAll("[data-found]:not([hidden])").length;
      if (count) count.textContent = all ? "" : shown + " of " + inside.length;
    });
  }
  function read() {
    var fragment = location.hash.slice(1);
    if (fragment && fragment.indexOf("=") < 0) return; // a link to a section
    var asked = new URLSearchParams(fragment);
    fields.forEach(function (field) {
      field.value = asked.get(field.name) || "";
      if (field.selectedIndex === -1) field.value = ""; // the site has no such machine, workload or stack
    });
    show();
  }
  function write() {
    var asked = new URLSearchParams();
    fields.forEach(function (field) { if (field.value) asked.set(field.name, field.value); });
    show();
    location.replace("#" + (asked.toString() || "words="));
  }
  fields.forEach(function (field) { field.addEventListener("input", write); });
  box.querySelector("[data-clear]").addEventListener("click", function () {
    fields.forEach(function (field) { field.value = ""; });
    write();
  });
  window.addEventListener("hashchange", read);
  box.hidden = false;
  read();
}());
