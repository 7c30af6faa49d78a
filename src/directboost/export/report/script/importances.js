// How much of the model rests on every feature.

/** A list of bars; `choose`, where there is something to show, is called with a table's place. */
function importancesCard(choose) {
    const box = html("div");
    const left = data.featuresUsed - data.importances.length;
    growing(box, 20, data.importances, (some) => nameWidth(
        html("ol", { class: "bars" }, some.map((one) => importanceLine(one, choose))),
        some.map((one) => one.name), 22));
    const words = count(left, ["weaker feature is", "weaker features are"]);
    const press = choose ? " Press a name to see its steps." : "";
    return card("Importance",
        note(`The share of a feature in the sum of all weights.${press}`), box,
        left > 0 ? note(`${words} not listed.`) : null);
}

function importanceLine({ name, place, share }, choose) {
    const table = data.tables.findIndex((one) => one.place === place);
    const words = nameOf(name);
    const shown = table < 0
        ? html("span", { class: "name", title: name }, words)
        : button(words, () => choose(table), { class: "link name", title: `Show ${name}` });
    const length = bar(share, 0, data.importances[0].share || 1, "amount");
    return html("li", {}, shown, length, html("span", { class: "value" }, percent(share)));
}
