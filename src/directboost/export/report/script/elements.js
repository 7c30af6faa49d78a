// Elements of the page. Text is always inserted as text, never parsed as HTML.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        const word = name.startsWith("aria-"); // true and false are strings there
        if (value === null || value === undefined || (value === false && !word)) continue;
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else node.setAttribute(name, value === true && !word ? "" : String(value));
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null));
    return node;
}

function html(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function button(text, press, attributes = {}) {
    return html("button", { type: "button", onclick: press, ...attributes }, text);
}

function labelled(text, control, attributes = {}) {
    return html("label", attributes, html("span", {}, text), control);
}

function selectOf(options, chosen, change) {
    const node = html("select", { onchange: () => change(node.value) });
    for (const [value, text] of options) {
        node.append(html("option", { value, selected: String(value) === String(chosen) }, text));
    }
    return node;
}

/** A group of buttons, one of them pressed; `options` are [value, text]. */
function choice(name, options, chosen, change) {
    const box = html("div", { class: "choice", role: "group", "aria-label": name });
    for (const [value, text] of options) {
        const press = () => {
            for (const other of box.children) other.setAttribute("aria-pressed", other === own);
            change(value);
        };
        const own = button(text, press, { "aria-pressed": value === chosen });
        box.append(own);
    }
    return box;
}

/** A section with a heading. */
function section(id, heading, ...children) {
    const node = html(
        "section",
        { id, "aria-labelledby": `${id}-heading` },
        html("h2", { id: `${id}-heading` }, heading),
        ...children,
    );
    document.getElementById("main").append(node);
    return node;
}

function card(heading, ...children) {
    return html("div", { class: "card" }, heading ? html("h3", {}, heading) : null, ...children);
}

function note(text, attributes = {}) {
    return html("p", { class: "note", ...attributes }, text);
}

/** A line of text about the element under the pointer. */
function readout(text) {
    return html("p", { class: "readout", "aria-live": "polite" }, text);
}

/** Redraw a box whenever its width changes; returns a function that redraws it. */
function drawn(box, draw) {
    let width = 0;
    const again = () => {
        if (width > 0) box.replaceChildren(...[draw(width)].flat());
    };
    new ResizeObserver((entries) => {
        const now = Math.round(entries[0].contentRect.width);
        if (now === width || now === 0) return;
        width = now;
        again();
    }).observe(box);
    return again;
}

/** A name that loses its middle if space is scarce, since both ends identify it. */
function nameOf(text, end = "") {
    const tail = text.length > 14 ? 7 : 0;
    const cut = text.length - tail;
    return [
        html("span", { class: "head" }, text.slice(0, cut)),
        html("span", { class: "tail" }, text.slice(cut) + end),
    ];
}

function moreText(left, step) {
    return left > step ? `Show ${step} more of ${left}` : `Show ${left} more`;
}

/** Set the width of a column of names in the style of its container. */
function nameWidth(node, names, most) {
    const longest = Math.max(...names.map((name) => name.length));
    node.style.setProperty("--name", `${Math.min(longest + 1, most)}ch`);
    return node;
}

/** A list that shows its first `count` items, with a button for more. */
function growing(box, count, items, make) {
    let shown = Math.min(count, items.length);
    const more = button("", () => {
        shown = Math.min(items.length, shown + 10 * count);
        draw();
    }, { class: "quiet more" });
    const draw = () => {
        const left = items.length - shown;
        more.textContent = moreText(left, 10 * count);
        box.replaceChildren(make(items.slice(0, shown)), ...(left > 0 ? [more] : []));
    };
    draw();
}
