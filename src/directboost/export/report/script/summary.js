// The first screen: the model, its error and its certificate.

function showSummary() {
    document.getElementById("kind").textContent = data.kind;
    document.getElementById("figures").append(
        qualityFigure(), learnersFigure(), featuresFigure(), gapFigure() ?? "");
    showProof();
}

function figure(value, text, more) {
    const details = more ? html("small", {}, more) : null;
    return html("div", { class: "figure" }, html("b", {}, value), html("span", {}, text), details);
}

function qualityFigure() {
    const q = data.quality;
    const wrong = `${q.wrong.toLocaleString("en")} of ${count(q.rows, ["row", "rows"])}`;
    if (data.several) {
        const more = `${wrong} with at least one wrong label`;
        return figure(percent(q.labelError), `label error${onRows(" on ")}`, more);
    }
    const guess = percent(q.mostCommonWrong / q.rows);
    const more = `${wrong} wrong; most common class: ${guess}`;
    return figure(percent(q.wrong / q.rows), `error${onRows(" on ")}`, more);
}

/** The name of the rows that the quality is computed on after some words, if they have one. */
function onRows(words) {
    const [, several] = data.quality.noun;
    return several === "rows" ? "" : words + several;
}

function learnersFigure() {
    const average = short(data.classesPerRule, 2);
    const text = data.learnerNoun[data.learners === 1 ? 0 : 1];
    const more = data.classesPerRule === null ? null
        : `used by ${average} of ${classCount} ${data.classNoun[1]} on average`;
    return figure(data.learners.toLocaleString("en"), text, more);
}

function featuresFigure() {
    const text = data.featuresUsed === 1 ? "feature used" : "features used";
    const more = `of ${data.features.toLocaleString("en")} in the data`;
    return figure(data.featuresUsed.toLocaleString("en"), text, more);
}

function gapFigure() {
    const c = data.certificate;
    if (!c) return null;
    const more = `of the objective that models over ${c.dictionary} can reduce`;
    return figure(percent(c.relativeGap, 2), "certified gap", more);
}

function showProof() {
    const box = document.getElementById("proof-box");
    box.classList.add(data.certificate?.converged ? "proved" : "open");
    box.prepend(html("strong", {}, data.proofState));
    if (data.defaultNames && data.importances.length > 0) {
        box.after(note("The features have no names: x0 is the first column of X, x1 the second, " +
            "and so on."));
    }
}
