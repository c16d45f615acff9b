"""A molecule that was sent: its fragments, and the drawing of it."""

from typing import TYPE_CHECKING

from cfmgml.builders.molecules.parsing import MoleculeError
from cfmgml.data.questions import InputLimits, Refused, Reply, nodes_as_words

if TYPE_CHECKING:
    from cfmgml.builders.molecules.builder import MoleculeBuilder


def answer_molecule(content: str | list[str], builder: "MoleculeBuilder", limits: InputLimits) -> Reply:
    """The fragments of a molecule, or the molecules of a mixture, each with the names of its atoms."""
    parts = [content] if isinstance(content, str) else content
    if sum(map(len, parts)) > limits.characters:
        raise Refused(413, "text_too_long", f"The input has more than {limits.characters:,} characters.")
    if len(parts) > limits.texts:
        raise Refused(
            413, "too_many_graphs", f"The mixture has {len(parts):,} molecules; {limits.texts:,} are the most."
        )
    if not any(part.strip() for part in parts):
        raise Refused(422, "no_text", "There is no SMILES.")
    smiles: str | list[str] = content.strip() if isinstance(content, str) else [part.strip() for part in content]
    try:
        bag = builder.rebuild([smiles], on_error="raise")
    except MoleculeError as error:
        raise Refused(422, "unusable_molecule", f"The molecule {str(error).split(' (row 1) ', 1)[-1]}") from error
    noun = "molecule" if isinstance(content, list) or not builder.cuts else builder.part
    entries = [{"name": f"{noun} {number + 1}"} for number in range(bag.n_graphs)]
    return Reply(bag, entries, {"texts": nodes_as_words(bag)}, drawn=True)
