(function () {
  "use strict";
  // The controls of the map. Every number was computed by the suite (suite/page/map/controls.py); this script shows the
  // chosen ones, says who leads among the shown stacks as suite/page/map/sentence.py does, and keeps the choice in the
  // address, so that a link or a reload shows the same.
  var store = document.getElementById("choices");
  if (!store) return;
  var all = JSON.parse(store.textContent), map = document.getElementById("map"), bar = document.getElementById("controls");
  var rows = list(map.querySelectorAll(".asked")), means = list(map.querySelectorAll(".means")); // a part of the table a question
  var cells = rows.map(cellsOf), names = rows.map(function (row) { return row.querySelector("a").textContent; });
  var first = { baseline: bar.getAttribute("data-baseline"), metric: "steady", pass: "", precision: "", sure: "", times: "", hide: "" };
  var state, marked, drawn = first.metric + "|" + first.baseline; // what the page shows without this script

  function list(nodes) { return Array.prototype.slice.call(nodes); }
  function each(selector, act) { list(document.querySelectorAll(selector)).forEach(act); }
  // The cells of a part of the map, in the order of `all.stacks`.
  function cellsOf(part) {
    var found = {};
    list(part.querySelectorAll("td")).forEach(function (cell) { found[cell.getAttribute("data-stack")] = cell; });
    return all.stacks.map(function (stack) { return found[stack] || document.createElement("td"); }); // or not asked
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
  function choice() { return all.metrics[state.metric].maps[state.baseline]; }
  function choose(name, value) {
    state[name] = value;
    history.replaceState(null, "", address());
    show();
  }

  // One cell: [CSS classes, words, small print, note].
  // `own` is the stack's own figure of what is shown.
  function fill(cell, entry, question, own) {
    if (!entry) return;
    var kind = entry[0].split(" ")[0], box = cell.querySelector("a") || cell;
    var note = entry[3] || "";
    var modes = / modes\b/.test(entry[0]) ? "its processes run in two modes" : "";
    box.textContent = "";
    [["span", "own", own],
     ["span", "w", (all.signs[kind] ? all.signs[kind] + " " : "") + entry[1]],
     ["span", "why", kind === "undecided" ? note : ""], ["small", "", entry[2]],
     ["span", "v", all.signs[kind] && kind !== entry[1] ? kind : ""]].forEach(function (part) {
      if (!part[2]) return;
      var node = document.createElement(part[0]);
      node.className = part[1];
      node.textContent = part[2];
      box.appendChild(node);
    });
    cell.className = "sq " + entry[0];
    cell.title = [cell.getAttribute("data-stack") + " on " + question, kind === "none" ? "" : kind, entry[1], entry[2], note, modes]
      .filter(function (text, place, texts) { return text && texts.indexOf(text) === place; }).join(", ");
  }
  function drawMap(isOther) {
    var chosen = choice(), count = 0, leads = [];
    drawMeans(chosen.means[state.pass + "|" + state.precision]);
    map.caption.textContent = chosen.caption;
    list(document.querySelectorAll(".legend.key .scale span")).forEach(function (end, place) {
      end.textContent = all.metrics[state.metric].ends[place];
    });
    rows.forEach(function (row, place) {
      var sure = false, name = names[place];
      cells[place].forEach(function (cell, column) {
        if (isOther) fill(cell, chosen.rows[place][column], name, all.metrics[state.metric].own[place][column]);
        var isSure = cell.classList.contains("faster") || cell.classList.contains("slower");
        cell.classList.toggle("dim", state.sure === "1" && !isSure && !cell.classList.contains("baseline"));
        sure = sure || (isSure && !hidden(all.stacks[column]));
      });
      if (isOther) row.querySelector(".over").textContent = chosen.over[place] || "";
      row.hidden = !isAsked(row) || (state.sure === "1" && !sure);
      count += row.hidden ? 0 : 1;
      var leaders = leading(chosen, place), of = { question: name, leaders: leaders, ratios: {}, ranked: ranked(place), track: all.tracks[place], behind: all.metrics[state.metric].behind[place] || [] };
      of.open = leaders.length === all.stacks.filter(function (stack, column) {
        return isShown(column) && isAnswer(chosen.rows[place][column]);
      }).length;
      cells[place].forEach(function (cell, column) {
        var entry = chosen.rows[place][column];
        cell.classList.toggle("leads", leaders.indexOf(column) >= 0);
        if (leaders.indexOf(column) >= 0 && kind(entry) === "faster" && !chosen.over[place]) of.ratios[column] = entry[1];
      });
      if (isAsked(row) && of.ranked.length > 1) leads.push(of);
    });
    bar.querySelector("output").textContent = count + " of " + rows.length + " questions";
    document.getElementById("verdict").textContent = sentence(leads);
  }
  function kind(entry) { return entry ? entry[0].split(" ")[0] : ""; }
  function isShown(column) { return !hidden(all.stacks[column]); }
  function ranked(place) { return all.order[place].filter(isShown); }
  // The rows of means, [what they are over, cells]: as many as the choice has, at least a hidden one.
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
      part.querySelector("th small").textContent = top[place][0];
      cellsOf(part).forEach(function (cell, column) { fill(cell, top[place][1][column], top[place][0]); });
    });
  }
  function isAnswer(entry) { return kind(entry) === "measured" || isJudged(entry); }
  function isJudged(entry) { return kind(entry) !== "mean" && all.signs[kind(entry)] !== undefined; }
  // Those of the shown stacks that none of them is shown to be faster than.
  function leading(chosen, place) {
    var pairs = all.metrics[state.metric].behind[place];
    if (!pairs) return [];
    var judged = all.stacks.map(function (stack, column) { return column; }).filter(function (column) {
      return isShown(column) && isJudged(chosen.rows[place][column]);
    });
    return judged.filter(function (column) {
      return !pairs.some(function (pair) { return pair[0] === column && judged.indexOf(pair[1]) >= 0; });
    });
  }

  // The first sentence, as suite/page/map/sentence.py says it of all stacks.
  function sentence(leads) {
    var by = { first: "By the first run: ", host: "By a step to host memory: " }[state.metric] || "";
    if (!leads.length) return "No question has two shown stacks with times that count.";
    if (!all.decided) {
      var lowest = most(leads.map(function (of) { return of.ranked[0]; }))[0];
      return "One block decides nothing: " + all.stacks[lowest[0]] + " has the lowest median on " + share(lowest[1], leads.length) + ".";
    }
    if (!all.metrics[state.metric].behind.length) return "There is no verdict on " + map.caption.textContent.split(",")[0].toLowerCase() + ": compare the cells.";
    var tracks = leads.map(function (of) { return of.track; }).filter(function (track, place, every) { return every.indexOf(track) === place; });
    var said = leads.length <= 3 ? leads.map(clause).join("; ") : tracks.length === 1 ? counted(leads) : tracks.map(function (track) {
      return track + " track: " + counted(leads.filter(function (of) { return of.track === track; }));
    }).join("; ");
    return by || !/^((no|one|two|three|four|five|six|seven|eight|nine|ten) |neither of|none of)/.test(said) ? by + said + "." : said.charAt(0).toUpperCase() + said.slice(1) + ".";
  }
  var NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  function namesOf(columns) { return columns.map(function (column) { return all.stacks[column]; }); }
  function who(columns) { // a few stacks by name, more by their number
    var stacks = namesOf(columns), among = stacks.indexOf(state.baseline) >= 0 ? ", " + state.baseline + " among them," : "";
    return stacks.length <= 3 ? listed(stacks) : (NUMBERS[stacks.length] || stacks.length) + " stacks" + among;
  }
  function clause(of) {
    var number = of.leaders.length, ratios = Object.keys(of.ratios).map(function (column) { return of.ratios[column]; });
    if (of.open) {
      return (number === 2 ? "neither of " + listed(namesOf(of.leaders)) : "none of " + NUMBERS[Math.min(number, 10)] + " stacks") +
        " is shown to be faster on " + of.question;
    }
    return who(of.leaders) + (number === 1 ? " leads " : " share the lead on ") + of.question +
      (ratios.length && ratios.length === number ? beside(ratios) : "") + ownWords(of);
  }
  // On how many questions the stacks lead that lead most; those that lead the same ones share their clause.
  function counted(leads) {
    var groups = {}, order = [];
    all.stacks.forEach(function (stack, column) {
      var led = leads.filter(function (of) { return of.leaders.indexOf(column) >= 0; });
      if (!led.length) return;
      var key = led.map(function (of) { return leads.indexOf(of); }).join(",");
      if (!groups[key]) order.push(groups[key] = { led: led, columns: [], alone: led.filter(function (of) { return of.leaders.length === 1; }).length });
      groups[key].columns.push(column);
    });
    order = order.map(function (group, place) { return [group, place]; }).sort(function (a, b) {
      return b[0].led.length - a[0].led.length || b[0].alone - a[0].alone || a[1] - b[1];
    }).slice(0, 3).map(function (pair) { return pair[0]; });
    return order.map(function (group, place) {
      var led = group.led.length, ratios = [];
      group.led.forEach(function (of) { group.columns.forEach(function (column) { if (of.ratios[column]) ratios.push(of.ratios[column]); }); });
      return who(group.columns) + (group.columns.length > 1 ? " share the lead on " : group.alone ? " leads " : " shares the lead on ") +
        (place ? led : share(led, leads.length)) + (group.alone === led ? " alone" : group.alone ? ", " + group.alone + " alone" : "") +
        (place ? "" : beside(ratios));
    }).join("; ");
  }
  // What is particular to a lead that only one framework's formulation has (suite/page/sections/timed/formulations.py).
  function formulation(column) { return all.stacks[column].split(":")[1] || ""; }
  function framework(column) { return all.frameworks[column]; }
  function unique(values) { return values.filter(function (value, place) { return values.indexOf(value) === place; }); }
  function ownWords(of) {
    var mine = of.leaders.map(formulation);
    var having = unique(of.ranked.filter(function (column) { return mine.indexOf(formulation(column)) >= 0; }).map(framework));
    if (having.length !== 1 || mine.indexOf("") >= 0 || unique(of.ranked.map(framework)).length < 2) return "";
    var told = unique(of.ranked.map(formulation)).filter(Boolean).map(function (name) {
      var group = of.ranked.filter(function (column) { return formulation(column) === name; });
      if (unique(group.map(framework)).length < 2) return "";
      var ahead = group.filter(function (column) { return !of.behind.some(function (pair) { return pair[0] === column && group.indexOf(pair[1]) >= 0; }); });
      return "with " + name + (ahead.length === group.length ? " nobody leads" : " " + listed(namesOf(ahead)) + (ahead.length === 1 ? " leads" : " share the lead"));
    }).filter(Boolean).join("; ");
    return ", a formulation that only " + having[0] + " was given (" + (told || "no two frameworks share one") + ")";
  }
  // [[column, how often]], the most frequent first; of equals the first.
  function most(columns) {
    var times = {};
    columns.forEach(function (column) { times[column] = (times[column] || 0) + 1; });
    return Object.keys(times).map(function (column) { return [Number(column), times[column]]; }).sort(function (a, b) {
      return b[1] - a[1] || columns.indexOf(a[0]) - columns.indexOf(b[0]);
    });
  }
  function listed(names) { return names.length < 2 ? names.join("") : names.slice(0, -1).join(", ") + " and " + names[names.length - 1]; }
  function share(some, of) {
    if (some < of) return some + " of " + of + " questions";
    return { 1: "the question", 2: "both questions" }[of] || "all " + of + " questions";
  }
  function beside(ratios) {
    if (!ratios.length) return "";
    var sorted = ratios.slice().sort(function (a, b) { return parseFloat(a.replace(/,/g, "")) - parseFloat(b.replace(/,/g, "")); });
    var least = sorted[0], greatest = sorted[sorted.length - 1];
    return " (" + (least === greatest ? least : least.replace("×", "") + " to " + greatest) + " " + state.baseline + ")";
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
    rows.forEach(function (row, place) {
      questions[names[place]] = row;
      questions["#" + all.questions[place]] = row;
    });
    marked = [];
    function add(node, texts, lines) {
      var shown = texts.filter(function (text) { return stacks[text] === true; });
      var asked = texts.map(function (text) { return questions[text]; }).filter(Boolean);
      if (shown.length || asked.length) marked.push({ node: node, stacks: shown, asked: asked, lines: lines });
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
    all.questions.forEach(function (id, place) {
      var section = document.getElementById(id), by = chosen.rows[place];
      list(section ? section.querySelectorAll("table") : []).forEach(function (table) {
        var heads = list(table.tHead.rows[0].cells).map(function (head) { return head.textContent.replace(/[▲▼↕]/g, "").trim(); });
        var at = ["Speedup", "Interval", "Verdict"].map(function (head) { return heads.indexOf(head); });
        if (at.indexOf(-1) >= 0) return;
        list(table.tBodies[0].rows).forEach(function (row) { fillRow(row, at, by[all.stacks.indexOf(row.cells[0].textContent.trim())]); });
        var told = table.caption.querySelector(".over");
        if (told) told.textContent = chosen.over[place] || "Baseline: " + state.baseline + ".";
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
    var place = all.questions.indexOf(panel.getAttribute("data-question")), column = all.stacks.indexOf(stack);
    var entry = choice().rows[place][column], own = all.metrics[state.metric].own[place][column];
    name.hidden = value.hidden = state.metric === first.metric || !entry;
    if (name.hidden) return;
    var kind = entry[0].split(" ")[0], note = entry[3] || "";
    name.textContent = choice().caption.split(". ")[0];
    value.textContent = [own, kind === "baseline" ? "this is the baseline" : all.signs[kind] ? kind : "",
      kind === "baseline" ? "" : entry[1] + (entry[2].charAt(0) === "[" ? " " + entry[2] : ""),
      entry[2].charAt(0) === "[" ? "" : entry[2], note].filter(function (text, at, texts) { return text && texts.indexOf(text) === at; }).join(", ");
  }
  function fillRow(row, at, entry) {
    if (!entry) return;
    var kind = entry[0].split(" ")[0], texts = kind === "undecided" ? entry[2].split(/ (.*)/) : [entry[1], entry[2]];
    if (kind === "baseline") texts = ["1×", ""];
    var tag = document.createElement("span"), note = document.createElement("small");
    tag.className = "tag " + ({ faster: "faster", slower: "slower", baseline: "plain" }[kind] || "even");
    tag.textContent = kind === "baseline" ? kind : (all.signs[kind] || "") + " " + kind;
    note.textContent = entry[3] || "";
    row.cells[at[0]].textContent = texts[0];
    row.cells[at[0]].setAttribute("data-v", parseFloat(texts[0].replace(/,/g, "")));
    row.cells[at[1]].textContent = texts[1] || "";
    row.cells[at[2]].replaceChildren(tag, note);
    row.classList.toggle("base", kind === "baseline");
    row.classList.toggle("unsure", kind !== "faster" && kind !== "slower" && kind !== "baseline");
  }

  function show() {
    list(bar.querySelectorAll("select")).forEach(function (select) { select.value = state[select.name]; });
    ["sure", "times"].forEach(function (name) { bar.querySelector("[name=" + name + "]").checked = state[name] === "1"; });
    each("#chips button", function (chip) { chip.setAttribute("aria-pressed", String(!hidden(chip.value))); });
    ["sure", "times"].forEach(function (name) { document.body.classList.toggle(name, state[name] === "1"); });
    var asked = state.metric + "|" + state.baseline;
    drawMap(asked !== drawn);
    if (asked !== drawn) drawTables();
    drawn = asked;
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
    var open = document.querySelector(".panel.open"), back = open && map.querySelector("a[href='#" + open.id + "']");
    if (!open) return;
    state.at = "";
    history.replaceState(null, "", address());
    go();
    if (back) back.focus({ preventScroll: true });
  }
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") close(); });
  window.addEventListener("popstate", follow);

  // A click on a stack's name sorts the questions by its ratio, the greatest first; a second click undoes that.
  var sorted = -1;
  map.tHead.addEventListener("click", function (event) {
    var head = event.target.closest("th[data-stack]");
    if (!head) return;
    var name = head.getAttribute("data-stack"), chosen = choice();
    var column = all.stacks.findIndex(function (stack) { return parts(stack).indexOf(name) >= 0; });
    sorted = sorted === column ? -1 : column;
    var order = rows.map(function (row, place) {
      var entry = chosen.rows[place][column], words = kind(entry) === "undecided" ? entry[2] : entry ? entry[1] : "";
      return [sorted < 0 ? -place : parseFloat(words.replace(/,/g, "")) || -1, row];
    });
    order.sort(function (a, b) { return b[0] - a[0]; }).forEach(function (it) { it[1].parentNode.appendChild(it[1]); });
    list(map.tHead.querySelectorAll("th[data-stack]")).forEach(function (other) {
      if (sorted >= 0 && other === head) other.setAttribute("aria-sort", "descending");
      else other.removeAttribute("aria-sort");
    });
  });

  // One stop for the Tab key in the chips and one in the map; the arrow keys move inside.
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
        do { down += step[0]; right += step[1]; to = (lines[down] || [])[right]; } while (to && !to.offsetParent);
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

  // What the map shows, as a file.
  function lines() {
    var chosen = choice(), out = [];
    rows.forEach(function (row, place) {
      if (row.hidden) return;
      all.stacks.forEach(function (stack, column) {
        if (hidden(stack)) return;
        var entry = chosen.rows[place][column], cell = cells[place][column];
        out.push({ question: names[place], stack: stack, metric: state.metric,
          baseline: state.baseline, verdict: entry ? entry[0].split(" ")[0] : "",
          words: entry ? entry[1] : cell.textContent.trim(), interval: entry ? entry[2] : "",
          note: entry && entry[3] || "" });
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
