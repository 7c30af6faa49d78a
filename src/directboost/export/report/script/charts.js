// Helpers of all charts: scales, axes and colours.

const COLOURS = 8;
const DASHES = [null, "7 4", "2 4", "9 3 2 3"];

/** Colour and dash of line i: 32 different styles. */
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

/** An empty chart with margins for the axes. */
function chart(width, height, label, margins = {}) {
    const inner = { left: 46, right: 12, top: 10, bottom: 42, ...margins };
    const node = svg("svg", {
        width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label,
    });
    const [right, bottom] = [width - inner.right, height - inner.bottom];
    return { ...inner, node, width, height, right, bottom };
}

function axisBelow(frame, x, ticks, label, format = short) {
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
        svg("text", { x: right, y: bottom + 36, class: "tick end strong" }, label),
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

/** The range of the values with a margin on both sides. */
function padded(values, share = 0.06) {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const margin = (high - low) * share || Math.abs(high) * share || 1;
    return [low - margin, high + margin];
}

/** Text truncated to about `pixels`; the title of the element is the complete text. */
function clipped(text, pixels, attributes) {
    const most = Math.max(Math.floor(pixels / 7.1), 2);
    const shown = truncated(text, most);
    return svg("text", attributes, shown, shown === text ? null : svg("title", {}, text));
}

/** A cell of a heat map, darker for larger values; its text is shown when pointed at. */
function heatCell(place, good, depth, text, output) {
    return svg("rect", {
        ...place,
        class: good ? "heat" : "heat wrong",
        "fill-opacity": (0.1 + 0.9 * Math.sqrt(depth)).toFixed(3),
        onpointerenter: () => { output.textContent = text; },
    }, svg("title", {}, text));
}

/** A box with a bar that starts at zero, within the range from low to high. */
function bar(value, low, high, style) {
    const x = (v) => (100 * (v - low)) / (high - low || 1);
    const own = html("i", { class: style });
    own.style.left = `${x(Math.min(value, 0))}%`;
    own.style.width = `${Math.abs(x(value) - x(0))}%`;
    const zero = html("i", { class: "zero-mark" });
    zero.style.left = `${x(0)}%`;
    return html("span", { class: "track", "aria-hidden": "true" }, own, zero);
}
