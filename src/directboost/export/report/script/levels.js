// Contributions of the levels of a category: one line per level, one dot per class.

const MOST_LEVELS = 40;
const LEVEL_HEIGHT = 26;

/** The levels in rules, the largest contributions first, then other levels, then missing. */
function levelLines(feature) {
    const steps = stepsOf(feature);
    const reach = ([, step]) =>
        Math.max(...range(classCount).map((r) => Math.abs(added(feature, step, r))));
    const lines = feature.levels
        .filter(([code]) => feature.boolean || hasOwnStep(feature, code))
        .map(([code, name]) => [name, stepOf(feature, code)])
        .sort((a, b) => reach(b) - reach(a))
        .slice(0, MOST_LEVELS);
    if (!feature.boolean) lines.push(["other levels", stepOf(feature, -1)]);
    if (feature.missing) lines.push([feature.missingName, steps]);
    return lines;
}

function hasOwnStep(feature, code) {
    return feature.thresholds.includes(code - 0.5) && feature.thresholds.includes(code + 0.5);
}

function levelChart(width, feature, chosen) {
    const lines = levelLines(feature);
    const longest = Math.max(...lines.map(([name]) => name.length));
    const left = Math.min(7.2 * longest + 16, width * 0.38);
    const label = `Contributions of the levels of ${feature.name} to the scores`;
    const frame = chart(width, LEVEL_HEIGHT * lines.length + 52, label, { left });
    const amounts = lines.flatMap(([, step]) => chosen.map((r) => added(feature, step, r)));
    const [low, high] = padded([0, ...amounts]);
    const x = scale(low, high, frame.left, frame.right);
    const zero = { x1: x(0), x2: x(0), y1: frame.top, y2: frame.bottom };
    frame.node.append(svg("line", { ...zero, class: "zero" }));
    lines.forEach((line, place) => {
        const y = frame.top + LEVEL_HEIGHT * (place + 0.5);
        drawLevel(frame, feature, line, chosen, { x, y });
    });
    axisBelow(frame, x, ticksOf(low, high, width / 90), "contribution to the score");
    return frame.node;
}

function drawLevel(frame, feature, [name, step], chosen, { x, y }) {
    const { left, right } = frame;
    frame.node.append(
        svg("line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }),
        clipped(name, left - 14, { x: left - 8, y: y + 4, class: "tick end" }),
    );
    chosen.forEach((r, i) => {
        const value = added(feature, step, r);
        const style = `dot soft colour-${i % COLOURS}`;
        frame.node.append(svg("circle", { cx: x(value), cy: y, r: 5.5, class: style },
            svg("title", {}, `${name}: ${data.classes[r]} ${signed(value)}`)));
    });
}
