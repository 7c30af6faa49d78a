// The pairs of features: a list of the strongest ones, and the heat map of one of them.

const FIRST_PAIRS = 12;
const PAIR_NAME = 24;
const MOST_IN_LIST = 400;
const PAIR_HINT = "Point at a cell, or use the arrow keys, to read its values.";

/** The cards of the pairs, or null if the model has none. */
function pairCards() {
    const left = data.pairsLeftOut;
    if (data.pairs.length === 0) {
        const text = count(left, ["pair of features has", "pairs of features have"]);
        return left > 0 ? note(`${text} no table on this page, to limit its size.`) : null;
    }
    const map = pairMapCard();
    return html("div", { class: "columns narrow-left", id: "pairs" },
        pairListCard(map.choose), map.node);
}

function pairText(pair) {
    return pair.tables.map((i) => data.tables[i].name).join(" \u00d7 ");
}

/** The names of two features in about 26 characters; a short name leaves space for a long one. */
function pairName({ tables }) {
    const names = tables.map((i) => data.tables[i].name);
    const shown = names.map((name, axis) =>
        truncated(name, Math.max(PAIR_NAME / 2, PAIR_NAME - names[1 - axis].length)));
    return html("span", { class: "head" }, shown.join(" \u00d7 "));
}

function pairListCard(choose) {
    const box = html("div");
    const [one] = data.classNoun;
    const weak = count(data.pairsLeftOut, ["weaker pair has", "weaker pairs have"]);
    growing(box, FIRST_PAIRS, data.pairs.map((pair, i) => [pair, i]), (some) => nameWidth(
        html("ol", { class: "bars" }, some.map(([pair, i]) => pairLine(pair, i, choose))),
        some.map(([pair]) => pairText(pair)), 26));
    return card("Pairs of features",
        note("Typical effect of a pair on the scores: the root of the sum of the variances for " +
            `each ${one}. The effects of the two features on their own are not included. Select ` +
            "a pair to see its heat map."), box,
        data.pairsLeftOut > 0 ? note(`${weak} no table on this page, to limit its size.`) : null);
}

function pairLine(pair, i, choose) {
    const text = pairText(pair);
    const length = bar(pair.strength, 0, data.pairs[0].strength || 1, "amount");
    return html("li", {},
        button(pairName(pair), () => choose(i), { class: "link name", title: `Show ${text}` }),
        length, html("span", { class: "value" }, short(pair.strength)));
}

/** The class on whose score a pair has the largest effect. */
function mostAffected(pair) {
    const deviations = floatsOf(pair.deviations);
    return deviations.indexOf(Math.max(...deviations));
}

function pairMapCard() {
    const state = { pair: data.pairs[0], r: mostAffected(data.pairs[0]) };
    const box = html("div", { class: "chart", id: "pair-map" });
    const output = readout("");
    const about = note("");
    const redraw = drawn(box, (width) => pairMap(width, state.pair, state.r, output));
    const show = () => {
        const deviation = floatsOf(state.pair.deviations)[state.r];
        output.textContent = PAIR_HINT;
        about.textContent = deviation === 0 ? "The pair has no effect on this score."
            : `${count(state.pair.rules, ["rule", "rules"])}; standard deviation of the effect ` +
              `${short(deviation)}. Blue adds to the score, orange subtracts from it. The dots ` +
              "are the rows below in “What if”.";
        redraw();
    };
    const setClass = (r) => {
        state.r = r;
        show();
    };
    const classes = selectOf(data.classes.map((name, r) => [r, truncated(name, 28)]), state.r,
        (value) => setClass(Number(value)));
    classes.id = "pair-class";
    const choose = (i) => {
        state.pair = data.pairs[i];
        picker.value = i;
        classes.value = mostAffected(state.pair);
        setClass(Number(classes.value));
        intoView(node);
    };
    const options = data.pairs.slice(0, MOST_IN_LIST)
        .map((pair, i) => [i, truncated(pairText(pair), 44)]);
    const picker = selectOf(options, 0, (value) => choose(Number(value)));
    picker.id = "pair";
    const noun = data.classNoun[0];
    const tools = html("div", { class: "tools" }, labelled("Pair", picker),
        labelled(noun[0].toUpperCase() + noun.slice(1), classes));
    const node = card("Effect of a pair on a score", tools, box, output, about);
    show();
    return { node, choose };
}
