// The model: the same tables as in Python, and the scores computed from them.

const data = JSON.parse(document.getElementById("data").textContent);
const classCount = data.classes.length;

/** The table of a feature, unpacked at its first use: one row per step, then one for missing. */
function tableOf(feature) {
    if (!feature.table) {
        feature.thresholds = floatsOf(feature.cuts);
        const steps = feature.thresholds.length + 1;
        const table = matrixOf(feature.jumps, steps + 1);
        for (let i = classCount; i < steps * classCount; i += 1) table[i] += table[i - classCount];
        feature.table = table;
    }
    return feature.table;
}

function stepsOf(feature) {
    tableOf(feature);
    return feature.thresholds.length + 1;
}

/** The table row of a value: the number of thresholds below it, or the last row if missing. */
function stepOf(feature, x) {
    tableOf(feature);
    return stepAmong(feature.thresholds, x);
}

function stepAmong(cuts, x) {
    if (Number.isNaN(x)) return cuts.length + 1;
    let low = 0;
    let high = cuts.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (cuts[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

function added(feature, step, r) {
    return tableOf(feature)[step * classCount + r];
}

/** The effect of a pair of features, unpacked at its first use: one row per step of the first. */
function effectOf(pair) {
    if (!pair.effect) {
        pair.thresholds = pair.cuts.map(floatsOf);
        const [rows, columns] = pair.thresholds.map((cuts) => cuts.length + 2);
        const table = matrixOf(pair.jumps, rows * columns);
        const wide = columns * classCount;
        for (let i = wide; i < (rows - 1) * wide; i += 1) table[i] += table[i - wide];
        for (let row = 0; row < rows; row += 1) {
            const first = row * wide + classCount;
            const end = (row + 1) * wide - classCount; // the last column is not a sum
            for (let i = first; i < end; i += 1) table[i] += table[i - classCount];
        }
        pair.effect = table;
    }
    return pair.effect;
}

/** What a pair adds to a score, in a cell that is given by its row and its column. */
function addedByPair(pair, [row, column], r) {
    const effect = effectOf(pair);
    return effect[(row * (pair.thresholds[1].length + 2) + column) * classCount + r];
}

/** The cell of a pair for the values of the features with tables. */
function cellOf(pair, values) {
    effectOf(pair);
    return pair.tables.map((i, axis) => stepAmong(pair.thresholds[axis], values[i]));
}

/** A value in the middle of a step, or slightly outside the thresholds for the outer steps. */
function valueIn(feature, step) {
    const cuts = feature.thresholds;
    if (cuts.length === 0) return 0;
    const wide = cuts.length > 1 ? (cuts.at(-1) - cuts[0]) / cuts.length : Math.abs(cuts[0]) || 1;
    if (step === 0) return Math.min(cuts[0], (feature.low + cuts[0]) / 2, cuts[0] - wide * 1e-3);
    if (step === cuts.length) {
        return Math.max((feature.high + cuts.at(-1)) / 2, cuts.at(-1) + wide * 1e-3);
    }
    const middle = (cuts[step - 1] + cuts[step]) / 2;
    return middle > cuts[step - 1] ? middle : cuts[step];
}

/** The range of the contributions of a feature to the score of every class. */
function spans(feature) {
    const steps = stepsOf(feature) + (feature.missing ? 1 : 0);
    return data.classes.map((_, r) => {
        const values = range(steps).map((step) => added(feature, step, r));
        return Math.max(...values) - Math.min(...values);
    });
}

const rows = {
    ...data.rows,
    values: floatsOf(data.rows.values),
    base: floatsOf(data.rows.base),
    count: data.rows.indices.length,
};

function baseOf(row, r) {
    return rows.base[(rows.sameBase ? 0 : row * classCount) + r];
}

function valuesOf(row) {
    const width = data.tables.length;
    return rows.values.slice(row * width, (row + 1) * width);
}

function scoresOf(row, values) {
    const scores = data.classes.map((_, r) => {
        let score = baseOf(row, r);
        data.tables.forEach((feature, i) => {
            score += added(feature, stepOf(feature, values[i]), r);
        });
        return score;
    });
    for (const pair of data.pairs) {
        const cell = cellOf(pair, values);
        scores.forEach((_, r) => { scores[r] += addedByPair(pair, cell, r); });
    }
    return scores;
}

function probabilitiesOf(scores) {
    const { logistic, factor } = data.probabilities;
    if (logistic) return scores.map((score) => 1 / (1 + Math.exp(-factor * score)));
    const top = Math.max(...scores);
    const exponentials = scores.map((score) => Math.exp(factor * (score - top)));
    const sum = exponentials.reduce((a, b) => a + b, 0);
    return exponentials.map((one) => one / sum);
}

/** The class with the largest score; of labels, all with a positive score. */
function predictedClasses(scores) {
    if (data.several) return range(classCount).filter((r) => scores[r] > 0);
    return [scores.indexOf(Math.max(...scores))];
}

function namesOf(places) {
    const listed = [places].flat().map((r) => data.classes[r]);
    return listed.length > 0 ? listed.join(", ") : "none";
}
