"""What the API takes and gives, as pydantic models: they make the OpenAPI document."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, Field

NodeLabel = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] | Annotated[str, Field(max_length=200)]
Attribute = Annotated[float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]  # its square is a number in float32
Item = TypeVar("Item")
Checked = Annotated[list[Item], Field(fail_fast=True)]  # of what clients send: one fault is enough to refuse it
Edge = Annotated[Checked[Annotated[int, Field(ge=0, le=2**31)]], Field(min_length=2, max_length=2)]


class Problem(BaseModel):
    """Why a request was not answered."""

    error: str = Field(description="A short code for programs.", examples=["too_many_pixels"])
    reason: str = Field(description="A sentence for people.")


class SampleInfo(BaseModel):
    """An input to try."""

    id: int
    title: str
    media_type: str
    truth: list[str] = Field(description="The label of each of its graphs; empty where that is not known.")


class ModelInfo(BaseModel):
    """A model that can be asked."""

    name: str
    title: str
    about: str
    route: str = Field(description="Where its input is sent to: image, text, graphs or file.")
    input: str = Field(description="What it reads, in words.")
    part: str = Field(description="What a graph of it is: a region, a sentence.")
    plain: bool = Field(description="Whether pictures are shown pixel by pixel.")
    kind: str = Field(description="What it reads: images, texts, digits (an image of a row of them) or graphs (JSON).")
    labels: list[str]
    kernel: str
    explains: bool = Field(description="Whether answers hold what each node contributes.")
    probabilities: bool
    regions: int | None = Field(description="Regions an image is cut into by default; null where that is not asked.")
    samples: list[SampleInfo]


class Catalogue(BaseModel):
    """All models, and the limits of what may be sent."""

    version: str
    limits: dict[str, float]
    models: list[ModelInfo]


class LabelAnswer(BaseModel):
    """A label of the whole input."""

    name: str
    score: float = Field(description="The best score of a graph: `decision_function` in Python.")
    margin: float = Field(description="Score less the label's threshold; above 0 the label is predicted.")
    predicted: bool
    decided_by: int = Field(description="The graph with the best score.")
    probability: float | None


class GraphAnswer(BaseModel):
    """A graph: a region, a digit, a sentence."""

    name: str
    nodes: Annotated[list[int], Field(min_length=2, max_length=2, description="First node, and the one after its last")]
    scores: list[float] = Field(description="One a label, in the order of label_names: `decision_function_graphs`.")
    at: list[float] | None = Field(None, description="A point inside the region, x and y in picture pixels.")
    share: float | None = Field(None, description="Of the picture's area.")


class Explanation(BaseModel):
    """What each node adds to its graph's scores: `explain`, for the best labels."""

    labels: list[str]
    intercepts: list[float]
    contributions: list[list[float]] = Field(
        description="A row a label, a number a node; with the intercept, the sum over a graph's nodes is its score "
        "(less what its bag's other graphs add, for a model with context)."
    )


class Picture(BaseModel):
    """Where nodes and regions lie: value, length, value, length, ... row after row; -1 is none."""

    width: int
    height: int
    original_width: int
    original_height: int
    nodes: list[int]
    regions: list[int]


class Painting(BaseModel):
    """The label of each node of a picture, among those predicted: `paint`."""

    nodes: list[int] = Field(description="A place in label_names a node; -1 is none.")
    colours: list[str] = Field(description="One a label, such as #e69f00: those of painted masks.")


class MarkedText(BaseModel):
    """A sentence and where its keywords stand, or a graph's nodes as words: start, stop (in code points) and node."""

    graph: int
    text: str
    marks: list[list[int]]


class Network(BaseModel):
    """A graph that can be drawn."""

    graph: int
    places: list[list[float]] = Field(description="Of each node, x and y from -1 to 1, the second upwards.")
    edges: list[list[int]] = Field(description="Pairs of nodes, counted within the graph.")


class FamiliarityAnswer(BaseModel):
    """How like the input is to what the model learned from, as far as it can say."""

    unlike: list[int] = Field(
        description="Graphs that are further from every training graph than 99 in 100 of these are from one another."
    )
    unknown: list[int] = Field(description="Nodes with a label that no training graph had.")
    warning: str | None = Field(description="A sentence for people, where scores say little.")


PredictionRow = dict[str, str | float | list[str]]  # of a table, by column


class Answer(BaseModel):
    """Labels of the input, of each of its graphs, and what its nodes contribute."""

    kind: str
    threshold: float = Field(description="0: a score above it always means yes.")
    thresholds: list[float] = Field(
        description="0, or the lower score above which a label is predicted; one a label, in the order of label_names."
    )
    label_names: list[str]
    labels: list[LabelAnswer] = Field(description="Best first.")
    graphs: list[GraphAnswer]
    explanation: Explanation | None
    familiarity: FamiliarityAnswer
    picture: Picture | None = None
    painting: Painting | None = Field(None, description="Of pictures, where answers have an explanation.")
    texts: list[MarkedText] | None = None
    networks: list[Network] | None = Field(None, description="Of somebody's own graphs, those that are not too large.")
    drawing: str | None = Field(
        None, description="An SVG, of a kind of input that is neither; it is about the best label, or that of `drawn`."
    )


class GraphInput(BaseModel, extra="forbid", strict=True):
    """A graph: an entry a node in node_labels, in node_attributes, or in both, as in training; nodes count from 0."""

    name: str | None = Field(None, max_length=200)
    node_labels: Checked[NodeLabel] | None = Field(None, description="Numbers, or strings.", examples=[["C", "C", "N"]])
    node_attributes: Checked[Checked[Attribute]] | None = Field(
        None, description="As many numbers a node as in training."
    )
    edges: Checked[Edge] = Field(
        default=[], description="Pairs of nodes; their direction does not count, unless the model says so."
    )
    edge_labels: Checked[NodeLabel] | None = Field(None, description="An entry an edge: numbers, or strings.")


class GraphsInput(BaseModel, extra="forbid", strict=True):
    """A bag: its graphs."""

    graphs: Checked[GraphInput] = Field(min_length=1)


class CorrectedInput(BaseModel, extra="forbid", strict=True):
    """An input and the labels that it has."""

    name: str = Field(min_length=1, max_length=200, description="What its bag is called.")
    labels: Checked[str]
    content: str = Field(description="A text, graphs as JSON in a string, or an image's or a file's bytes as base64.")
    regions: Annotated[int, Field(ge=1)] | None = Field(None, description="Of an image: as it was asked about.")


class CorrectedInputs(BaseModel, extra="forbid", strict=True):
    """Inputs to learn from."""

    inputs: Checked[CorrectedInput] = Field(min_length=1, max_length=500)


class Health(BaseModel):
    """Whether there are workers to answer."""

    status: str
    workers: int


class TextInput(BaseModel, extra="forbid", strict=True):
    """A text, which is cut into sentences; or texts that are cut already."""

    text: str | None = Field(None, description="A text.", examples=["Tumour cells grow. They evade the immune system."])
    texts: Checked[str] | None = Field(None, description="Instead of text: its sentences, or other parts.")
