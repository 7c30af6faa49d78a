// The right half of "What if": the scores and the contributions of the features.

const FIRST_SCORES = 12;
const FIRST_PARTS = 12;

function drawScores() {
    const scores = scoresOf(what.row, what.values);
    const shares = probabilitiesOf(scores);
    const ends = padded([0, ...scores, ...what.before], 0.02);
    const shown = range(classCount).sort((a, b) => scores[b] - scores[a]).filter((r, place) =>
        what.all || place < FIRST_SCORES || trueClasses().includes(r));
    const lines = shown.map((r) => scoreLine(r, scores[r], shares[r], ends));
    const list = html("div", { class: "score-list" }, lines);
    const left = classCount - shown.length;
    const more = button(`Show ${left} more`, () => {
        what.all = true;
        drawScores();
    }, { class: "quiet more" });
    document.getElementById("scores").replaceChildren(
        verdict(scores),
        nameWidth(list, shown.map((r) => data.classes[r]), 20),
        left > 0 ? more : "",
    );
}

/** The true class of the row, or its labels, as a list. */
function trueClasses() {
    return [rows.actual[what.row]].flat();
}

function verdict(scores) {
    const predicted = predictedClasses(scores);
    const correct = String(predicted) === String(trueClasses());
    const truth = ["; the true ", data.classNoun[trueClasses().length === 1 ? 0 : 1],
        trueClasses().length === 1 ? " is " : " are ", html("b", {}, namesOf(trueClasses())), "."];
    return html("p", { class: "verdict", "aria-live": "polite" },
        "The model predicts ", html("b", {}, namesOf(predicted)),
        correct ? ", which is correct." : truth);
}

function scoreLine(r, score, share, [low, high]) {
    const track = bar(score, low, high, r === what.r ? "amount chosen" : "amount");
    const ghost = html("i", { class: "ghost" });
    ghost.style.left = `${(100 * (what.before[r] - low)) / (high - low || 1)}%`;
    track.append(ghost);
    const numbers = { "data-class": r, "data-score": score, "data-probability": share };
    return html("div", { class: "score", ...numbers }, scoreName(r), track,
        html("span", { class: "value" }, signed(score)),
        html("span", { class: "value chance" }, percent(share)));
}

function scoreName(r) {
    const title = data.classes[r];
    if (data.tables.length === 0) return html("span", { class: "name", title }, nameOf(title));
    const press = () => {
        if (what.other === r) what.other = what.r;
        what.r = r;
        drawWhatIf();
    };
    const state = { "aria-pressed": r === what.r, title };
    return button(nameOf(title), press, { class: "link name", ...state });
}

function partOf(i, r) {
    return added(data.tables[i], stepOf(data.tables[i], what.values[i]), r);
}

function pairPart(pair, r) {
    return addedByPair(pair, cellOf(pair, what.values), r);
}

/** A value for the chosen class minus the value for the class it is compared with. */
function difference(value) {
    return value(what.r) - (what.other === null ? 0 : value(what.other));
}

function drawParts() {
    const ofFeatures = range(data.tables.length)
        .map((i) => ({ tables: [i], value: difference((r) => partOf(i, r)) }));
    const ofPairs = data.pairs.map((pair) =>
        ({ tables: pair.tables, value: difference((r) => pairPart(pair, r)) }));
    const parts = [...ofFeatures, ...ofPairs]
        .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const shown = parts.slice(0, FIRST_PARTS);
    const rest = parts.slice(FIRST_PARTS).filter((part) => part.value !== 0);
    const base = difference((r) => baseOf(what.row, r));
    const other = rest.reduce((sum, part) => sum + part.value, 0);
    const ends = padded([0, base, other, ...shown.map((part) => part.value)], 0.02);
    const lines = shown.map((part) => namedPart(part, ends));
    if (rest.length > 0) {
        const others = partNouns.map((noun) => `other ${noun}`);
        lines.push(partLine(count(rest.length, others), other, ends));
    }
    const constant = rows.sameBase ? "intercept" : `intercept and ${partNouns[1]} without table`;
    lines.push(partLine(constant, base, ends));
    const sum = base + parts.reduce((total, part) => total + part.value, 0);
    document.getElementById("parts").replaceChildren(
        partsHead(),
        html("div", { class: "part-list" }, lines),
        html("p", { class: "sum" }, "Sum ", html("b", {}, signed(sum))),
    );
}

/** The line of a feature, with its value, or of a pair of features. */
function namedPart({ tables, value }, ends) {
    const features = tables.map((i) => data.tables[i]);
    const settings = tables.map((i) => valueText(data.tables[i], what.values[i]));
    const words = features.map(({ name }, axis) => `${name} = ${settings[axis]}`);
    const text = tables.length > 1 ? pairName({ tables })
        : nameOf(features[0].name, ` = ${truncated(settings[0], 14)}`);
    return partLine(text, value, ends, {
        class: tables.some(changed) ? "part changed" : "part",
        [tables.length > 1 ? "data-pair" : "data-feature"]:
            features.map(({ feature }) => feature).join(" "),
        title: words.join(", "),
    });
}


function partLine(text, value, [low, high], attributes = { class: "part rest" }) {
    return html("div", { ...attributes, "data-value": value },
        html("span", { class: "name" }, text),
        bar(value, low, high, value < 0 ? "amount against" : "amount for"),
        html("span", { class: "value" }, signed(value)));
}

/** The choice of a score and of the score that is subtracted from it. */
function partsHead() {
    const names = data.classes.map((name, r) => [r, truncated(name, 28)]);
    const others = [["", "nothing"], ...names.filter(([r]) => r !== what.r)];
    const chooser = (key, options) => selectOf(options, what[key] ?? "", (value) => {
        what[key] = value === "" ? null : Number(value);
        if (what.other === what.r) what.other = null;
        drawWhatIf();
    });
    return html("div", { class: "tools" }, labelled("Score of", chooser("r", names)),
        labelled("minus that of", chooser("other", others)));
}
