"""Formulas as MathML, which browsers show by themselves: no script, no font and no server is needed to read them."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


def converted(node: nodes.Element, as_block: bool) -> str:
    """The formula; one that docutils does not understand is a warning, and so an error of `make docs`."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return node.astext()


def visit_math(self, node: nodes.math) -> None:
    self.body.append(converted(node, as_block=False))
    raise nodes.SkipNode


def visit_displaymath(self, node: nodes.math_block) -> None:
    number = get_node_equation_number(self, node) if node["number"] else ""
    self.body.append(self.starttag(node, "div", CLASS="formula", tabindex="0"))  # by keyboard, too, where it is wide
    self.body.append(converted(node, as_block=True))
    self.body.append(f"<span>({number})</span></div>" if number else "</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
