// Assembles the page.

const SECTION_NAMES = {
    overview: "Overview", proof: "Certificate", quality: "Quality", features: "Features",
    sharing: "Sharing", "what-if": "What if",
};

function showNavigation() {
    const links = new Map();
    const bar = document.getElementById("navigation");
    for (const node of document.querySelectorAll("main > section")) {
        const link = html("a", { href: `#${node.id}` }, SECTION_NAMES[node.id]);
        links.set(node, link);
        bar.append(link);
    }
    const watch = new IntersectionObserver((entries) => {
        for (const entry of entries) {
            if (!entry.isIntersecting) continue;
            for (const link of links.values()) link.removeAttribute("aria-current");
            const link = links.get(entry.target);
            link.setAttribute("aria-current", "true");
            bar.scrollTo({ left: link.offsetLeft - bar.offsetLeft - 60 });
        }
    }, { rootMargin: "-20% 0px -70% 0px" });
    for (const node of links.keys()) watch.observe(node);
}

function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    const other = theme === "dark" ? "Light" : "Dark";
    const node = document.getElementById("theme");
    node.textContent = other;
    node.setAttribute("aria-label", `${other} colours`);
}

function watchTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    setTheme(dark.matches ? "dark" : "light");
    dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
    document.getElementById("theme").addEventListener("click", () => {
        setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    });
}

function showFooter() {
    const maker = `Written by directboost ${data.version}. The page is a single file and loads no ` +
        "other resources.";
    document.getElementById("footer").append(html("p", {}, data.setting), html("p", {}, maker));
}

watchTheme();
showSummary();
showConvergence();
showQuality();
showFeatures();
showSharing();
showWhatIf();
showNavigation();
showFooter();
