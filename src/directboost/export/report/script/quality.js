// Quality by class, and calibration of the probabilities.

function showQuality() {
    const q = data.quality;
    const matrix = q.confusion && classCount <= MOST_IN_MATRIX;
    const wide = { class: "columns wide-left" };
    let parts = [html("div", wide, byClassCard(), calibrationCard())];
    if (matrix) {
        const right = html("div", { class: "stack" }, errorsCard(), calibrationCard());
        parts = [html("div", wide, confusionCard(), right), byClassCard()];
    } else if (q.confusion) {
        parts = [
            html("div", { class: "columns" }, errorsCard(), calibrationCard()),
            note(`The confusion matrix of ${classCount} classes is too large to show; the most ` +
                "common errors are listed instead."),
            byClassCard(),
        ];
    }
    section("quality", "Quality",
        note(`Evaluated on ${count(q.rows, q.noun)}. ${q.note ? `${q.note} ` : ""}Mean log loss ` +
            `of the probabilities: ${short(q.logLoss, 4)}.`), parts);
}

const CLASS_COLUMNS = ["name", "rows", "predicted", "precision", "recall", "f1"];

function byClassCard() {
    const [one] = data.classNoun;
    const lines = data.quality.byClass.map((line, r) => ({ ...line, name: data.classes[r] }));
    const box = html("div", { class: "scroll" });
    const state = { by: null, up: true };
    const sort = (by) => {
        state.up = state.by === by ? !state.up : by === "name";
        state.by = by;
        draw();
    };
    const ordered = () => lines.toSorted((a, b) =>
        compare(a[state.by], b[state.by]) * (state.up ? 1 : -1));
    const draw = () => growing(box, 30, state.by === null ? lines : ordered(), (some) =>
        html("table", { class: "by-class" }, classHead(state, sort),
            html("tbody", {}, some.map(classLine))));
    draw();
    return card(`Quality by ${one}`,
        note(`Precision: share of the predictions of a ${one} that are correct. Recall: share ` +
            `of the rows of a ${one} that are found. F1: harmonic mean of both. Select a heading ` +
            "to sort."), box);
}

function classHead(state, sort) {
    const text = { name: data.classNoun[0], f1: "F1" };
    const heads = CLASS_COLUMNS.map((key) => html("th", {
        scope: "col",
        class: key === "name" ? "" : "number",
        "aria-sort": state.by === key ? (state.up ? "ascending" : "descending") : null,
    }, button(text[key] ?? key, () => sort(key), { class: "sorter" })));
    return html("thead", {}, html("tr", {}, heads));
}

function compare(a, b) {
    if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
    return (a ?? -1) - (b ?? -1);
}

function classLine(line) {
    const { name, rows: own, predicted, precision, recall, f1 } = line;
    return html("tr", {},
        html("th", { scope: "row", title: name }, html("span", { class: "name" }, nameOf(name))),
        [own, predicted].map((n) => html("td", { class: "number" }, n.toLocaleString("en"))),
        [precision, recall, f1].map(shareCell));
}

function shareCell(value) {
    const length = html("i", { class: "share" });
    length.style.width = `${100 * (value ?? 0)}%`;
    const text = html("span", {}, percent(value));
    return html("td", { class: "number" }, html("span", { class: "with-share" }, length, text));
}

function calibrationCard() {
    const box = html("div", { class: "chart" });
    drawn(box, (width) => calibrationChart(Math.min(width, 360)));
    return card("Calibration", box,
        note("Each dot is a group of predictions, larger for larger groups. On the diagonal, the " +
            "predicted probability equals the share of correct predictions."));
}

function calibrationChart(width) {
    const label = "Share of correct predictions by predicted probability";
    const frame = chart(width, 230, label, { left: 50, right: 22 });
    const x = scale(0, 1, frame.left, frame.right);
    const y = scale(0, 1, frame.bottom, frame.top);
    const ticks = [0, 0.25, 0.5, 0.75, 1];
    const whole = (t) => `${Math.round(100 * t)}%`;
    axisLeft(frame, y, ticks, whole);
    axisBelow(frame, x, ticks, "predicted probability", whole);
    frame.node.append(svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "ideal" }));
    const most = Math.max(...data.quality.calibration.map((bin) => bin[2]));
    for (const [probability, correct, n] of data.quality.calibration) {
        const r = 3 + 7 * Math.sqrt(n / most);
        const text = `${count(n, ["prediction", "predictions"])} with mean probability ` +
            `${percent(probability)}: ${percent(correct)} correct`;
        const place = { cx: x(probability), cy: y(correct), r };
        frame.node.append(svg("circle", { ...place, class: "dot soft colour-0" },
            svg("title", {}, text)));
    }
    return frame.node;
}
