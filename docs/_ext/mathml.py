"""Formulas as MathML, which browsers show by themselves: no script, no font and no server is needed to read them."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.math import get_node_equation_number


def visit_math(self, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_displaymath(self, node: nodes.math_block) -> None:
    number = get_node_equation_number(self, node) if node["number"] else ""
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(tex2mathml(node.astext(), as_block=True))
    self.body.append(f"<span>({number})</span></div>" if number else "</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
