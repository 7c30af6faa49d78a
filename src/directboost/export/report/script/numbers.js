// Formatting of numbers and names, and decoding of base 64.

const MINUS = "\u2212";

function short(x, digits = 3) {
    if (x === null || Number.isNaN(x)) return "\u2013";
    if (x === 0) return "0";
    const size = Math.abs(x);
    const plain = size >= 1e-4 && size < 1e6;
    const text = plain
        ? String(Number(x.toPrecision(Math.max(digits, Math.ceil(Math.log10(size))))))
        : x.toExponential(digits - 1);
    return text.replace("-", MINUS);
}

function signed(x) {
    const text = x.toFixed(Math.abs(x) < 10 ? 2 : 1).replace("-", MINUS);
    return x > 0 ? `+${text}` : text;
}

function percent(x, digits = 1) {
    return x === null ? "\u2013" : `${(100 * x).toFixed(digits)}\u00a0%`;
}

/** Text of at most `most` characters; long text loses its middle, since both ends identify it. */
function truncated(text, most) {
    if (text.length <= most) return text;
    const tail = Math.floor((most - 1) * 0.45);
    return `${text.slice(0, most - 1 - tail)}\u2026${text.slice(text.length - tail)}`;
}

function count(number, [one, several]) {
    return `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
}

function bytesOf(text) {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}

function floatsOf(text) {
    return new Float64Array(bytesOf(text));
}

/** A matrix (rows, width) from its non-zero entries and their indices. */
function matrixOf(packed, rows) {
    const values = new Float64Array(rows * packed.width);
    const indices = new Uint32Array(bytesOf(packed.indices));
    const entries = floatsOf(packed.values);
    indices.forEach((index, i) => { values[index] = entries[i]; });
    return values;
}

function range(n) {
    return Array.from({ length: n }, (_, i) => i);
}

/** About `about` round numbers between two ends. */
function ticksOf(low, high, about) {
    const rough = (high - low) / Math.max(about, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return range(Math.max(last - first + 1, 0))
        .map((i) => Number(((first + i) * step).toPrecision(12)));
}
