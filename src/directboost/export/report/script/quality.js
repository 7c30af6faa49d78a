// How well the model does, class by class, and whether its probabilities hold.

function showQuality() {
    const q = data.quality;
    const matrix = q.confusion && classCount <= MOST_IN_MATRIX;
    const wide = { class: "columns wide-left" };
    let parts = [html("div", wide, byClassCard(), reliabilityCard())];
    if (matrix) {
        const right = html("div", { class: "stack" }, mistakesCard(), reliabilityCard());
        parts = [html("div", wide, confusionCard(), right), byClassCard()];
    } else if (q.confusion) {
        parts = [
            html("div", { class: "columns" }, mistakesCard(), reliabilityCard()),
            note(`The confusion matrix of ${classCount} classes is too large to be read; the ` +
                "commonest mistakes are listed instead."),
            byClassCard(),
        ];
    }
    section("quality", "Quality",
        note(`On the ${count(q.rows, ["row", "rows"])} given to the report. Mean log loss of the ` +
            `probabilities: ${short(q.logLoss, 4)}.`), parts);
}

const CLASS_COLUMNS = ["name", "rows", "answers", "precision", "recall", "f1"];

function byClassCard() {
    const [one, several] = data.classNoun;
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
    return card(`The ${several} one by one`,
        note("Precision: how many of the answers are right. Recall: how many of the rows of a " +
            `${one} are found. F1: their harmonic mean. Press a heading to sort.`), box);
}

function classHead(state, sort) {
    const words = { name: data.classNoun[0], f1: "F1" };
    const heads = CLASS_COLUMNS.map((key) => html("th", {
        scope: "col",
        class: key === "name" ? "" : "number",
        "aria-sort": state.by === key ? (state.up ? "ascending" : "descending") : null,
    }, button(words[key] ?? key, () => sort(key), { class: "sorter" })));
    return html("thead", {}, html("tr", {}, heads));
}

function compare(a, b) {
    if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
    return (a ?? -1) - (b ?? -1);
}

function classLine(line) {
    const { name, rows: own, answers, precision, recall, f1 } = line;
    return html("tr", {},
        html("th", { scope: "row", title: name }, html("span", { class: "name" }, nameOf(name))),
        [own, answers].map((n) => html("td", { class: "number" }, n.toLocaleString("en"))),
        [precision, recall, f1].map(shareCell));
}

function shareCell(value) {
    const length = html("i", { class: "share" });
    length.style.width = `${100 * (value ?? 0)}%`;
    const words = html("span", {}, percent(value));
    return html("td", { class: "number" }, html("span", { class: "with-share" }, length, words));
}

function reliabilityCard() {
    const box = html("div", { class: "chart" });
    drawn(box, (width) => reliabilityPicture(Math.min(width, 360)));
    return card("Do the probabilities hold?", box,
        note("Each dot is a group of answers, larger for more of them. On the line the " +
            "probability says how often they are right."));
}

function reliabilityPicture(width) {
    const words = "Share of right answers by their probability";
    const frame = picture(width, 230, words, { left: 50, right: 22 });
    const x = scale(0, 1, frame.left, frame.right);
    const y = scale(0, 1, frame.bottom, frame.top);
    const ticks = [0, 0.25, 0.5, 0.75, 1];
    const whole = (t) => `${Math.round(100 * t)}%`;
    axisLeft(frame, y, ticks, whole);
    axisBelow(frame, x, ticks, "probability of the answer", whole);
    frame.node.append(svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "ideal" }));
    const most = Math.max(...data.quality.reliability.map((bin) => bin[2]));
    for (const [sure, right, n] of data.quality.reliability) {
        const r = 3 + 7 * Math.sqrt(n / most);
        const told = `${count(n, ["answer", "answers"])} with probability ${percent(sure)} on ` +
            `average: ${percent(right)} right`;
        const place = { cx: x(sure), cy: y(right), r };
        frame.node.append(svg("circle", { ...place, class: "dot soft colour-0" },
            svg("title", {}, told)));
    }
    return frame.node;
}
