// The weights of every rule by class: a heat map that can be sorted.

const ROW_HEIGHT = 20;

function showSharing() {
    const { rules } = data;
    if (!rules || rules.texts.length === 0) return;
    const lines = ruleLines(rules);
    const state = { by: "sum" };
    const box = html("div", { class: "heat-map" });
    const output = readout("Point at a cell for its weight.");
    const largest = lines.map((line) => Math.max(...line.weights.map(Math.abs)));
    const most = Math.max(...largest);
    const draw = () => growing(box, 30, lines.toSorted(orderOf(state.by)), (some) =>
        heatMap(some, output, most));
    const sorter = selectOf(sortOptions(), "sum", (by) => {
        state.by = by;
        draw();
    });
    const left = count(rules.leftOut, ["weaker rule is", "weaker rules are"]);
    section("sharing", `Rules shared by ${data.classNoun[1]}`, note(sharingText(lines)),
        card(null, html("div", { class: "tools" }, labelled("Sort by", sorter, { class: "sort" })),
            box, output, rules.leftOut > 0 ? note(`${left} left out of this page.`) : null));
    draw();
}

function ruleLines(rules) {
    const weights = matrixOf(rules.weights, rules.texts.length);
    return rules.texts.map((text, j) => {
        const own = Array.from(weights.subarray(j * classCount, (j + 1) * classCount));
        const sum = own.reduce((total, weight) => total + Math.abs(weight), 0);
        const used = own.filter((weight) => weight !== 0).length;
        return { text, feature: rules.features[j], weights: own, used, sum };
    });
}

function sharingText(lines) {
    const [one] = data.classNoun;
    const shared = lines.filter((line) => line.used > 1).length;
    const negative = lines.some((line) => line.weights.some((weight) => weight < 0));
    return `One line per rule, one column per ${one}. If the rule holds, its weight is added to ` +
        `the score, otherwise it is subtracted. ${shared} of ` +
        `${count(lines.length, ["rule", "rules"])} on this page ` +
        `${shared === 1 ? "has" : "have"} weights for more than one ${one}. ` +
        `The number at the end of a line is its number of ${data.classNoun[1]}.` +
        (negative ? " Negative weights are orange." : "");
}

function sortOptions() {
    return [
        ["sum", "strength"],
        ["feature", "feature"],
        ["used", `number of ${data.classNoun[1]}`],
        ...data.classes.map((name, r) => [r, `weight of ${truncated(name, 28)}`]),
    ];
}

function orderOf(by) {
    const sum = (a, b) => b.sum - a.sum;
    if (by === "sum") return sum;
    if (by === "feature") return (a, b) => a.feature - b.feature || compare(a.text, b.text);
    if (by === "used") return (a, b) => b.used - a.used || sum(a, b);
    return (a, b) => Math.abs(b.weights[by]) - Math.abs(a.weights[by]) || sum(a, b);
}

function heatMap(lines, output, most) {
    const box = html("div", { class: "chart scroll" });
    drawn(box, (width) => {
        const layout = heatLayout(lines, width);
        const { left, top, wide } = layout;
        const node = svg("svg", {
            width: left + wide * classCount + 34, height: top + ROW_HEIGHT * lines.length + 4,
            role: "img", "aria-label": `Weights of the rules by ${data.classNoun[0]}`,
        });
        const size = { width: wide * classCount, height: ROW_HEIGHT * lines.length };
        node.append(svg("rect", { x: left, y: top, ...size, class: "plot" }));
        if (wide >= 9) node.append(...data.classes.map((name, r) => headOf(name, r, layout)));
        lines.forEach((line, place) =>
            heatLine(node, line, { left, wide, y: top + place * ROW_HEIGHT, most, output }));
        return node;
    });
    return box;
}

/** Sizes of the heat map: left and top margins, width of a column. */
function heatLayout(lines, width) {
    const longestRule = Math.max(...lines.map((line) => line.text.length));
    const longestClass = Math.max(...data.classes.map((name) => name.length));
    const left = Math.min(7.1 * longestRule + 14, width * 0.42);
    const smallest = classCount > 60 ? 7 : 12;
    const wide = Math.max(Math.min((width - left - 34) / classCount, 150), smallest);
    const turned = 7 * longestClass > wide - 2;
    const tall = turned ? Math.min(7 * longestClass + 10, 120) : 22;
    return { left, wide, turned, top: wide < 9 ? 8 : tall };
}

function headOf(name, r, { left, top, wide, turned }) {
    const x = left + (r + 0.5) * wide;
    const y = top - 6;
    if (!turned) return clipped(name, wide, { x, y, class: "tick middle" });
    const turn = `rotate(-90 ${x} ${y}) translate(0 4)`;
    return clipped(name, top - 8, { x, y, class: "tick", transform: turn });
}

/** A rule of at most `most` characters: the name of the feature is truncated, not the rest. */
function ruleText(text, most) {
    if (text.length <= most) return text;
    const [, name, said] = /^(.*)( (?:<=|>|is) .*)$/s.exec(text) ?? [null, text, ""];
    const brief = said.replace(/ or missing$/, " or NA");
    return truncated(name, Math.max(most - brief.length, 3)) + brief;
}

function heatLine(node, line, { left, wide, y, most, output }) {
    const shown = ruleText(line.text, Math.floor((left - 12) / 7.1));
    node.append(svg("text", { x: left - 8, y: y + 14, class: "tick end" }, shown,
        shown === line.text ? null : svg("title", {}, line.text)));
    line.weights.forEach((weight, r) => {
        if (weight === 0) return;
        const width = Math.max(wide - 1, 1);
        const place = { x: left + r * wide + 0.5, y: y + 0.5, width, height: ROW_HEIGHT - 1 };
        const text = `${line.text}: ${data.classes[r]} ${short(weight, 4)}`;
        node.append(heatCell(place, weight > 0, Math.abs(weight) / most, text, output));
    });
    const end = { x: left + classCount * wide + 8, y: y + 14 };
    node.append(svg("text", { ...end, class: "tick" }, String(line.used)));
}
