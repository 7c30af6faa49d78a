// "What if": select a row, change its values, and see the effect on every score.

const FIRST_CONTROLS = 8;
const MORE_CONTROLS = 32;

/** The parts of a score: features, or features and pairs. */
const partNouns = data.pairs.length > 0
    ? ["feature or pair", "features and pairs"] : ["feature", "features"];

/** The selected row, its current and original values, and the state of the controls. */
const what = {
    row: 0, values: null, own: null, before: null, r: 0, other: null,
    order: [], controls: FIRST_CONTROLS, all: false, find: "", showControls: () => {},
};

function showWhatIf() {
    const hasTables = data.tables.length > 0;
    const text = hasTables
        ? "Select a row and change its values. The scores and the contributions of all " +
          `${partNouns[1]} are updated, computed from the same tables as in Python.`
        : `Select a row to see its scores and probabilities. ${data.noTablesReason ?? ""}`;
    const holder = (heading, id) => card(heading, html("div", { id }));
    const right = [holder("Scores", "scores")];
    if (hasTables) right.push(holder("Contributions to a score", "parts"));
    const panels = html("div", { class: "columns", id: "panels" },
        hasTables ? holder("Values of the row", "controls") : null,
        html("div", { class: "stack" }, right));
    const heading = hasTables ? "What if" : "Single rows";
    section("what-if", heading, note(text), rowPicker(), panels);
    pickRow(0);
}

function rowText(i) {
    const head = `${rows.wrong[i] ? "\u2717" : "\u2713"} row ${rows.indices[i]}: `;
    const wrong = rows.wrong[i] ? ` \u2192 ${truncated(namesOf(rows.predicted[i]), 40)}` : "";
    return head + truncated(namesOf(rows.actual[i]), 40) + wrong;
}

function rowPicker() {
    const options = range(rows.count).map((i) => [i, rowText(i)]);
    const picker = selectOf(options, 0, (value) => pickRow(Number(value)));
    picker.id = "row";
    const step = (text, label, by) => button(text, () => {
        picker.value = (Number(picker.value) + by + rows.count) % rows.count;
        pickRow(Number(picker.value));
    }, { class: "quiet", "aria-label": label });
    const again = () => pickRow(what.row);
    const undo = button("Undo all changes", again, { class: "quiet", id: "undo" });
    const all = count(data.rows.total, data.rows.noun);
    const some = rows.count < data.rows.total
        ? `${rows.count} of ${all}` : `all ${data.rows.noun[1]}`;
    return html("div", { class: "tools rows" }, labelled("Row", picker),
        step("\u2190", "Previous row", -1), step("\u2192", "Next row", 1),
        data.tables.length > 0 ? undo : null,
        note(`${some}, misclassified rows first; row numbers start at 0`));
}

function pickRow(row) {
    what.row = row;
    what.own = valuesOf(row);
    what.values = valuesOf(row);
    what.before = scoresOf(row, what.own);
    const [top, next] = range(classCount).sort((a, b) => what.before[b] - what.before[a]);
    what.r = top;
    what.other = data.several ? null : next;
    const weight = data.tables.map((_, i) => Math.abs(difference((r) => partOf(i, r))));
    for (const pair of data.pairs) {
        const value = Math.abs(difference((r) => pairPart(pair, r)));
        for (const i of pair.tables) weight[i] += value / 2;
    }
    what.order = range(weight.length).sort((a, b) => weight[b] - weight[a] || a - b);
    drawWhatIf();
}

function drawWhatIf() {
    drawScores();
    if (data.tables.length === 0) return;
    drawControls();
    drawParts();
}

function changed(i) {
    return !Object.is(what.values[i], what.own[i]);
}

function drawControls() {
    const box = document.getElementById("controls");
    if (!box.querySelector(".find")) {
        box.append(html("div", { class: "find" }, controlFilter()), html("div"));
    }
    const found = what.order.filter((i) => data.tables[i].name.toLowerCase().includes(what.find));
    const shown = found.slice(0, what.controls);
    const left = found.length - shown.length;
    const more = button(moreText(left, MORE_CONTROLS), () => {
        what.controls += MORE_CONTROLS;
        drawControls();
    }, { class: "quiet more" });
    const lines = shown.map(controlLine);
    what.showControls = () => { for (const line of lines) line.show(); };
    const list = html("div", { class: "control-list" }, lines.map((line) => line.node));
    box.lastChild.replaceChildren(list, left > 0 ? more : "");
}

function controlFilter() {
    const text = "Features with the largest contributions come first.";
    if (data.tables.length <= FIRST_CONTROLS) return note(text);
    const field = html("input", { type: "search", placeholder: "part of a name" });
    field.addEventListener("input", () => {
        what.find = field.value.toLowerCase();
        drawControls();
    });
    return labelled("Find a feature", field);
}

function controlLine(i) {
    const feature = data.tables[i];
    const was = html("small");
    const steps = html("div", { class: "steps" });
    const control = controlOf(feature, what.own[i], (value) => {
        what.values[i] = value;
        if (data.pairs.length > 0) what.showControls(); // the steps of other features change, too
        else show();
        drawScores();
        drawParts();
    });
    const show = () => {
        const now = what.values[i];
        line.classList.toggle("changed", changed(i));
        was.textContent = changed(i) ? `was ${valueText(feature, what.own[i])}` : "";
        if (feature.levels === null) steps.replaceChildren(sparkline(i, now));
        control.show(now);
    };
    const name = html("span", { class: "name", title: feature.name }, nameOf(feature.name));
    const line = html("div", { class: "control-line", "data-feature": feature.feature },
        html("div", { class: "control-name" }, name, was), steps, control.node);
    show();
    return { node: line, show };
}

function valueText(feature, value) {
    if (Number.isNaN(value)) return feature.missingName;
    if (feature.levels === null) return short(value, 5);
    return feature.levels.find(([code]) => code === value)?.[1] ?? "other level";
}
