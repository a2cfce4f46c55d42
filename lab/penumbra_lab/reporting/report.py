"""Writes a report in the format that the name of its file asks for."""

from pathlib import Path

from penumbra_lab.analysis.comparison import Comparison
from penumbra_lab.errors import LabError
from penumbra_lab.reporting.charts import Chart, png
from penumbra_lab.reporting.content import Content, report_content
from penumbra_lab.reporting.markdown import render_markdown
from penumbra_lab.reporting.page import render_page


def write_report(comparison: Comparison, path: Path) -> None:
    write_content(report_content(comparison), path, comparison)


def write_content(content: Content, path: Path, comparison: Comparison | None = None) -> None:
    """The page of a comparison has its data, too."""
    try:
        match path.suffix:
            case ".html":
                path.write_text(render_page(content, comparison), encoding="utf-8")
            case ".png":
                path.write_bytes(png(_charts(content)))
            case ".md":
                _write_markdown(content, path)
            case suffix:
                raise LabError(f"{path}: {suffix or 'no suffix'} is none of .html, .md and .png")
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None


def _charts(content: Content) -> list[Chart]:
    charts = [chart for section in content.sections for chart in section.charts]
    if not charts:
        raise LabError("the result has no samples to draw")
    return charts


def _write_markdown(content: Content, path: Path) -> None:
    pictures = {}
    charts = [chart for section in content.sections for chart in section.charts]
    for number, chart in enumerate(charts, 1):
        picture = path.with_name(f"{path.stem}-{number}.png")
        picture.write_bytes(png([chart]))
        pictures[chart] = picture.name
    path.write_text(render_markdown(content, pictures), encoding="utf-8")
