// The step functions of a numeric feature.

const MISSING_WIDTH = 58;

function stepChart(width, feature, chosen, output) {
    const extra = feature.missing ? MISSING_WIDTH : 0;
    const frame = chart(width, 352, `Contributions of ${feature.name} to the scores`,
        { right: 12 + extra, bottom: 92, left: 52, top: 22 });
    const x = scale(feature.low, feature.high, frame.left, frame.right);
    const y = stepAxes(frame, feature, chosen, x);
    valueBars(frame, feature);
    const marker = svg("rect", { y: frame.top, height: frame.bottom - frame.top, class: "marker" });
    frame.node.append(marker);
    chosen.forEach((r, i) => drawSteps(frame, feature, r, i, x, y));
    const point = (step) => {
        const ends = step === stepsOf(feature)
            ? [frame.right + 10, frame.right + extra]
            : endsOf(feature, step).map(x);
        marker.setAttribute("x", ends[0]);
        marker.setAttribute("width", Math.max(ends[1] - ends[0], 1));
        showStep(output, feature, step, chosen);
    };
    const back = scale(frame.left, frame.right, feature.low, feature.high);
    followPointer(frame, feature, point, back);
    return frame.node;
}

/** The ends of a step, within the range of the axis. */
function endsOf(feature, step) {
    const edges = [feature.low, ...feature.thresholds, feature.high];
    return [edges[step], edges[step + 1]];
}

/** Draw the axes; returns the vertical scale. */
function stepAxes(frame, feature, chosen, x) {
    const steps = stepsOf(feature) + (feature.missing ? 1 : 0);
    const shown = chosen.length > 0 ? chosen : range(classCount);
    const heights = range(steps).flatMap((step) => shown.map((r) => added(feature, step, r)));
    const [low, high] = padded([0, ...heights]);
    const y = scale(low, high, frame.bottom, frame.top);
    axisLeft(frame, y, ticksOf(low, high, 5));
    const label = { x: 6, y: 13, class: "tick strong" };
    frame.node.append(svg("text", label, "contribution to the score"));
    for (const cut of feature.thresholds) {
        const ends = { x1: x(cut), x2: x(cut), y1: frame.bottom, y2: frame.bottom - 5 };
        frame.node.append(svg("line", { ...ends, class: "cut" }));
    }
    const name = truncated(feature.name, Math.floor(frame.width / 9));
    axisBelow(frame, x, ticksOf(feature.low, feature.high, frame.width / 90), name);
    if (feature.missing) {
        const place = { x: frame.right + MISSING_WIDTH / 2 + 6, y: frame.bottom + 17 };
        frame.node.append(svg("text", { ...place, class: "tick middle" }, "missing"));
    }
    return y;
}

function drawSteps(frame, feature, r, i, x, y) {
    const steps = stepsOf(feature);
    const points = range(steps).flatMap((step) =>
        endsOf(feature, step).map((edge) => [x(edge), y(added(feature, step, r))]));
    frame.node.append(svg("path", { d: pathOf(points), ...lineStyle(i) }));
    if (!feature.missing) return;
    const colour = i % COLOURS;
    const cx = frame.right + 16 + (colour * (MISSING_WIDTH - 24)) / COLOURS;
    const cy = y(added(feature, steps, r));
    frame.node.append(svg("circle", { cx, cy, r: 4, class: `dot colour-${colour}` }));
}

/** The histogram of the values in the rows, below the axis. */
function valueBars(frame, feature) {
    const most = Math.max(...feature.counts, 1);
    const wide = (frame.right - frame.left) / feature.counts.length;
    const base = frame.height - 6;
    feature.counts.forEach((n, i) => {
        const height = n === 0 ? 0 : 2 + 36 * Math.sqrt(n / most);
        const x = frame.left + i * wide + 0.5;
        const size = { x, y: base - height, width: Math.max(wide - 1, 1), height };
        const text = svg("title", {}, count(n, ["row", "rows"]));
        frame.node.append(svg("rect", { ...size, class: "spread" }, text));
    });
    frame.node.append(svg("text", { x: frame.left - 7, y: base, class: "tick end" }, "rows"));
}

/** Call `point` with the step under the pointer, or the one selected by the arrow keys. */
function followPointer(frame, feature, point, valueAt) {
    const steps = stepsOf(feature);
    let now = 0;
    const go = (step) => {
        now = step;
        point(step);
    };
    frame.node.addEventListener("pointermove", (event) => {
        const pixel = event.clientX - frame.node.getBoundingClientRect().left;
        const inside = Math.min(Math.max(valueAt(pixel), feature.low), feature.high);
        go(pixel > frame.right + 6 && feature.missing ? steps : stepOf(feature, inside));
    });
    frame.node.setAttribute("tabindex", "0");
    frame.node.addEventListener("keydown", (event) => {
        const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!move) return;
        event.preventDefault();
        go(Math.min(Math.max(now + move, 0), steps - (feature.missing ? 0 : 1)));
    });
}

function stepText({ name, thresholds }, step) {
    return rangeText(name, thresholds, step);
}

function rangeText(name, cuts, step) {
    if (step === cuts.length + 1) return `${name} missing`;
    if (cuts.length === 0) return `${name} present`;
    if (step === 0) return `${name} \u2264 ${short(cuts[0], 5)}`;
    if (step === cuts.length) return `${name} > ${short(cuts.at(-1), 5)}`;
    return `${short(cuts[step - 1], 5)} < ${name} \u2264 ${short(cuts[step], 5)}`;
}

function showStep(output, feature, step, chosen) {
    const parts = chosen.slice(0, 12).map((r, i) => html("span", { class: "pair" },
        html("i", { class: `swatch colour-${i % COLOURS}` }),
        `${data.classes[r]} ${signed(added(feature, step, r))}`));
    output.replaceChildren(html("b", {}, stepText(feature, step)), ...parts);
}
