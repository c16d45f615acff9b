"""More graphs than one machine holds: training and prediction over a store, partition by partition."""

from cfmgml.scale.prediction import predict_store
from cfmgml.scale.streams import partial_fit
from cfmgml.scale.tiles import gram_to_zarr
from cfmgml.scale.training import fit_store

__all__ = ["fit_store", "gram_to_zarr", "partial_fit", "predict_store"]
