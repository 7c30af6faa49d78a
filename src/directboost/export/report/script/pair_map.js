// The heat map of a pair of features for one class.

const MISSING_HEIGHT = 26;
const MISSING_GAP = 6;
const LEGEND_STEPS = 21;

/** The cells along a feature of a pair, from pixel `from` to pixel `to`: ends, step and text. */
function cellsAlong(pair, axis, from, to, strip) {
    const feature = data.tables[pair.tables[axis]];
    const cuts = pair.thresholds[axis];
    const way = Math.sign(to - from);
    const end = feature.missing ? to - way * (strip + MISSING_GAP) : to;
    const cells = feature.levels === null
        ? numberCells(feature, cuts, scale(feature.low, feature.high, from, end))
        : levelCells(feature, cuts, from, end);
    if (feature.missing) {
        const label = feature.missingName;
        const text = `${feature.name} ${label}`;
        cells.push({ ends: [to - way * strip, to], step: cuts.length + 1, text, label });
    }
    return cells;
}

function numberCells(feature, cuts, place) {
    const edges = [feature.low, ...cuts, feature.high].map(place);
    return range(cuts.length + 1).map((step) => ({
        ends: [edges[step], edges[step + 1]], step, text: rangeText(feature.name, cuts, step),
    }));
}

/** One cell per level that the pair separates, and one for all others; two for booleans. */
function levelCells(feature, cuts, from, end) {
    const own = feature.levels.filter(([code]) => feature.boolean ||
        (cuts.includes(code - 0.5) && cuts.includes(code + 0.5)));
    const lines = own.map(([code, name]) => [name, stepAmong(cuts, code), `is ${name}`]);
    if (!feature.boolean) lines.push(["other", stepAmong(cuts, -1), "is another level"]);
    const place = scale(0, lines.length, from, end);
    return lines.map(([label, step, words], i) =>
        ({ ends: [place(i), place(i + 1)], step, text: `${feature.name} ${words}`, label }));
}

/** The largest absolute effect of a pair on any score, so that all classes have one scale. */
function largestEffect(pair, across, up) {
    const sizes = across.flatMap((x) => up.flatMap((y) =>
        range(classCount).map((r) => Math.abs(addedByPair(pair, [x.step, y.step], r)))));
    return sizes.reduce((most, size) => Math.max(most, size), 0) || 1;
}

function pairMap(width, pair, r, output) {
    effectOf(pair);
    const [first, second] = pair.tables.map((i) => data.tables[i]);
    const names = (second.levels ?? []).map(([, name]) => name.length);
    const longest = Math.max(...names, second.missing ? second.missingName.length : 5);
    const left = Math.min(7.2 * longest + 14, width * 0.3);
    const label = `Effect of ${first.name} and ${second.name} on the score of ${data.classes[r]}`;
    const turned = first.levels !== null;
    const margins = { left, top: 26, bottom: turned ? 92 : 46 };
    const height = Math.min(Math.max(width * 0.66, 260), 420) + margins.bottom - 46;
    const frame = chart(width, height, label, margins);
    const across = cellsAlong(pair, 0, frame.left, frame.right, MISSING_WIDTH);
    const up = cellsAlong(pair, 1, frame.bottom, frame.top, MISSING_HEIGHT);
    const most = largestEffect(pair, across, up);
    for (const x of across) {
        for (const y of up) {
            const value = addedByPair(pair, [x.step, y.step], r);
            frame.node.append(svg("rect", { ...boxOf(x, y), ...tint(value / most) }));
        }
    }
    drawRows(frame, pair, across, up);
    nameCells(frame, first, across, turned);
    nameCellsLeft(frame, second, up);
    const marker = svg("rect", { class: "cell-marker", width: 0, height: 0 });
    frame.node.append(marker);
    followCells(frame.node, across, up, (x, y) => {
        fill(marker, boxOf(x, y), []);
        showCell(output, pair, x, y, r);
    });
    return [frame.node, effectLegend(width, frame.left, most)];
}

function boxOf({ ends: [x0, x1] }, { ends: [y0, y1] }) {
    return { x: x0, y: y1, width: Math.max(x1 - x0, 0), height: Math.max(y0 - y1, 0) };
}

/** The colour of a share of the largest effect: blue above zero, orange below. */
function tint(share) {
    const depth = Math.min(Math.abs(share), 1);
    return { class: share < 0 ? "effect wrong" : "effect", "fill-opacity": depth.toFixed(3) };
}

/** A dot for every row of the page; those with the same value are spread over its cell. */
function drawRows(frame, pair, across, up) {
    const sides = [[across, 0.755], [up, 0.57]]; // with factors that spread the dots over the plane
    for (const row of range(rows.count)) {
        const values = valuesOf(row);
        const cell = cellOf(pair, values);
        const [cx, cy] = sides.map(([cells, factor], axis) => {
            const own = cells.find(({ step }) => step === cell[axis]);
            if (!own) return NaN; // a missing value of a feature without any in training
            const share = 0.15 + 0.7 * ((row * factor) % 1);
            if (own.label) return own.ends[0] + share * (own.ends[1] - own.ends[0]);
            const { low, high } = data.tables[pair.tables[axis]];
            const place = scale(low, high, ...endsOfNumbers(cells));
            return place(Math.min(Math.max(values[pair.tables[axis]], low), high));
        });
        if (Number.isFinite(cx + cy)) {
            frame.node.append(svg("circle", { cx, cy, r: 1.6, class: "row-dot" }));
        }
    }
}

/** The pixels between which the cells of numbers lie. */
function endsOfNumbers(cells) {
    const numbers = cells.filter((cell) => !cell.label);
    return [numbers[0].ends[0], numbers.at(-1).ends[1]];
}

function nameCells(frame, feature, cells, turned) {
    const y = frame.bottom + 17;
    const name = truncated(feature.name, Math.floor(frame.width / 9));
    const named = cells.filter((cell) => cell.label);
    for (const { ends, label } of named) {
        const x = (ends[0] + ends[1]) / 2;
        const turn = turned ? { transform: `rotate(-40 ${x} ${y - 4})`, y: y - 2 } : {};
        const style = { x, y, class: turned ? "tick end" : "tick middle", ...turn };
        frame.node.append(clipped(label, turned ? 96 : ends[1] - ends[0] + 8, style));
    }
    if (feature.levels === null) {
        const [from, to] = endsOfNumbers(cells);
        const x = scale(feature.low, feature.high, from, to);
        for (const tick of ticksOf(feature.low, feature.high, (to - from) / 70)) {
            const place = { x1: x(tick), x2: x(tick), y1: frame.bottom, y2: frame.bottom + 4 };
            frame.node.append(svg("line", { ...place, class: "axis" }),
                svg("text", { x: x(tick), y, class: "tick middle" }, short(tick)));
        }
    }
    const end = { x: frame.right, y: frame.height - 6, class: "tick end strong" };
    frame.node.append(svg("text", end, name));
}

function nameCellsLeft(frame, feature, cells) {
    const x = frame.left - 7;
    for (const { ends, label } of cells.filter((cell) => cell.label)) {
        const y = (ends[0] + ends[1]) / 2 + 4;
        frame.node.append(clipped(label, frame.left - 10, { x, y, class: "tick end" }));
    }
    if (feature.levels === null) {
        const [from, to] = endsOfNumbers(cells);
        const y = scale(feature.low, feature.high, from, to);
        for (const tick of ticksOf(feature.low, feature.high, (from - to) / 50)) {
            const place = { x1: frame.left - 4, x2: frame.left, y1: y(tick), y2: y(tick) };
            frame.node.append(svg("line", { ...place, class: "axis" }),
                svg("text", { x, y: y(tick) + 4, class: "tick end" }, short(tick)));
        }
    }
    const name = truncated(feature.name, Math.floor(frame.width / 9));
    frame.node.append(svg("text", { x: 2, y: 14, class: "tick strong" }, name));
}

/** Call `point` with the cell under the pointer, or the one selected by the arrow keys. */
function followCells(node, across, up, point) {
    const at = [0, 0];
    const go = (i, j) => {
        at[0] = Math.min(Math.max(i, 0), across.length - 1);
        at[1] = Math.min(Math.max(j, 0), up.length - 1);
        point(across[at[0]], up[at[1]]);
    };
    const nearest = (cells, pixel) => {
        const away = cells.map(({ ends }) =>
            Math.max(Math.min(...ends) - pixel, pixel - Math.max(...ends), 0));
        return away.indexOf(Math.min(...away));
    };
    const follow = (event) => {
        const box = node.getBoundingClientRect();
        go(nearest(across, event.clientX - box.left), nearest(up, event.clientY - box.top));
    };
    node.addEventListener("pointermove", follow);
    node.addEventListener("pointerdown", follow);
    node.setAttribute("tabindex", "0");
    node.addEventListener("keydown", (event) => {
        const move = {
            ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
        }[event.key];
        if (!move) return;
        event.preventDefault();
        go(at[0] + move[0], at[1] + move[1]);
    });
}

/** The values of a cell: that of the chosen class first, then those of other classes. */
function showCell(output, pair, x, y, r) {
    const value = (other) => addedByPair(pair, [x.step, y.step], other);
    const others = range(classCount)
        .filter((other) => other !== r && Math.abs(value(other)) >= 0.005)
        .sort((a, b) => Math.abs(value(b)) - Math.abs(value(a))).slice(0, 7);
    const parts = [r, ...others].map((other) => html(other === r ? "b" : "span", { class: "pair" },
        `${data.classes[other]} ${signed(value(other))}`));
    output.replaceChildren(html("b", {}, `${x.text}, ${y.text}:`), ...parts);
}

/** The colours of the heat map, from the most negative to the most positive effect. */
function effectLegend(width, left, most) {
    const long = Math.min(width - left - 60, 260);
    const node = svg("svg", {
        width, height: 40, role: "img", class: "effect-legend",
        "aria-label": `Colours from ${signed(-most)} to ${signed(most)}`,
    });
    const x = scale(-1, 1, left, left + long);
    const wide = long / LEGEND_STEPS;
    for (const i of range(LEGEND_STEPS)) {
        const share = (2 * i) / (LEGEND_STEPS - 1) - 1;
        const place = { x: left + i * wide, y: 4, width: wide, height: 12 };
        node.append(svg("rect", { ...place, ...tint(share) }));
    }
    for (const share of [-1, 0, 1]) {
        const style = { x: x(share), y: 32, class: "tick middle" };
        node.append(svg("text", style, share === 0 ? "0" : signed(share * most)));
    }
    return node;
}
