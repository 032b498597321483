(function () {
  "use strict";
  // The controls of the map. Every number was computed by the suite (suite/page/map/controls.py); this script shows the
  // chosen ones, says who leads among the shown stacks as suite/page/map/sentence.py does, and keeps the choice in the
  // address, so that a link or a reload shows the same.
  var store = document.getElementById("choices");
  if (!store) return;
  var all = JSON.parse(store.textContent), map = document.getElementById("map"), bar = document.getElementById("controls");
  var means = list(map.querySelectorAll(".means")), asked = list(map.querySelectorAll(".asked")).map(questionOf);
  var first = { baseline: bar.getAttribute("data-baseline"), metric: "steady", pass: "", precision: "", sure: "", by: "", hide: "" };
  var byFrameworks = document.getElementById("frameworks"), folded = document.querySelector(".as-map");
  var state, marked, drawn = first.metric + "|" + first.baseline; // what the page shows without this script

  function list(nodes) { return Array.prototype.slice.call(nodes); }
  function each(selector, act) { list(document.querySelectorAll(selector)).forEach(act); }
  // A question is a part of the map's table, with what no choice changes.
  function questionOf(row) {
    var link = row.querySelector("a"), id = link.getAttribute("href").slice(1);
    return { id: id, name: link.textContent, row: row, cells: cellsOf(row), track: all.questions[id].track, ranked: all.questions[id].ranked };
  }
  // The cells of a part of the map by stack; one of its own for a stack that wasn't asked.
  function cellsOf(part) {
    var found = {};
    all.stacks.forEach(function (stack) { found[stack] = document.createElement("td"); });
    list(part.querySelectorAll("td")).forEach(function (cell) { found[cell.getAttribute("data-stack")] = cell; });
    return found;
  }
  // What hides a column `torch_eager:naive`: its own name, `torch_eager` or `:naive`.
  function parts(stack) { return [stack, stack.split(":")[0], stack.replace(/^[^:]*/, "")]; }
  function isName(text) { return all.stacks.some(function (stack) { return text && parts(stack).indexOf(text) >= 0; }); }
  function hidden(stack) {
    return parts(stack).some(function (part) { return part && ("," + state.hide + ",").indexOf("," + part + ",") >= 0; });
  }

  // The address: `#c-gemm-1a2b3c4d` where nothing is chosen, else `#baseline=jax_jit&at=c-gemm-1a2b3c4d`.
  function read() {
    var text = location.hash.slice(1), given = new URLSearchParams(text.indexOf("=") < 0 ? "" : text), found = {};
    Object.keys(first).forEach(function (name) { found[name] = given.has(name) ? given.get(name) : first[name]; });
    found.at = given.get("at") || (text.indexOf("=") < 0 ? decodeURIComponent(text) : "");
    if (!all.metrics[found.metric]) found.metric = first.metric;
    if (!all.metrics[found.metric].maps[found.baseline]) found.baseline = first.baseline;
    if (!all.metrics[found.metric].maps[found.baseline].means[found.pass + "|" + found.precision]) found.pass = found.precision = "";
    if (found.by !== "frameworks" || !byFrameworks) found.by = "";
    found.hide = found.hide.split(",").filter(isName).join(",");
    return found;
  }
  function address() {
    var given = new URLSearchParams();
    Object.keys(first).forEach(function (name) { if (state[name] !== first[name]) given.set(name, state[name]); });
    if (!given.toString()) return "#" + state.at;
    if (state.at) given.set("at", state.at);
    return "#" + given.toString();
  }
  function metric() { return all.metrics[state.metric]; }
  function choice() { return metric().maps[state.baseline]; }
  function choose(name, value) {
    state[name] = value;
    history.replaceState(null, "", address());
    show();
  }

  // `entry` is what the map has of a cell; `own` is the stack's own figure of what is shown.
  function fill(cell, entry, question, own) {
    if (!entry) return;
    var box = cell.querySelector("a") || cell, sign = all.signs[kind(entry)];
    var modes = / modes\b/.test(entry.css) ? "its processes run in two modes" : "";
    box.textContent = "";
    [["span", "own", own],
     ["span", "w", (sign ? sign + " " : "") + entry.words],
     ["span", "why", kind(entry) === "undecided" ? entry.note : ""], ["small", "", entry.small],
     ["span", "v", sign && kind(entry) !== entry.words ? kind(entry) : ""]].forEach(function (part) {
      if (!part[2]) return;
      var node = document.createElement(part[0]);
      node.className = part[1];
      node.textContent = part[2];
      box.appendChild(node);
    });
    cell.className = "sq " + entry.css;
    cell.title = joined([cell.getAttribute("data-stack") + " on " + question, kind(entry) === "none" ? "" : kind(entry), entry.words, entry.small, entry.note, modes]);
  }
  function unique(values) { return values.filter(function (value, place) { return values.indexOf(value) === place; }); }
  function joined(texts) { return unique(texts).filter(Boolean).join(", "); }
  function drawMap(isOther) {
    var chosen = choice(), count = 0, leads = [];
    drawMeans(chosen.means[state.pass + "|" + state.precision]);
    map.caption.textContent = chosen.caption;
    list(document.querySelectorAll(".legend.key .scale span")).forEach(function (end, place) {
      end.textContent = metric().ends[place];
    });
    asked.forEach(function (question) {
      var row = question.row, entries = chosen.cells[question.id], over = chosen.over[question.id] || "", sure = false;
      var of = leadOf(question);
      all.stacks.forEach(function (stack) {
        var cell = question.cells[stack], isLeader = of.leaders.indexOf(stack) >= 0;
        if (isOther) fill(cell, entries[stack], question.name, metric().own[question.id][stack]);
        var isSure = cell.classList.contains("faster") || cell.classList.contains("slower");
        cell.classList.toggle("dim", state.sure === "1" && !isSure && !cell.classList.contains("baseline"));
        cell.classList.toggle("leads", isLeader);
        sure = sure || (isSure && !hidden(stack));
        if (isLeader && kind(entries[stack]) === "faster" && !over) of.ratios.push([stack, entries[stack].words]);
      });
      if (isOther) row.querySelector(".over").textContent = over;
      row.hidden = !isAsked(row) || (state.sure === "1" && !sure);
      count += row.hidden ? 0 : 1;
      if (isAsked(row) && of.ranked.length > 1) leads.push(of);
    });
    bar.querySelector("output").textContent = count + " of " + asked.length + " questions";
    document.getElementById("verdict").textContent = sentence(leads);
  }
  // Each framework's best stack alone, over the best one of the baseline's framework (suite/page/map/frameworks.py).
  function bestOf(question) {
    var best = all.best[state.baseline][question.id];
    return best.map(function (it) {
      return { framework: it[0], stack: it[1], baseline: best[0][1], entry: metric().maps[best[0][1]].cells[question.id][it[1]] };
    });
  }
  function drawFrameworks() {
    byFrameworks.caption.textContent = choice().caption.split(",")[0] + "." + byFrameworks.caption.textContent.split(/\.(.*)/)[1];
    asked.forEach(function (question) {
      var row = byFrameworks.querySelector(".asked a[href='#" + question.id + "']").closest(".asked"), best = bestOf(question);
      row.hidden = question.row.hidden;
      list(row.querySelectorAll("td")).forEach(function (cell) {
        var it = best.filter(function (one) { return one.framework === cell.getAttribute("data-stack"); })[0];
        var link = document.createElement("a"), name = document.createElement("small");
        cell.className = "sq unplanned";
        cell.replaceChildren();
        if (!it) return;
        link.href = question.cells[it.stack].querySelector("a").getAttribute("href");
        cell.appendChild(link);
        fill(cell, it.entry, question.name, metric().own[question.id][it.stack]);
        name.className = "of";
        name.textContent = it.stack;
        link.appendChild(name);
      });
    });
  }
  function kind(entry) { return entry ? entry.css.split(" ")[0] : ""; }
  function isShown(stack) { return !hidden(stack); }
  // The rows of means: as many as the choice has, at least a hidden one.
  function drawMeans(top) {
    if (!means.length) return;
    while (means.length < top.length) {
      var more = means[means.length - 1].cloneNode(true);
      means[means.length - 1].insertAdjacentElement("afterend", more);
      means.push(more);
      if (marked) list(more.querySelectorAll("[data-stack]")).forEach(function (cell) {
        marked.push({ node: cell, stacks: [cell.getAttribute("data-stack")], asked: [] });
      });
    }
    means.forEach(function (part, place) {
      part.hidden = place >= top.length;
      if (part.hidden) return;
      var mean = top[place], cells = cellsOf(part);
      part.querySelector("th small").textContent = mean.over;
      all.stacks.forEach(function (stack) { fill(cells[stack], mean.cells[stack], mean.over); });
    });
  }
  // Who leads a question: those of the shown stacks that none of them is shown to be faster than.
  function leadOf(question) {
    var ranked = question.ranked.filter(isShown), behind = metric().behind ? metric().behind[question.id] : [];
    var leaders = metric().behind ? ahead(all.stacks.filter(function (stack) { return ranked.indexOf(stack) >= 0; }), behind) : [];
    return { question: question.name, track: question.track, ranked: ranked, behind: behind, leaders: leaders, open: leaders.length === ranked.length, ratios: [] };
  }
  function ahead(stacks, behind) {
    return stacks.filter(function (stack) {
      return !behind.some(function (pair) { return pair[0] === stack && stacks.indexOf(pair[1]) >= 0; });
    });
  }

  // The first sentence, as suite/page/map/sentence.py says it of all stacks.
  function sentence(leads) {
    var by = { first: "By the first run: ", host: "By a step to host memory: " }[state.metric] || "";
    if (!leads.length) return "No question has two shown stacks with times that count.";
    if (!all.decided) {
      var own = choice().name !== state.baseline; // each question has functions of its own
      var lowest = leads.map(function (of) { return own ? of.ranked[0].split(":")[0] : of.ranked[0]; });
      var times = function (stack) { return lowest.filter(function (other) { return other === stack; }).length; };
      var most = lowest.slice().sort(function (a, b) { return times(b) - times(a); })[0]; // of equals the first
      return "One block decides nothing: " + most + " has the lowest median on " + share(times(most), leads.length) + ".";
    }
    if (!metric().behind) return "There is no verdict on " + map.caption.textContent.split(",")[0].toLowerCase() + ": compare the cells.";
    var tracks = unique(leads.map(function (of) { return of.track; }));
    var said = leads.length <= 3 ? leads.map(clause).join("; ") : tracks.length === 1 ? counted(leads) : tracks.map(function (track) {
      return track + " track: " + counted(leads.filter(function (of) { return of.track === track; }));
    }).join("; ");
    return by || !/^((no|one|two|three|four|five|six|seven|eight|nine|ten) |neither of|none of)/.test(said) ? by + said + "." : said.charAt(0).toUpperCase() + said.slice(1) + ".";
  }
  var NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  function who(stacks) { // a few stacks by name, more by their number
    var among = stacks.indexOf(state.baseline) >= 0 ? ", " + state.baseline + " among them," : "";
    return stacks.length <= 3 ? listed(stacks) : (NUMBERS[stacks.length] || stacks.length) + " stacks" + among;
  }
  function clause(of) {
    var number = of.leaders.length;
    if (of.open) {
      return (number === 2 ? "neither of " + listed(of.leaders) : "none of " + NUMBERS[Math.min(number, 10)] + " stacks") +
        " is shown to be faster on " + of.question;
    }
    return who(of.leaders) + (number === 1 ? " leads " : " share the lead on ") + of.question +
      (of.ratios.length === number ? beside(of.ratios) : "") + ownWords(of);
  }
  // On how many questions the stacks lead that lead most; those that lead the same ones share their clause.
  function counted(leads) {
    var groups = {}, order = [];
    all.stacks.forEach(function (stack) {
      var led = leads.filter(function (of) { return of.leaders.indexOf(stack) >= 0; });
      if (!led.length) return;
      var key = led.map(function (of) { return leads.indexOf(of); }).join(",");
      if (!groups[key]) order.push(groups[key] = { led: led, stacks: [], alone: led.filter(function (of) { return of.leaders.length === 1; }).length });
      groups[key].stacks.push(stack);
    });
    order.sort(function (a, b) { return b.led.length - a.led.length || b.alone - a.alone; });
    return order.slice(0, 3).map(function (group, place) {
      var led = group.led.length, ratios = [];
      group.led.forEach(function (of) {
        ratios = ratios.concat(of.ratios.filter(function (ratio) { return group.stacks.indexOf(ratio[0]) >= 0; }));
      });
      return who(group.stacks) + (group.stacks.length > 1 ? " share the lead on " : group.alone ? " leads " : " shares the lead on ") +
        (place ? led : share(led, leads.length)) + (group.alone === led ? " alone" : group.alone ? ", " + group.alone + " alone" : "") +
        (place ? "" : beside(ratios));
    }).join("; ");
  }
  // What is particular to a lead that only one framework's formulation has (suite/page/sections/timed/formulations.py).
  function formulation(stack) { return stack.split(":")[1] || ""; }
  function framework(stack) { return all.frameworks[stack]; }
  function ownWords(of) {
    var mine = of.leaders.map(formulation);
    var having = unique(of.ranked.filter(function (stack) { return mine.indexOf(formulation(stack)) >= 0; }).map(framework));
    if (having.length !== 1 || mine.indexOf("") >= 0 || unique(of.ranked.map(framework)).length < 2) return "";
    var told = unique(of.ranked.map(formulation)).filter(Boolean).map(function (name) {
      var group = of.ranked.filter(function (stack) { return formulation(stack) === name; });
      if (unique(group.map(framework)).length < 2) return "";
      var first = ahead(group, of.behind);
      return "with " + name + (first.length === group.length ? " nobody leads" : " " + listed(first) + (first.length === 1 ? " leads" : " share the lead"));
    }).filter(Boolean).join("; ");
    return ", a formulation that only " + having[0] + " was given (" + (told || "no two frameworks share one") + ")";
  }
  function listed(names) { return names.length < 2 ? names.join("") : names.slice(0, -1).join(", ") + " and " + names[names.length - 1]; }
  function share(some, of) {
    if (some < of) return some + " of " + of + " questions";
    return { 1: "the question", 2: "both questions" }[of] || "all " + of + " questions";
  }
  function number(words) { return parseFloat(words.replace(/,/g, "")); }
  function beside(ratios) {
    if (!ratios.length) return "";
    var sorted = ratios.map(function (ratio) { return ratio[1]; }).sort(function (a, b) { return number(a) - number(b); });
    var least = sorted[0], greatest = sorted[sorted.length - 1];
    return " (" + (least === greatest ? least : least.replace("×", "") + " to " + greatest) + " " + choice().name + ")";
  }
  function isAsked(row) {
    return ["pass", "precision"].every(function (name) {
      return !state[name] || row.getAttribute("data-" + name) === state[name];
    });
  }

  // Whose a line, column or figure is: a cell, label or caption whose text is a stack's or a question's name says so.
  function mark() {
    var questions = {}, stacks = {};
    all.stacks.forEach(function (stack) { parts(stack).forEach(function (part) { stacks[part] = Boolean(part); }); });
    asked.forEach(function (question) { questions[question.name] = questions["#" + question.id] = question.row; });
    marked = [];
    function add(node, texts, lines) {
      var shown = texts.filter(function (text) { return stacks[text] === true; });
      var of = texts.map(function (text) { return questions[text]; }).filter(Boolean);
      if (shown.length || of.length) marked.push({ node: node, stacks: shown, asked: of, lines: lines });
    }
    function name(node) { // its whole text, or what stands before a tag like `baseline`
      var whole = node.textContent.trim().replace(/^✕ /, "");
      return stacks[whole] || questions[whole] ? whole : (node.firstChild ? node.firstChild.textContent : "").trim();
    }
    list(map.querySelectorAll("[data-stack]")).forEach(function (cell) { add(cell, [cell.getAttribute("data-stack")]); });
    each("main table:not(#map)", function (table) {
      var columns = table.tHead ? list(table.tHead.rows[0].cells).map(name) : [];
      list(table.rows).forEach(function (row) {
        var cells = list(row.cells);
        if (row.parentNode !== table.tHead) {
          add(row, cells.filter(function (cell) { return cell.tagName === "TH" || cell.classList.contains("l"); }).map(name));
        }
        cells.forEach(function (cell, place) { if (stacks[columns[place]]) add(cell, [columns[place]]); });
      });
    });
    each(".comparison", function (box) { add(box, ["#" + box.querySelector("[id]").id]); });
    each("figure", function (figure) {
      add(figure, [name(figure.querySelector("figcaption"))]);
      list(figure.querySelectorAll("text.label")).forEach(function (label, place) {
        add(label, [name(label)], list(figure.querySelectorAll("[data-row='" + place + "']")));
      });
    });
  }
  function hide() {
    if (!marked && !state.hide && !state.pass && !state.precision) return;
    if (!marked) mark();
    marked.forEach(function (it) {
      var out = it.stacks.some(hidden) || it.asked.some(function (row) { return !isAsked(row); });
      it.node.classList.toggle("off", out);
      (it.lines || []).forEach(function (node) { node.classList.toggle("off", out); });
    });
  }

  // The tables of the comparisons: ratio, interval and verdict over the chosen baseline.
  function drawTables() {
    var chosen = all.metrics.steady.maps[state.baseline];
    asked.forEach(function (question) {
      var section = document.getElementById(question.id), entries = chosen.cells[question.id];
      list(section ? section.querySelectorAll("table") : []).forEach(function (table) {
        var heads = list(table.tHead.rows[0].cells).map(function (head) { return head.textContent.replace(/[▲▼↕]/g, "").trim(); });
        var at = ["Speedup", "Interval", "Verdict"].map(function (head) { return heads.indexOf(head); });
        if (at.indexOf(-1) >= 0) return;
        list(table.tBodies[0].rows).forEach(function (row) { fillRow(row, at, entries[row.cells[0].textContent.trim()]); });
        var told = table.caption.querySelector(".over");
        if (told) told.textContent = chosen.over[question.id] || "Baseline: " + state.baseline + ".";
      });
    });
    each("[data-over]", function (node) {
      node.toggleAttribute("hidden", node.getAttribute("data-over").split(" ").indexOf(state.baseline) < 0);
    });
    each(".panel", drawPanel);
  }
  // An opened cell: its ratio over the chosen baseline is one of those in its list, and its command names the baseline.
  function drawPanel(panel) {
    var chosen = list(panel.querySelectorAll("[data-base]")).filter(function (ratio) {
      return ratio.getAttribute("data-base") === state.baseline;
    })[0];
    if (!chosen) return;
    var stack = panel.getAttribute("data-stack"), by = chosen.getAttribute("data-by"), alone = by === stack;
    panel.querySelector(".over-name").textContent = chosen.previousElementSibling.textContent.replace("Over", "A steady step over");
    panel.querySelector(".over-ratio").textContent = alone ? "this is the baseline" : chosen.textContent;
    drawShown(panel, stack);
    var compared = panel.querySelector(".compared"), company = panel.querySelector(".company");
    if (compared) compared.textContent = (alone ? "" : " --stack=" + by) + " --baseline=" + by;
    if (company) company.textContent = alone ? " alone" : " and the baseline " + by;
  }
  // What the map shows in this cell, if that isn't a steady step.
  function drawShown(panel, stack) {
    var name = panel.querySelector(".shown-name"), value = panel.querySelector(".shown-value");
    var id = panel.getAttribute("data-question"), entry = choice().cells[id][stack];
    name.hidden = value.hidden = state.metric === first.metric || !entry;
    if (name.hidden) return;
    var isBase = kind(entry) === "baseline", isInterval = entry.small.charAt(0) === "[";
    name.textContent = choice().caption.split(". ")[0];
    value.textContent = joined([metric().own[id][stack], isBase ? "this is the baseline" : all.signs[kind(entry)] ? kind(entry) : "",
      isBase ? "" : entry.words + (isInterval ? " " + entry.small : ""), isInterval ? "" : entry.small, entry.note]);
  }
  function fillRow(row, at, entry) {
    if (!entry) return;
    var word = kind(entry), texts = word === "undecided" ? entry.small.split(/ (.*)/) : [entry.words, entry.small];
    if (word === "baseline") texts = ["1×", ""];
    var tag = document.createElement("span"), note = document.createElement("small");
    tag.className = "tag " + ({ faster: "faster", slower: "slower", baseline: "plain" }[word] || "even");
    tag.textContent = word === "baseline" ? word : (all.signs[word] || "") + " " + word;
    note.textContent = entry.note;
    row.cells[at[0]].textContent = texts[0];
    row.cells[at[0]].setAttribute("data-v", number(texts[0]));
    row.cells[at[1]].textContent = texts[1] || "";
    row.cells[at[2]].replaceChildren(tag, note);
    row.classList.toggle("base", word === "baseline");
    row.classList.toggle("unsure", ["faster", "slower", "baseline"].indexOf(word) < 0);
  }

  function show() {
    list(bar.querySelectorAll("select")).forEach(function (select) { select.value = state[select.name]; });
    bar.querySelector("[name=sure]").checked = state.sure === "1";
    each("#chips button", function (chip) { chip.setAttribute("aria-pressed", String(!hidden(chip.value))); });
    document.body.classList.toggle("sure", state.sure === "1");
    document.body.classList.toggle("of-frameworks", state.by === "frameworks");
    // A figure of each question has steady steps; of other times and sizes there is the map.
    document.body.classList.toggle("of-others", state.metric !== first.metric);
    if (folded && (state.metric !== first.metric || state.sure === "1")) folded.open = true;
    var wanted = state.metric + "|" + state.baseline;
    drawMap(wanted !== drawn);
    if (wanted !== drawn) drawTables();
    if (byFrameworks) drawFrameworks();
    drawn = wanted;
    hide();
  }
  // Opens what the address leads to: a panel, or a place inside of what is folded.
  function go() {
    each(".panel.open", function (panel) { panel.classList.remove("open"); });
    var target = state.at && document.getElementById(state.at);
    if (!target) return;
    if (!target.classList.contains("panel")) return lead(target);
    target.classList.add("open");
    target.focus({ preventScroll: true });
  }
  function follow() { state = read(); show(); go(); }

  bar.addEventListener("change", function (event) {
    var input = event.target;
    choose(input.name, input.type === "checkbox" ? (input.checked ? "1" : "") : input.value);
  });
  document.getElementById("chips").addEventListener("click", function (event) {
    var stack = event.target.value;
    if (!stack) return;
    var left = state.hide.split(",").filter(function (name) { return name && name !== stack; });
    if (!hidden(stack)) left.push(stack);
    choose("hide", left.join(","));
  });
  document.addEventListener("click", function (event) {
    var link = event.target.closest ? event.target.closest("a[href^='#']") : null;
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (link.classList.contains("close")) return close();
    state.at = link.getAttribute("href").slice(1);
    history.pushState(null, "", address());
    go();
  });
  function close() {
    var open = document.querySelector(".panel.open");
    var back = open && list(document.querySelectorAll("#overview a[href='#" + open.id + "']")).filter(isDrawn)[0];
    if (!open) return;
    state.at = "";
    history.replaceState(null, "", address());
    go();
    if (back) back.focus({ preventScroll: true });
  }
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") close(); });
  window.addEventListener("popstate", follow);

  // A click on a stack's name sorts the questions by its ratio, the greatest first; a second click undoes that.
  var sorted = "";
  map.tHead.addEventListener("click", function (event) {
    var head = event.target.closest("th[data-stack]");
    if (!head) return;
    var name = head.getAttribute("data-stack"), chosen = choice();
    var stack = all.stacks.filter(function (stack) { return parts(stack).indexOf(name) >= 0; })[0];
    sorted = sorted === stack ? "" : stack;
    var order = asked.map(function (question, place) {
      var entry = chosen.cells[question.id][stack], words = kind(entry) === "undecided" ? entry.small : entry ? entry.words : "";
      return [sorted ? number(words) || -1 : -place, question.row];
    });
    order.sort(function (a, b) { return b[0] - a[0]; }).forEach(function (it) { it[1].parentNode.appendChild(it[1]); });
    list(map.tHead.querySelectorAll("th[data-stack]")).forEach(function (other) {
      if (sorted && other === head) other.setAttribute("aria-sort", "descending");
      else other.removeAttribute("aria-sort");
    });
  });

  // One stop for the Tab key in the chips and one in the map; the arrow keys move inside.
  function isDrawn(node) { return node.getClientRects().length > 0; }
  function rove(box, lines) {
    lines.forEach(function (line, place) {
      line.forEach(function (node, column) { node.tabIndex = place || column ? -1 : 0; });
    });
    box.addEventListener("keydown", function (event) {
      var step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (!step) return;
      lines.forEach(function (line, place) {
        var column = line.indexOf(event.target), to = null, down = place, right = column;
        if (column < 0) return;
        do { down += step[0]; right += step[1]; to = (lines[down] || [])[right]; } while (to && !isDrawn(to));
        if (!to) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        event.target.tabIndex = -1;
        to.tabIndex = 0;
        to.focus();
      });
    });
  }
  rove(document.getElementById("chips"), [list(document.querySelectorAll("#chips button"))]);
  rove(map.tHead, [list(map.tHead.querySelectorAll(".sort"))]);
  rove(map, list(map.querySelectorAll(".asked tr")).map(function (line) { return list(line.querySelectorAll("a")); }));

  list(document.querySelectorAll("#dots figure, #frameworks")).forEach(function (box) {
    rove(box, list(box.querySelectorAll(".asked tr, .names a")).map(function (line) { return line.matches("a") ? [line] : list(line.querySelectorAll("a")); }));
  });

  // What the map shows, as a file.
  function lines() {
    var chosen = choice(), out = [];
    asked.forEach(function (question) {
      if (question.row.hidden) return;
      var stacks = all.stacks.filter(isShown).map(function (stack) {
        return { stack: stack, baseline: state.baseline, entry: chosen.cells[question.id][stack] };
      });
      (state.by ? bestOf(question) : stacks).forEach(function (it) {
        var entry = it.entry, cell = question.cells[it.stack];
        out.push({ question: question.name, stack: it.stack, metric: state.metric, baseline: it.baseline, verdict: kind(entry),
          words: entry ? entry.words : cell.textContent.trim(), interval: entry ? entry.small : "", note: entry ? entry.note : "" });
      });
    });
    return out;
  }
  function csv(table) {
    var heads = Object.keys(table[0] || {});
    function field(text) { return '"' + (/^[=+\-@]/.test(text) ? "'" : "") + text.replace(/"/g, '""') + '"'; }
    return [heads.join(",")].concat(table.map(function (line) {
      return heads.map(function (head) { return field(line[head]); }).join(",");
    })).join("\n") + "\n";
  }
  function save(name, type, text) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  bar.addEventListener("click", function (event) {
    var button = event.target, what = button.getAttribute("data-do");
    if (what === "csv") save("map.csv", "text/csv", csv(lines()));
    if (what === "json") save("map.json", "application/json", JSON.stringify(lines()));
    if (what !== "copy") return;
    var told = function () { button.textContent = "Copied"; };
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(told, function () { prompt("", location.href); });
    else prompt("", location.href);
  });
  bar.hidden = false;
  follow();
}());
