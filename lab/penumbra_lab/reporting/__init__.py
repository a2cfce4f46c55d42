"""Shows results: words, terminal, Markdown, charts, the HTML page."""
