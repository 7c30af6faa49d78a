// What the pictures share: scales, axes and colours.

const COLOURS = 8;
const DASHES = [null, "7 4", "2 4", "9 3 2 3"];

/** Colour and dash of the i-th line: 32 that differ. */
function lineStyle(i) {
    return {
        class: `line colour-${i % COLOURS}`,
        "stroke-dasharray": DASHES[Math.floor(i / COLOURS) % DASHES.length],
    };
}

function scale(low, high, from, to) {
    const factor = high > low ? (to - from) / (high - low) : 0;
    return (x) => from + (x - low) * factor;
}

/** An empty picture with room for axes, and its inner size. */
function picture(width, height, words, room = {}) {
    const inner = { left: 46, right: 12, top: 10, bottom: 42, ...room };
    const node = svg("svg", {
        width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words,
    });
    const [right, bottom] = [width - inner.right, height - inner.bottom];
    return { ...inner, node, width, height, right, bottom };
}

function axisBelow(frame, x, ticks, words, format = short) {
    const { left, right, bottom } = frame;
    for (const tick of ticks) {
        const place = { x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4 };
        frame.node.append(
            svg("line", { ...place, class: "axis" }),
            svg("text", { x: x(tick), y: bottom + 17, class: "tick middle" }, format(tick)),
        );
    }
    frame.node.append(
        svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }),
        svg("text", { x: right, y: bottom + 36, class: "tick end strong" }, words),
    );
}

function axisLeft(frame, y, ticks, format = short) {
    const { left, right } = frame;
    for (const tick of ticks) {
        const place = { x1: left, x2: right, y1: y(tick), y2: y(tick) };
        frame.node.append(
            svg("line", { ...place, class: tick === 0 ? "zero" : "grid" }),
            svg("text", { x: left - 7, y: y(tick) + 4, class: "tick end" }, format(tick)),
        );
    }
}

function pathOf(points) {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)},${y.toFixed(2)}`).join("");
}

/** The values with a little room above and below. */
function padded(values, share = 0.06) {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const room = (high - low) * share || Math.abs(high) * share || 1;
    return [low - room, high + room];
}

/** Text cut to so many pixels, about; the whole of it is in the title of the element. */
function clipped(words, pixels, attributes) {
    const most = Math.max(Math.floor(pixels / 7.1), 2);
    const shown = middleOut(words, most);
    return svg("text", attributes, shown, shown === words ? null : svg("title", {}, words));
}

/** A cell of a heat map, deeper for more; it tells its words where it is pointed at. */
function heatCell(place, good, depth, words, told) {
    return svg("rect", {
        ...place,
        class: good ? "heat" : "heat wrong",
        "fill-opacity": (0.1 + 0.9 * Math.sqrt(depth)).toFixed(3),
        onpointerenter: () => { told.textContent = words; },
    }, svg("title", {}, words));
}

/** A box with a bar to either side of zero; ends are shares of its width. */
function bar(value, low, high, style) {
    const x = (v) => (100 * (v - low)) / (high - low || 1);
    const own = html("i", { class: style });
    own.style.left = `${x(Math.min(value, 0))}%`;
    own.style.width = `${Math.abs(x(value) - x(0))}%`;
    const zero = html("i", { class: "zero-mark" });
    zero.style.left = `${x(0)}%`;
    return html("span", { class: "track", "aria-hidden": "true" }, own, zero);
}
