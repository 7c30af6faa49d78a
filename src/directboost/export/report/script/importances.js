// The importances of the features.

/** A list of bars; `choose`, if there are tables, is called with the index of a table. */
function importancesCard(choose) {
    const box = html("div");
    const left = data.featuresUsed - data.importances.length;
    growing(box, 20, data.importances, (some) => nameWidth(
        html("ol", { class: "bars" }, some.map((one) => importanceLine(one, choose))),
        some.map((one) => one.name), 22));
    const text = count(left, ["less important feature is", "less important features are"]);
    const press = choose ? " Select a name to see its step functions." : "";
    return card("Importance",
        note(`Share of a feature in the variance of the scores over the training rows.${press}`), box,
        left > 0 ? note(`${text} not listed.`) : null);
}

function importanceLine({ name, feature, share }, choose) {
    const table = data.tables.findIndex((one) => one.feature === feature);
    const text = nameOf(name);
    const shown = table < 0
        ? html("span", { class: "name", title: name }, text)
        : button(text, () => choose(table), { class: "link name", title: `Show ${name}` });
    const length = bar(share, 0, data.importances[0].share || 1, "amount");
    return html("li", {}, shown, length, html("span", { class: "value" }, percent(share)));
}
