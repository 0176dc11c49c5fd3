"""Charts as Vega and Vega-Lite specifications: plain data, drawn elsewhere."""
