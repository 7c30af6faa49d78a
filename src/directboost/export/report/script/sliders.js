// Controls that change the values of a row: a slider with one position per step, a number, a
// level. A control has a node, and `show`, which updates it to a value without replacing it.

function controlOf(feature, own, change) {
    if (feature.levels !== null) return levelControl(feature, own, change);
    const parts = [sliderOf(feature, own, change), fieldOf(feature, change)];
    if (feature.missing || Number.isNaN(own)) parts.push(absenceOf(feature, own, change));
    return {
        node: html("div", { class: "control" }, parts.map((part) => part.node)),
        show: (now) => { for (const part of parts) part.show(now); },
    };
}

function sliderOf(feature, own, change) {
    const last = stepsOf(feature) - 1;
    const ends = { min: 0, max: last, step: 1 };
    const node = html("input", { type: "range", ...ends, "aria-label": feature.name });
    // The slider sets the original value at its step, and the middle of all other steps.
    node.addEventListener("input", () => {
        const place = Number(node.value);
        change(stepOf(feature, own) === place ? own : valueIn(feature, place));
    });
    const show = (now) => {
        const step = stepOf(feature, now);
        node.setAttribute("aria-valuetext", stepText(feature, step));
        node.disabled = step > last || last === 0;
        if (step <= last) node.value = step;
    };
    return { node, show };
}

function fieldOf(feature, change) {
    const label = `${feature.name}, as a number`;
    const node = html("input", { type: "number", step: "any", "aria-label": label });
    node.addEventListener("change", () => {
        if (node.value !== "" && Number.isFinite(Number(node.value))) change(Number(node.value));
    });
    const show = (now) => {
        node.disabled = Number.isNaN(now);
        node.value = Number.isNaN(now) ? "" : Number(now.toPrecision(6));
    };
    return { node, show };
}

function absenceOf(feature, own, change) {
    const box = html("input", { type: "checkbox", "aria-label": `${feature.name} is missing` });
    box.addEventListener("change", () => {
        const present = Number.isNaN(own) ? valueIn(feature, 0) : own;
        change(box.checked ? NaN : present);
    });
    return {
        node: html("label", { class: "absent" }, box, html("span", {}, "missing")),
        show: (now) => { box.checked = Number.isNaN(now); },
    };
}

function levelControl(feature, own, change) {
    const options = [...feature.levels, ...(feature.boolean ? [] : [[-1, "other level"]])];
    if (feature.missing || Number.isNaN(own)) options.push(["", `${feature.missingName} or unknown`]);
    const list = selectOf(options, own, (value) => change(value === "" ? NaN : Number(value)));
    list.setAttribute("aria-label", feature.name);
    return {
        node: html("div", { class: "control" }, list),
        show: (now) => { list.value = Number.isNaN(now) ? "" : String(now); },
    };
}

/**
 * The contribution of a feature and of its pairs, with the current values of all other features:
 * chosen class minus the class it is compared with.
 */
function sparkline(i, now) {
    const feature = data.tables[i];
    const steps = stepsOf(feature);
    const heights = range(steps).map((step) => difference((r) => added(feature, step, r)));
    const values = what.values.slice();
    for (const pair of data.pairs.filter(({ tables }) => tables.includes(i))) {
        for (const step of range(steps)) {
            values[i] = valueIn(feature, step);
            const cell = cellOf(pair, values);
            heights[step] += difference((r) => addedByPair(pair, cell, r));
        }
    }
    const [low, high] = padded([...heights, 0], 0.1);
    const x = scale(0, steps, 0, 120);
    const y = scale(low, high, 26, 2);
    const points = heights.flatMap((height, step) =>
        [step, step + 1].map((edge) => [x(edge), y(height)]));
    const step = stepOf(feature, now);
    const own = { x: x(step), y: 0, width: step < steps ? x(1) : 0, height: 28 };
    return svg("svg", {
        viewBox: "0 0 120 28", preserveAspectRatio: "none", class: "sparkline", "aria-hidden": true,
    },
    svg("rect", { ...own, class: "marker" }),
    svg("line", { x1: 0, x2: 120, y1: y(0), y2: y(0), class: "zero" }),
    svg("path", { d: pathOf(points), class: "line colour-0" }));
}
