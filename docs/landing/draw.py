"""Draw the landing page's pictures again: the figures of four examples, trimmed and brought to one size.

python docs/landing/draw.py
"""

import io
import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from PIL import Image, ImageChops

HERE = Path(__file__).resolve().parent
SIZE = (480, 360)
MARGIN = 12
NARROW = "text"  # whose lines are broken sooner, to be read in a picture of this size
PICTURES = {  # name: the example, and which part of its figure (left, top, right, bottom, as shares)
    "photo": ("painting", (0, 0.24, 1, 0.8)),
    "text": ("sentences", (0, 0, 0.62, 1)),
    "molecule": ("deciding_atoms", (0, 0.1, 1, 1)),
    "digits": ("digits", (0, 0.17, 1, 0.83)),
}


def figure_of(name: str, example: str) -> Image.Image:
    """What a script of examples/ draws."""
    known = runpy.run_path(str(HERE.parents[1] / "examples" / f"{example}.py"), run_name="__main__")
    if name == NARROW:
        axes = plt.figure(figsize=(4.2, 3.2)).add_axes((0.02, 0.02, 0.96, 0.86))
        told = {"scores": known["scores"], "contributions": known["model"].explain(known["new"]), "label": "music"}
        known["plot_bag"](known["named"], **told, ax=axes)
    stream = io.BytesIO()
    plt.gcf().savefig(stream, dpi=160)
    plt.close("all")
    return Image.open(stream).convert("RGB")


def fitted(picture: Image.Image, part: tuple[float, float, float, float]) -> Image.Image:
    """A part of it, without its white border, on a white sheet of the common size."""
    width, height = picture.size
    picture = picture.crop((part[0] * width, part[1] * height, part[2] * width, part[3] * height))
    picture = picture.crop(ImageChops.invert(picture.convert("L")).point(lambda v: 255 * (v > 8)).getbbox())
    room = SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN
    scale = min(room[0] / picture.width, room[1] / picture.height)
    picture = picture.resize((round(picture.width * scale), round(picture.height * scale)), Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", SIZE, "white")
    sheet.paste(picture, ((SIZE[0] - picture.width) // 2, (SIZE[1] - picture.height) // 2))
    return sheet


for name, (example, part) in PICTURES.items():
    drawn = fitted(figure_of(name, example), part).quantize(128, dither=Image.Dither.NONE)
    drawn.save(HERE / f"{name}.png", optimize=True)
    print(f"{name}.png")
