// The confusion matrix and the most common errors.

const MOST_IN_MATRIX = 120;
const MOST_WITH_COUNTS = 20;
const MATRIX_TOP = 16;

function confusionCard() {
    const state = { shares: true };
    const box = html("div", { class: "chart scroll" });
    const output = readout("Point at a cell for details.");
    const redraw = drawn(box, (width) => confusionChart(width, state, output));
    const set = (value) => {
        state.shares = value;
        redraw();
    };
    const options = [[true, "Percent of the true class"], [false, "Rows"]];
    const units = choice("Cells", options, true, set);
    return card(
        `Confusion matrix${onRows(" of the ")}`,
        note("One row per true class, one column per predicted class. Cells off the diagonal are " +
            "errors."),
        html("div", { class: "tools" }, units), box, output,
    );
}

/** Sizes of the matrix: of a cell, and of the margins for names at the left and below. */
function matrixLayout(width) {
    const longest = Math.max(...data.classes.map((name) => name.length));
    const left = Math.min(Math.max(7 * longest + 12, 36), width * 0.3, 170);
    const largest = classCount < 6 ? 84 : 56;
    const smallest = classCount > 60 ? 5 : 11;
    const cell = Math.max(Math.min((width - left - 4) / classCount, largest), smallest);
    const turned = longest * 7 > cell - 2;
    const below = turned ? Math.min(7 * longest + 12, 110) : 22;
    const compact = classCount > MOST_WITH_COUNTS || cell < 26;
    return { left, cell, turned, below, compact, side: cell * classCount };
}

function confusionChart(width, state, output) {
    const layout = matrixLayout(width);
    const node = svg("svg", {
        width: Math.max(layout.left + layout.side + 4, Math.min(width, 330)),
        height: layout.side + layout.below + MATRIX_TOP + 2,
        role: "img", "aria-label": "Confusion matrix",
    });
    const { left, side } = layout;
    node.append(svg("rect", { x: left, y: MATRIX_TOP, width: side, height: side, class: "plot" }));
    for (const r of range(classCount)) nameInMatrix(node, r, layout);
    const most = Math.max(...data.quality.confusion.cells.map((cell) => cell[2]));
    for (const cell of data.quality.confusion.cells) {
        drawCell(node, cell, { layout, state, output, most });
    }
    node.append(
        svg("text", { x: left - 7, y: 11, class: "tick end strong" }, "true"),
        svg("text", { x: left + 8, y: 11, class: "tick strong" }, "predicted class"),
    );
    return node;
}

function nameInMatrix(node, r, { left, cell, turned, below, side }) {
    const x = left + r * cell;
    const y = MATRIX_TOP + r * cell;
    node.append(svg("rect", { x, y, width: cell, height: cell, class: "diagonal" }));
    if (cell < 11) return;
    const style = cell < 14 ? "tick small" : "tick";
    const name = data.classes[r];
    const middle = x + cell / 2;
    const foot = MATRIX_TOP + side + (turned ? 8 : 15);
    const turn = { transform: `rotate(-90 ${middle} ${foot}) translate(0 1)` };
    node.append(
        clipped(name, left - 8, { x: left - 7, y: y + cell / 2 + 4, class: `${style} end` }),
        turned
            ? clipped(name, below - 16, { x: middle, y: foot + 3, class: `${style} end`, ...turn })
            : clipped(name, cell, { x: middle, y: foot, class: `${style} middle` }),
    );
}

function drawCell(node, [i, j, n], { layout, state, output, most }) {
    const { left, cell, compact } = layout;
    const share = n / data.quality.byClass[i].rows;
    const depth = state.shares ? share : n / most;
    const x = left + j * cell;
    const y = MATRIX_TOP + i * cell;
    const text = `${count(n, ["row", "rows"])} of ${data.classes[i]} predicted as ` +
        `${data.classes[j]}: ${percent(share)} of this class`;
    node.append(heatCell({ x, y, width: cell, height: cell }, i === j, depth, text, output));
    if (compact) return;
    const shown = state.shares ? (100 * share).toFixed(share < 0.095 ? 1 : 0) : String(n);
    const style = depth > 0.3 ? "cell on" : "cell";
    node.append(svg("text", { x: x + cell / 2, y: y + cell / 2 + 4, class: style }, shown));
}

function errorsCard() {
    const wrong = data.quality.confusion.cells.filter(([i, j]) => i !== j);
    const heading = "Most common errors";
    if (wrong.length === 0) return card(heading, note("There are no errors on these rows."));
    const box = html("div");
    growing(box, 10, wrong, (some) => html("ol", { class: "mistakes" }, some.map(errorLine)));
    const { leftOut } = data.quality.confusion;
    return card(heading, box,
        leftOut > 0 ? note(`${leftOut} less common pairs are left out of this page.`) : null);
}

function errorLine([i, j, n]) {
    const often = `${n} \u00d7, ${percent(n / data.quality.byClass[i].rows, 0)}`;
    return html("li", {}, html("b", {}, data.classes[i]), " predicted as ",
        html("b", {}, data.classes[j]), html("span", {}, often));
}
