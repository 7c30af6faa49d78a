// The features: importances and contributions to the scores.

const FIRST_CLASSES = 5;
const FIRST_HINTS = {
    steps: "Point at the chart, or use the arrow keys, to read a step.",
    levels: "Each dot is the contribution of a level to the score of a class.",
};

function showFeatures() {
    if (data.importances.length === 0) return;
    if (data.tables.length === 0) {
        const why = data.noTablesReason ??
            "The tables of the features are too large for this page.";
        const parts = [importancesCard(null), card("Contributions to the scores", note(why))];
        section("features", "Features", html("div", { class: "columns" }, parts));
        return;
    }
    const steps = stepsCard();
    section("features", "Features", html("div", { class: "columns narrow-left" },
        importancesCard(steps.choose), steps.node), pairCards());
}

/** The classes whose scores a feature changes most. */
function strongest(feature) {
    const reach = spans(feature);
    return range(classCount).filter((r) => reach[r] > 0)
        .sort((a, b) => reach[b] - reach[a]).slice(0, FIRST_CLASSES);
}

function stepsCard() {
    const state = { feature: data.tables[0], chosen: strongest(data.tables[0]) };
    const box = html("div", { class: "chart", id: "steps" });
    const output = readout("");
    const chips = html("div", { class: "chips", role: "group", "aria-label": "Classes to show" });
    const redraw = drawn(box, (width) => (state.feature.levels === null
        ? stepChart(width, state.feature, state.chosen, output)
        : levelChart(width, state.feature, state.chosen)));
    const show = () => {
        classChips(chips, state, show);
        output.textContent = FIRST_HINTS[state.feature.levels === null ? "steps" : "levels"];
        redraw();
    };
    const choose = (place) => {
        state.feature = data.tables[place];
        state.chosen = strongest(state.feature);
        picker.value = place;
        show();
        intoView(node);
    };
    const picker = selectOf(featureOptions(""), 0, (value) => choose(Number(value)));
    picker.id = "feature";
    const tools = html("div", { class: "tools" },
        labelled("Feature", picker), featureFilter(picker, choose));
    const node = card("Contributions to the scores", tools, chips, box, output, tablesNote());
    show();
    return { node, choose };
}

function tablesNote() {
    const text = ["less important feature has", "less important features have"];
    const left = `${count(data.tablesLeftOut, text)} no table on this page, to limit its size.`;
    const pairs = "The effects of pairs of features are not included; they are shown below.";
    const parts = [data.tablesLeftOut > 0 ? left : "", data.pairs.length > 0 ? pairs : ""];
    const words = parts.filter((part) => part !== "").join(" ");
    return words === "" ? null : note(words);
}

function intoView(node) {
    const { top } = node.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) node.scrollIntoView({ block: "start" });
}

function featureOptions(part) {
    return data.tables.map((table, i) => [i, table.name])
        .filter(([, name]) => name.toLowerCase().includes(part))
        .map(([i, name]) => [i, truncated(name, 44)]);
}

/** A field that filters the list of features by name. */
function featureFilter(picker, choose) {
    if (data.tables.length < 12) return null;
    const field = html("input", { type: "search", placeholder: "part of a name" });
    field.addEventListener("input", () => {
        const found = featureOptions(field.value.toLowerCase());
        const now = Number(picker.value);
        picker.replaceChildren(...found.map(([value, text]) => html("option", { value }, text)));
        if (found.some(([value]) => value === now)) picker.value = now;
        else if (found.length > 0) choose(found[0][0]);
    });
    return labelled("Find", field);
}

function classChips(box, state, show) {
    const set = (chosen) => () => {
        state.chosen = chosen;
        show();
    };
    const tool = (text, chosen) => button(text, set(chosen), { class: "quiet" });
    const chips = range(classCount).map((r) => classChip(box, state, r, show));
    box.replaceChildren(
        html("div", { class: "chip-list" }, chips),
        html("div", { class: "chip-tools" }, tool("Strongest", strongest(state.feature)),
            tool("All", range(classCount)), tool("None", [])),
    );
}

function classChip(box, state, r, show) {
    const i = state.chosen.indexOf(r);
    const press = () => {
        const others = state.chosen.filter((other) => other !== r);
        state.chosen = i < 0 ? [...state.chosen, r] : others;
        show();
        box.querySelector(`[data-class="${r}"]`).focus();
    };
    const name = data.classes[r];
    const swatch = html("i", { class: i < 0 ? "swatch" : `swatch colour-${i % COLOURS}` });
    return button([swatch, nameOf(name)], press,
        { class: "chip", "aria-pressed": i >= 0, "data-class": r, title: name });
}
