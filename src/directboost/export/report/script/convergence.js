// The certificate, and the convergence of the bounds.

const MOST_MARKED = 40;

function showConvergence() {
    if (!data.history && !data.certificate) return;
    const parts = data.certificate ? [certificateCard()] : [];
    if (data.history) parts.push(convergenceCard());
    const columns = html("div", { class: parts.length > 1 ? "columns narrow-left" : "" }, parts);
    section("proof", data.certificate ? "Certificate and convergence" : "Convergence", columns);
}

function certificateCard() {
    const c = data.certificate;
    const lines = [
        ["Objective of the model", short(c.primal, 6)],
        ["Lower bound for all models", short(c.dual, 6)],
        ["Gap", short(c.gap)],
        ["Gap, relative to the reducible part", percent(c.relativeGap, 3)],
        ["Penalty \u03bd", short(c.nu, 4)],
        ["Maximal price of a column", short(c.maxPrice, 4)],
        ["Valid for models over", c.dictionary],
        ["Tolerance reached", c.converged ? "yes" : "no"],
    ];
    const rowOf = ([text, value]) =>
        html("tr", {}, html("th", { scope: "row" }, text), html("td", {}, value));
    return card(
        "Certificate",
        html("table", { class: "plain" }, html("tbody", {}, lines.map(rowOf))),
        note("The lower bound is the value of a dual feasible point. It is computed from the " +
            "final weights, independently of the solver."),
    );
}

function convergenceCard() {
    const { certified } = data.history;
    const state = { over: "round", show: certified ? "objective" : "own" };
    const box = html("div", { class: "chart" });
    const redraw = drawn(box, (width) => convergenceChart(width, state));
    const set = (name) => (value) => {
        state[name] = value;
        redraw();
    };
    const kinds = [["objective", "Objective and lower bound"], ["gap", "Gap"]];
    const axes = [["round", "Rounds"], ["seconds", "Seconds"]];
    const tools = html("div", { class: "tools" },
        certified ? choice("Curve", kinds, state.show, set("show")) : null,
        choice("Over", axes, state.over, set("over")));
    return card(certified ? "Convergence" : "Rounds", tools, box);
}

function curvesToDraw(state) {
    const { curves } = data.history;
    if (state.show === "gap") return [["Certified gap", curves.relative_gap]];
    if (state.show === "objective") {
        return [["Objective", curves.primal], ["Lower bound", curves.dual]];
    }
    return [["Objective", curves.objective], ["Weighted error", curves.error]]
        .filter(([, values]) => values.some((value) => value !== null));
}

function convergenceChart(width, state) {
    const curves = curvesToDraw(state);
    if (curves.length === 0) return note("The method records neither objective nor error.");
    const names = curves.map(([name]) => name);
    const frame = chart(width, 290, `${names.join(" and ")} over the fit`, { left: 56, top: 30 });
    const xs = data.history.curves[state.over];
    const x = scale(xs[0], Math.max(xs.at(-1), xs[0] + 1e-9), frame.left, frame.right);
    const y = heightAxis(frame, curves, state.show === "gap");
    const whole = state.over === "round";
    const ticks = ticksOf(xs[0], xs.at(-1), Math.min(8, width / 80));
    const kept = ticks.filter((tick) => !whole || Number.isInteger(tick));
    axisBelow(frame, x, kept, whole ? "round" : "seconds");
    const lines = curves.map(([, values]) => values
        .map((value, i) => [x(xs[i]), value === null ? NaN : y(value)])
        .filter(([, height]) => Number.isFinite(height)));
    if (state.show === "objective") shadeBetween(frame, lines);
    lines.forEach((points, i) => drawCurve(frame, points, i));
    legend(frame, names);
    return frame.node;
}

/** Draw the vertical axis, logarithmic for a gap; returns the scale. */
function heightAxis(frame, curves, log) {
    const known = curves.flatMap(([, values]) => values)
        .filter((value) => value !== null && (!log || value > 0));
    const ends = padded(log ? known.map(Math.log10) : known);
    const level = scale(ends[0], ends[1], frame.bottom, frame.top);
    const ticks = ticksOf(ends[0], ends[1], 5);
    if (!log) {
        axisLeft(frame, level, ticks);
        return level;
    }
    axisLeft(frame, level, ticks.filter(Number.isInteger), (t) => short(10 ** t));
    return (value) => level(Math.log10(value));
}

function shadeBetween(frame, [above, below]) {
    if (below.length === 0) return;
    const outline = `${pathOf([...above, ...below.toReversed()])}Z`;
    frame.node.append(svg("path", { d: outline, class: "gap-area" }));
}

function drawCurve(frame, points, i) {
    const marked = points.length <= MOST_MARKED ? points : points.slice(-1);
    frame.node.append(
        svg("path", { d: pathOf(points), ...lineStyle(i) }),
        ...marked.map(([cx, cy]) => svg("circle", { cx, cy, r: 3, class: `dot colour-${i}` })),
    );
}

function legend(frame, names) {
    let x = frame.left;
    names.forEach((name, i) => {
        frame.node.append(
            svg("line", { x1: x, x2: x + 18, y1: 13, y2: 13, ...lineStyle(i) }),
            svg("text", { x: x + 24, y: 17, class: "tick" }, name),
        );
        x += 44 + 7 * name.length;
    });
}
