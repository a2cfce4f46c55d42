"""The colours of the page and of the charts, for light and dark."""

# Each name is a CSS variable. No two light colours are the same: charts are drawn in them, and the
# page replaces them by the variables. All reach a contrast of 4.5 as text on page and panel.
LIGHT = {
    "page": "#ffffff",
    "panel": "#f4f6f9",
    "text": "#1d2430",
    "quiet": "#566070",
    "grid": "#d8dde5",
    "good": "#1a6b35",
    "bad": "#b3261e",
    "link": "#1f4fb8",
    "side1": "#b34a12",
    "side2": "#2457c5",
    "side3": "#5f6975",
    "side4": "#8a2a8f",
    "side5": "#0b7261",
    "side6": "#86650a",
}
DARK = {
    "page": "#12161d",
    "panel": "#1a202a",
    "text": "#e4e8ee",
    "quiet": "#9aa5b4",
    "grid": "#333c49",
    "good": "#7fd696",
    "bad": "#ff8a80",
    "link": "#8fb2ff",
    "side1": "#f0944d",
    "side2": "#7ea6ff",
    "side3": "#a4afbd",
    "side4": "#dd8fe2",
    "side5": "#5fcdb9",
    "side6": "#d9b64e",
}
SIDES = [LIGHT[f"side{number}"] for number in range(1, 7)]
TEXT, QUIET, GRID = LIGHT["text"], LIGHT["quiet"], LIGHT["grid"]
