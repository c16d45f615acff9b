"""Files as bags by a kind's builder, for tests: options are told apart by name, as the command line does it."""

from dataclasses import fields

from cfmgml.data.builder import FileInput, find_kind


def parts_of(kind, options):
    """A builder with its parameters, options of reading files, and the rest (labels, label_names)."""
    cls = find_kind(kind)
    named = {field.name for field in fields(cls)}, {field.name for field in fields(cls.file_options)}
    parameters, reading = ({name: options[name] for name in options if name in group} for group in named)
    if reading.get("on_error") == "raise":
        reading["on_error"] = "stop"
    rest = {name: value for name, value in options.items() if name not in named[0] | named[1]}
    return cls(**parameters), {"options": cls.file_options(**reading), **rest}


def bags_of(kind, sources, **options):
    builder, given = parts_of(kind, options)
    return builder.from_files(FileInput(sources, **given))


def image_bags(sources, **options):
    return bags_of("images", sources, **options)


def text_bags(sources, **options):
    return bags_of("texts", sources, **options)


def molecule_bags(sources, **options):
    return bags_of("molecules", sources, **options)


def graph_bags(sources, **options):
    return bags_of("graphs", sources, **options)


def input_stream(kind, sources, pattern=None, **options):
    builder, given = parts_of(kind, options)
    if pattern is not None:
        return pattern.builder.stream(FileInput(sources, label_names=pattern.label_names, **given))
    return builder.stream(FileInput(sources, **given))
