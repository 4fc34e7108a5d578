"""Text without Photoshop: find the font, shape, break into lines, draw, and write the words back.

Holds the font book (exact PostScript names), bidirectional order, line layout with HarfBuzz's shapes, the
raster made from glyph outlines, and the reading and writing of a layer's text blocks. Must never put
another font in the place of a missing one, and never leave out a character that the font has not.
"""
